import { filesOf, verifyCommand } from '../audit/verify-command.js';
import type { AdapterList } from '../config/adapter-list.js';
import { loadConfig } from '../config/load.js';
import { print, printError } from '../print.js';
import { problemsText } from '../report.js';
import type { AuditVerifyAction } from './audit-command.js';

/** Runs `wharf audit verify`. @returns the exit code */
export async function runAuditVerify(
  { files, file, points }: AuditVerifyAction,
  adapters: AdapterList,
): Promise<number> {
  try {
    const { text, isWhole } = await verifyCommand(file === undefined ? files : await filesIn(file, adapters), points);
    print(text);
    return isWhole ? 0 : 1;
  } catch (error) {
    printError(`The audit log cannot be read: ${error instanceof Error ? error.message : error}\n`);
    return 2;
  }
}

/** The audit log of a config. */
async function filesIn(config: string, adapters: AdapterList): Promise<string[]> {
  const loaded = await loadConfig({ file: config }, adapters);
  if (!loaded.ok) throw new Error(`the config has problems\n${problemsText(loaded.problems)}`);
  const { path } = loaded.config.audit.settings;
  if (typeof path !== 'string') throw new Error(`audit.use is ${loaded.config.audit.use}, which has no file`);
  return filesOf(path);
}
