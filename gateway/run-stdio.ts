import { fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { giveBackWhenQuiet } from './budget/memory/quiet-memory.js';
import { freeWhatWasRead } from './budget/memory/read-memory.js';
import type { StdioAction } from './commands/stdio-command.js';
import type { AdapterList } from './config/adapter-list.js';
import type { Config } from './config/config.js';
import { loadConfig } from './config/load.js';
import { serversNamed, writtenNames } from './config/server-name.js';
import { makePrivateFolder } from './files/encode/temp-files.js';
import { createLog, takePrinted, takeUncaught } from './log.js';
import { printError } from './print.js';
import { goOnAfterHangUp } from './reload/hang-up.js';
import { logWarnings, problemsText, startFailureText } from './report.js';
import { start } from './start.js';

const STDOUT = 1;

/** Hosts end a server by SIGTERM and, two seconds later, by SIGKILL; its child processes must be gone before that. */
const LAST_MS = 1500;

/** Resolves with the exit code of a failed start; after a successful one the process exits by itself. */
export async function runStdio({ load, server }: StdioAction, adapters: AdapterList): Promise<number> {
  // its state is in memory, so its files are useless to other processes
  const how = { isPrivate: true, privateFolder: makePrivateFolder, preflight: 'warn' } as const;
  const loaded = await loadConfig({ ...load, ...how }, adapters);
  if (!loaded.ok) {
    printError(problemsText(loaded.problems));
    return 1;
  }
  const chosen = choose(loaded.config, server);
  if (typeof chosen === 'string') {
    printError(chosen);
    return 1;
  }
  if (adapters.audit[chosen.audit.use]?.takesStdout) {
    printError(`audit.use: standard output holds the messages of "wharf stdio"; use a file.\n`);
    return 1;
  }
  const log = createLog(chosen.logLevel);
  takePrinted(log);
  takeUncaught(log);
  goOnAfterHangUp(log);
  giveBackWhenQuiet();
  freeWhatWasRead();
  try {
    const output = standardOutput();
    const gateway = await start(chosen, adapters, log, { stdio: { input: process.stdin, output } });
    const { stdio } = gateway;
    logWarnings(chosen, adapters, log);
    // a client that has closed its output gets no more answers, even if it still sends
    output.once('close', () => stdio?.stop());
    const onSignal = (): void => {
      setTimeout(() => process.exit(0), LAST_MS);
      stdio?.stop();
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
    log.info({ links: gateway.urls[0]?.mcp.replace(/mcp$/, '') }, 'Wharf is up on standard input and output.');
    const end = await stdio?.run();
    if (end === 'session lost') log.error({}, 'The server has ended the session.');
    await gateway.drain();
    process.exit(end === 'session lost' ? 1 : 0);
  } catch (error) {
    printError(startFailureText(error));
    process.exit(1);
  }
}

/** The config with the one server to use, or an error text for people. */
function choose(config: Config, name: string | undefined): Config | string {
  const { servers } = config;
  const names = writtenNames(servers);
  const found = name === undefined ? servers : serversNamed(servers, name);
  if (found.length === 0) return `The config has no server called "${name}". It has: ${names}\n`;
  if (found.length > 1) return `The config has several servers. Say which: wharf stdio --config FILE NAME (${names})\n`;
  return { ...config, servers: found, links: linksOf(config) };
}

/** The port of links is another one at the next start, and state in memory is lost. */
function linksOf({ links, listen, state }: Config): Config['links'] {
  return listen.port === 0 || state.use === 'memory' ? { ...links, endWithProcess: true } : links;
}

/** Node writes to a pipe synchronously: a host that reads slowly would stop every download. */
function standardOutput(): Writable {
  const kind = fstatSync(STDOUT);
  if (!kind.isFIFO() && !kind.isSocket()) return process.stdout;
  return new Socket({ fd: STDOUT, readable: false, writable: true });
}
