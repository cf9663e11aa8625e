#!/usr/bin/env node
import { existsSync, readFileSync, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { adapters } from '../adapters/index.js';
import { growFreely } from './budget/memory/heap-growth.js';
import { giveBackWhenQuiet } from './budget/memory/quiet-memory.js';
import { freeWhatWasRead } from './budget/memory/read-memory.js';
import { allocateYoung } from './budget/memory/young-memory.js';
import { parseCommandLine } from './cli.js';
import type { Config } from './config/config.js';
import { type LoadResult, loadConfig } from './config/load.js';
import { configMarkdown } from './config/reference/markdown.js';
import { configJsonSchema } from './config/reference/reference.js';
import { createLog, takePrinted, takeUncaught } from './log.js';
import { print, printError } from './print.js';
import { goOnAfterHangUp } from './reload/hang-up.js';
import { logWarnings, portOption, problemsText, startedText, startFailureText, summaryText } from './report.js';

const { version } = JSON.parse(readFileSync(packageFile(import.meta.dirname), 'utf8')) as { version: string };

allocateYoung();
growFreely();
process.exitCode = await main(process.argv.slice(2));

/** The nearest package.json above a folder. The bundle is in another folder than the module, so the distance differs. */
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
    case 'probe': {
      const { runProbe } = await import('./commands/run-probe.js');
      return runProbe(action);
    }
    case 'explain':
    case 'explain-client':
    case 'explain-access': {
      const { runExplain } = await import('./commands/run-explain.js');
      return runExplain(action, adapters);
    }
    case 'doctor': {
      const { runDoctor } = await import('./commands/run-doctor.js');
      return runDoctor(action, adapters);
    }
    case 'files': {
      const { runFilesCommand } = await import('./commands/run-files.js');
      return runFilesCommand(action, adapters);
    }
    case 'audit-verify': {
      const { runAuditVerify } = await import('./commands/run-audit-verify.js');
      return runAuditVerify(action, adapters);
    }
    case 'check': {
      const loaded = await loadConfig({ file: action.file, preflight: 'refuse' }, adapters);
      print(loaded.ok ? summaryText(loaded.config, adapters) : problemsText(loaded.problems));
      return loaded.ok ? 0 : 1;
    }
    case 'inspect': {
      const { runInspect } = await import('./commands/run-inspect.js');
      return runInspect(action, adapters);
    }
    case 'stdio': {
      const { runStdio } = await import('./run-stdio.js');
      return runStdio(action, adapters);
    }
    case 'run': {
      const { makePrivateFolder } = await import('./files/encode/temp-files.js');
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
  takeUncaught(log);
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
      const { noteRefusedConfig: refused } = started;
      let present = config;
      const reload = async (next: Config) => {
        const result = await started.reload(next);
        // before the log says so: a line about it at the level that it brings is seen
        if (result.kind === 'done') {
          log.setLevel(next.logLevel);
          logWarnings(next, adapters, log, present);
          present = next;
        }
        return result;
      };
      watchForReloads({ file, seen, isServed, load, reload, refused, log });
    }
    const { takesStdout } = adapters.audit[config.audit.use] ?? {};
    (takesStdout ? printError : print)(startedText(version, started, config, adapters));
    return 0;
  } catch (error) {
    printError(startFailureText(error, portOption(error, config)));
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
