#!/usr/bin/env node
import { existsSync, readFileSync, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { adapters } from '../adapters/index.js';
import { growFreely } from './budget/heap-growth.js';
import { UNSHARED } from './budget/ledger.js';
import { giveBackWhenQuiet } from './budget/quiet-memory.js';
import { freeWhatWasRead } from './budget/read-memory.js';
import { allocateYoung } from './budget/young-memory.js';
import { parseCommandLine } from './cli.js';
import type { AuditVerifyAction } from './commands/audit-command.js';
import type { DoctorAction } from './commands/doctor-command.js';
import type { AdapterDeps } from './config/adapter-list.js';
import type { Config } from './config/config.js';
import { type LoadResult, loadConfig } from './config/load.js';
import { configMarkdown } from './config/reference/markdown.js';
import { configJsonSchema } from './config/reference/reference.js';
import { formatAddress } from './config/schema/fields.js';
import { serversNamed, writtenNames } from './config/server-name.js';
import type { FilesAction } from './control/files-command.js';
import { fitting } from './descriptors.js';
import { createLog, takePrinted } from './log.js';
import { print, printError } from './print.js';
import { goOnAfterHangUp } from './reload/hang-up.js';
import { logWarnings, problemsText, startedText, startFailureText, summaryText, warningsText } from './report.js';

const { version } = JSON.parse(readFileSync(packageFile(import.meta.dirname), 'utf8')) as { version: string };

allocateYoung();
growFreely();
process.exitCode = await main(process.argv.slice(2));

/** The nearest one above: how far, is different for the module and the bundle. */
function packageFile(folder: string): string {
  const file = join(folder, 'package.json');
  return existsSync(file) ? file : packageFile(dirname(folder));
}

/** Resolves with the exit code; a running gateway exits from its signal handlers instead. */
async function main(argv: string[]): Promise<number> {
  const action = parseCommandLine(argv, version);
  // not even an empty write: `wharf stdio` opens standard output in its own way
  if (action.out !== '') print(action.out);
  printError(action.err);
  switch (action.kind) {
    case 'done':
      return action.exitCode;
    case 'schema': {
      const schema = configJsonSchema(adapters);
      print(action.format === 'json' ? `${JSON.stringify(schema, null, 2)}\n` : configMarkdown(schema));
      return 0;
    }
    case 'probe':
      return probe(action.port);
    case 'explain':
    case 'explain-client':
    case 'explain-access': {
      const { runExplain } = await import('./commands/run-explain.js');
      return runExplain(action, adapters);
    }
    case 'doctor':
      return runDoctor(action);
    case 'files':
      return manageFiles(action);
    case 'audit-verify':
      return verifyAudit(action);
    case 'check': {
      const loaded = await loadConfig({ file: action.file, preflight: 'refuse' }, adapters);
      print(loaded.ok ? summaryText(loaded.config, adapters) : problemsText(loaded.problems));
      return loaded.ok ? 0 : 1;
    }
    case 'inspect': {
      const loaded = await loadConfig(action.load, adapters);
      if (loaded.ok) return inspectServers(loaded.config, action.load.file === undefined, action.server);
      printError(problemsText(loaded.problems));
      return 1;
    }
    case 'stdio': {
      const { runStdio } = await import('./run-stdio.js');
      return runStdio(action, adapters);
    }
    case 'run': {
      const { makePrivateFolder } = await import('./files/temp-files.js');
      const folders = new Map<string | undefined, string>();
      // a reload finds the folder that the start has made
      const privateFolder = (root?: string): string => {
        const folder = folders.get(root) ?? makePrivateFolder(root);
        folders.set(root, folder);
        return folder;
      };
      const load = () => loadConfig({ ...action.load, privateFolder, preflight: 'warn' }, adapters);
      const { file } = action.load;
      const seen = file === undefined ? undefined : await stat(file).catch(() => undefined);
      const loaded = await load();
      if (loaded.ok) return run(loaded.config, { file, seen, isServed: loaded.isServed, load });
      printError(problemsText(loaded.problems));
      return 1;
    }
  }
}

/** Over HTTP it runs until a signal ends it. */
async function probe(port: number | undefined): Promise<number> {
  const { probeHttp, probeStdio } = await import('./probe/run.js');
  const reported = (row: string) => printError(`${row}\n`);
  try {
    if (port === undefined) await probeStdio(reported);
    else print(probeText(await probeHttp(port, reported)));
    return 0;
  } catch (error) {
    printError(startFailureText(error, '--http'));
    return 1;
  }
}

function probeText(url: string): string {
  return `Give this URL to the host: ${url}
Then ask its model: Call every tool of this server whose name begins with probe_, and then probe_report.
The host's row is printed here. Ctrl-C ends.
`;
}

async function runDoctor({ load, isJson, isOffline, only }: DoctorAction): Promise<number> {
  const { doctor, GROUPS } = await import('./doctor/doctor.js');
  const { checkToken } = await import('./control/check-token.js');
  const { doctorJson, doctorText, unread } = await import('./doctor/report.js');
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
  return found.some(({ state }) => state === 'failed') ? 1 : 0;
}

/** What a part needs that is contacted without a gateway. */
function contactDeps({ limits, timeouts, inheritedEnv, withheldEnv }: Config): AdapterDeps {
  const clock = { now: () => Date.now(), ticks: () => performance.now() };
  return { limits, timeouts, sharing: UNSHARED, inheritedEnv, withheldEnv, clock, log: createLog('error') };
}

/** A second signal ends the process at once, as without a handler. */
function interruptSignal(): AbortSignal {
  const interrupt = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => interrupt.abort(new Error('interrupted')));
  return interrupt.signal;
}

