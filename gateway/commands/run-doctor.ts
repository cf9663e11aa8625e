import type { AdapterList } from '../config/adapter-list.js';
import { loadConfig } from '../config/load.js';
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
  const loaded = await loadConfig({ ...load, preflight: 'refuse' }, adapters);
  if (!loaded.ok) {
    if (isJson) print(doctorJson(unread(loaded.problems)));
    else printError(problemsText(loaded.problems));
    return 1;
  }
  const { config } = loaded;
  const found = await doctor({
    config,
    adapters,
    deps: contactDeps(config),
    fits: fitting(config),
    only,
    isOffline,
    proof: () => checkToken(config.secrets),
    signal: interruptSignal(),
  });
  print(isJson ? doctorJson(found) : doctorText(found));
  // what a library still waits for, such as an endpoint of credentials that never answers, would keep the process
  setTimeout(() => process.exit(), LINGER_MS).unref();
  return found.some(({ state }) => state === 'failed') ? 1 : 0;
}
