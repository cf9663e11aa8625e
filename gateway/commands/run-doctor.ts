import type { AdapterList } from '../config/adapter-list.js';
import type { Config } from '../config/config.js';
import { type LoadOptions, loadConfig } from '../config/load.js';
import type { ConfigProblem } from '../config/problems.js';
import { checkToken } from '../control/check-token.js';
import { fitting } from '../descriptors.js';
import { doctor, GROUPS } from '../doctor/doctor.js';
import { doctorJson, doctorText, unread } from '../doctor/report.js';
import { print, printError } from '../print.js';
import { problemsText } from '../report.js';
import { contactDeps, interruptSignal } from './contact.js';
import type { DoctorAction } from './doctor-command.js';

/** How long the process may take to end by itself once all is said. */
const LINGER_MS = 2000;

/** Runs `wharf doctor`. @returns the exit code */
export async function runDoctor(
  { load, isJson, isOffline, only }: DoctorAction,
  adapters: AdapterList,
): Promise<number> {
  const wrong = only.find((group) => !GROUPS.includes(group));
  if (wrong !== undefined) {
    printError(`--only ${wrong} is not a group of checks; there are: ${GROUPS.join(', ')}\n`);
    return 2;
  }
  const asks = (group: string) => only.length === 0 || only.includes(group);
  const { problems, config } = await read(load, adapters);
  if (config === undefined) {
    if (isJson) print(doctorJson(unread(problems)));
    else printError(problemsText(problems));
    return 1;
  }
  const parts = await doctor({
    config,
    adapters,
    deps: contactDeps(config),
    fits: fitting(config),
    only,
    isOffline,
    proof: () => checkToken(config.secrets),
    signal: interruptSignal(),
  });
  const found = [...(asks('config') ? unread(problems) : []), ...parts];
  print(isJson ? doctorJson(found) : doctorText(found));
  // what a library still waits for, such as an endpoint of credentials that never answers, would keep the process
  setTimeout(() => process.exit(), LINGER_MS).unref();
  return found.some(({ state }) => state === 'failed') ? 1 : 0;
}

/**
 * What a config lacks on this machine, such as the command of one server, keeps the doctor from no other part. Of a command line
 * there is nothing else to try.
 */
async function read(
  load: LoadOptions,
  adapters: AdapterList,
): Promise<{ problems: readonly ConfigProblem[]; config?: Config }> {
  const strict = await loadConfig({ ...load, preflight: 'refuse' }, adapters);
  if (strict.ok) return { problems: [], config: strict.config };
  const { problems } = strict;
  const lenient = load.file === undefined ? strict : await loadConfig(load, adapters);
  return lenient.ok ? { problems, config: lenient.config } : { problems };
}
