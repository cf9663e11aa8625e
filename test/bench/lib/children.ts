import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { atExit } from '../../helpers/this-process.js';

/** A process that the bench has started, in a process group of its own so that nothing it started outlives it. */
export interface Child {
  readonly pid: number;
  /** Set when the process has ended: its exit code or signal. */
  ended: string | undefined;
  stop(): Promise<void>;
}

interface ChildOptions {
  command: string;
  args: readonly string[];
  /** `startChild` resolves when 127.0.0.1 accepts connections on it. */
  port?: number;
  env?: Record<string, string>;
  /** File for stdout and stderr; thrown away without. */
  log?: string;
  /** File for stderr alone, where stdout is thrown away. */
  errorLog?: string;
  /** Milliseconds until `port` must be open. */
  timeout?: number;
}

const START_TIMEOUT_MS = 20_000;
/** SIGKILL follows SIGTERM after this. */
const STOP_GRACE_MS = 5_000;

const running = new Set<ChildProcess>();

function kill(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group is gone already.
  }
}

atExit(() => {
  for (const child of running) kill(child, 'SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));

/** True when something on 127.0.0.1 accepts connections on `port`. */
function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** A port that was free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        if (address && typeof address === 'object') resolve(address.port);
        else reject(new Error('the system gave no port'));
      });
    });
  });
}

function tailOf(file: string | undefined): string {
  if (file === undefined) return '';
  return `\n${readFileSync(file, 'utf8').slice(-2000)}`;
}

/** Starts a process and waits for its port. @throws Error with the end of its log when it dies or stays silent. */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { command, args, port, log, errorLog } = options;
  const title = `${command} ${args.join(' ')}`;
  const file = log ?? errorLog;
  const fd = file === undefined ? undefined : openSync(file, 'a');
  const child = spawn(command, args, {
    detached: true,
    stdio: ['ignore', log === undefined ? 'ignore' : fd, fd ?? 'ignore'],
    env: { ...process.env, ...options.env },
  });
  if (fd !== undefined) closeSync(fd);
  running.add(child);
  const self: Child = { pid: child.pid ?? 0, ended: undefined, stop };
  const gone = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      self.ended = error.message;
      resolve();
    });
    child.once('exit', (code, signal) => {
      running.delete(child);
      self.ended = signal ?? `exit ${code}`;
      resolve();
    });
  });
  async function stop(): Promise<void> {
    kill(child, 'SIGTERM');
    const timer = setTimeout(() => kill(child, 'SIGKILL'), STOP_GRACE_MS);
    await gone;
    clearTimeout(timer);
    // What the process leaves behind in its group, a stdio server for one.
    kill(child, 'SIGKILL');
  }
  const deadline = Date.now() + (options.timeout ?? START_TIMEOUT_MS);
  while (port !== undefined && !(await isOpen(port))) {
    if (self.ended !== undefined) throw new Error(`${title}: ${self.ended} before port ${port} opened${tailOf(file)}`);
    if (Date.now() > deadline) {
      await stop();
      throw new Error(`${title}: port ${port} did not open${tailOf(file)}`);
    }
    await sleep(25);
  }
  return self;
}
