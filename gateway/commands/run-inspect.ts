import type { AdapterList } from '../config/adapter-list.js';
import { loadConfig } from '../config/load.js';
import { serversNamed, writtenNames } from '../config/server-name.js';
import { inspect } from '../inspect/inspect.js';
import { print, printError } from '../print.js';
import { problemsText, warningsText } from '../report.js';
import { contactDeps, interruptSignal } from './contact.js';
import type { InspectAction } from './inspect-command.js';

/** Runs `wharf inspect`. @returns the exit code */
export async function runInspect({ load, server: only }: InspectAction, adapters: AdapterList): Promise<number> {
  const loaded = await loadConfig(load, adapters);
  if (!loaded.ok) {
    printError(problemsText(loaded.problems));
    return 1;
  }
  const { config } = loaded;
  printError(warningsText(config, adapters));
  const servers = only === undefined ? config.servers : serversNamed(config.servers, only);
  if (servers.length === 0) {
    const names = writtenNames(config.servers);
    printError(`There is no server called ${JSON.stringify(only)}; the config has: ${names}\n`);
    return 1;
  }
  const { report, hasFailed } = await inspect({
    servers,
    isWhole: load.file === undefined,
    adapters,
    deps: contactDeps(config),
    progress: printError,
    signal: interruptSignal(),
  });
  print(report);
  return hasFailed ? 1 : 0;
}
