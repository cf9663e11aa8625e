import type { AdapterList } from '../config/adapter-list.js';
import { loadConfig } from '../config/load.js';
import { formatAddress } from '../config/schema/fields.js';
import type { FilesAction } from '../control/files-command.js';
import { runFiles, whyUnreachable } from '../control/run-files.js';
import { print, printError } from '../print.js';
import { problemsText } from '../report.js';

/** Runs `wharf files`. @returns the exit code */
export async function runFilesCommand({ from, ...asked }: FilesAction, adapters: AdapterList): Promise<number> {
  let base = 'admin' in from ? from.admin : '';
  if ('file' in from) {
    const loaded = await loadConfig({ file: from.file }, adapters);
    const { adminListen } = loaded.ok ? loaded.config : {};
    if (!adminListen) {
      printError(loaded.ok ? 'The gateway has no admin port: set adminListen.\n' : problemsText(loaded.problems));
      return 1;
    }
    const host = ['0.0.0.0', '::'].includes(adminListen.host) ? '127.0.0.1' : adminListen.host;
    base = `http://${formatAddress({ ...adminListen, host })}`;
  }
  try {
    const { text, isDone } = await runFiles(asked, base);
    (isDone ? print : printError)(text);
    return isDone ? 0 : 1;
  } catch (error) {
    printError(
      `The admin port at ${base} cannot be reached: ${whyUnreachable(error)}. Is the gateway running, and is this its adminListen?\n`,
    );
    return 1;
  }
}