async function manageFiles({ from, ...asked }: FilesAction): Promise<number> {
  const { runFiles, whyUnreachable } = await import('./control/run-files.js');
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
    printError(`The admin port at ${base} cannot be reached: ${whyUnreachable(error)}\n`);
    return 1;
  }
}

async function verifyAudit({ files, file, points }: AuditVerifyAction): Promise<number> {
  const { filesOf, verifyCommand } = await import('./audit/verify-command.js');
  try {
    const { text, isWhole } = await verifyCommand(file === undefined ? files : await filesIn(file), points);
    print(text);
    return isWhole ? 0 : 1;
  } catch (error) {
    printError(`The audit log cannot be read: ${error instanceof Error ? error.message : error}\n`);
    return 2;
  }

  async function filesIn(config: string): Promise<string[]> {
    const loaded = await loadConfig({ file: config }, adapters);
    if (!loaded.ok) throw new Error(`the config has problems\n${problemsText(loaded.problems)}`);
    const { path } = loaded.config.audit.settings;
    if (typeof path !== 'string') throw new Error(`audit.use is ${loaded.config.audit.use}, which has no file`);
    return filesOf(path);
  }
}

async function inspectServers(config: Config, isWhole: boolean, only: string | undefined): Promise<number> {
  printError(warningsText(config, adapters));
  const servers = only === undefined ? config.servers : serversNamed(config.servers, only);
  if (servers.length === 0) {
    const names = writtenNames(config.servers);
    printError(`There is no server called ${JSON.stringify(only)}; the config has: ${names}\n`);
    return 1;
  }
  const { inspect } = await import('./inspect/inspect.js');
  const { report, hasFailed } = await inspect({
    servers,
    isWhole,
    adapters,
    deps: contactDeps(config),
    progress: printError,
    signal: interruptSignal(),
  });
  print(report);
  return hasFailed ? 1 : 0;
}

/** @param source where the config comes from; without a file there is nothing to reload */
async function run(
  config: Config,
  source: {
    file: string | undefined;
    seen: Stats | undefined;
    isServed: boolean | undefined;
    load: () => Promise<LoadResult>;
  },
): Promise<number> {
  const log = createLog(config.logLevel);
  takePrinted(log);
  giveBackWhenQuiet();
  freeWhatWasRead();
  const { file, seen, isServed, load } = source;
  if (file === undefined) goOnAfterHangUp(log);
  try {
    // Loaded only here, because `wharf check` and `wharf schema` do not need it.
    const { start } = await import('./start.js');
    const started = await start(config, adapters, log, { version });
    // for what reads the log of a service, and not the text for people
    if (file !== undefined) log.info({ version, file, servers: started.urls.length }, 'Wharf is up.');
    logWarnings(config, adapters, log);
    // Before the text is printed, because its reader may send a signal at once.
    drainOnSignal(started.drain);
    if (file !== undefined) {
      const { watchForReloads } = await import('./reload/watch.js');
      const { reload, noteRefusedConfig: refused } = started;
      watchForReloads({ file, seen, isServed, load, reload, refused, log });
    }
    const { takesStdout } = adapters.audit[config.audit.use] ?? {};
    (takesStdout ? printError : print)(startedText(version, started, config, adapters));
    return 0;
  } catch (error) {
    printError(startFailureText(error));
    // Parts that did start would keep the process alive.
    process.exit(1);
  }

  function drainOnSignal(drain: () => Promise<void>): void {
    let draining = false;
    const onSignal = (signal: NodeJS.Signals): void => {
      // A second Ctrl-C, or a supervisor that no longer waits.
      if (draining) process.exit(1);
      draining = true;
      log.info({ signal }, 'Draining: running exchanges finish, new ones are refused.');
      drain().then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ error }, 'Draining failed.');
          process.exit(1);
        },
      );
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  }
}
