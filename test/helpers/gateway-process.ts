import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from './gateway-process-ports.js';
import { atExit } from './this-process.js';

/** Compiled, this file is dist/test/helpers/gateway-process.js. */
const MAIN = fileURLToPath(new URL('../../gateway/main.js', import.meta.url));

/** Milliseconds a start may take: many processes share the machine while tests run. */
const START_MS = 90_000;

/** Milliseconds a drain may take before the process is killed. */
const STOP_MS = 30_000;

/** Tries to start when another process takes a port between the look and the start. */
const ATTEMPTS = 3;

interface GatewayOptions {
  /** What wharf.yaml says; `listen`, `adminListen` and, where missing, `publicUrl` are added. */
  config?: Record<string, unknown>;
  /** Instead of a config: the command line, such as `['--upstream', url]` or `['--', 'node', 'server.js']`. */
  args?: string[];
  /** Working directory; a folder of its own by default. */
  cwd?: string;
  /** Its `ulimit -n`; Node takes all that it may have. */
  openFiles?: number;
  /** Added to the test's own environment. */
  env?: Record<string, string>;
}

export interface Gateway {
  /** `http://127.0.0.1:<port>`, without a slash at the end. */
  url: string;
  adminUrl: string;
  pid: number;
  /** The MCP endpoint of one server; of the only one without a name. */
  mcp(server?: string): string;
  /** Everything the process has written to stdout and stderr so far. */
  logs(): string;
  /** Sends SIGTERM and resolves with the exit code; kills it if it does not drain in time. */
  stop(): Promise<number | null>;
}

/**
 * Starts `wharf` as users do, as a process of its own, in an empty folder that goes away with it.
 * Rejects with what the process wrote when it ends before it is ready.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  for (let attempt = 1; ; attempt++) {
    const folder = await mkdtemp(join(tmpdir(), 'wharf-gateway-'));
    try {
      return await startIn(folder, options);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      if (attempt === ATTEMPTS || !String(error).includes('already in use')) throw error;
    }
  }
}

async function startIn(
  folder: string,
  { config, args, env, openFiles, cwd = folder }: GatewayOptions,
): Promise<Gateway> {
  const [port, adminPort] = (await freePorts(2)) as [number, number];
  const url = `http://127.0.0.1:${port}`;
  const listen = ['--listen', `127.0.0.1:${port}`, '--admin-listen', `127.0.0.1:${adminPort}`];
  const own = [...listen];
  if (config !== undefined) {
    const file = join(folder, 'wharf.yaml');
    // JSON is YAML.
    await writeFile(file, JSON.stringify({ publicUrl: url, ...config }));
    own.push('--config', file);
  }
  const command = [process.execPath, MAIN, ...own, ...(args ?? [])];
  if (openFiles !== undefined) command.unshift('prlimit', `--nofile=${openFiles}`);
  const [program = '', ...rest] = command;
  const child = spawn(program, rest, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const collect = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  // Nothing a failing test does may leave a gateway behind.
  child.once(
    'exit',
    atExit(() => child.kill('SIGKILL')),
  );

  await untilReady(child, () => output);
  return {
    url,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    pid: child.pid ?? 0,
    mcp: (server) => (server === undefined ? `${url}/mcp` : `${url}/${server}/mcp`),
    logs: () => output,
    async stop() {
      const code = await stopChild(child);
      await rm(folder, { recursive: true, force: true });
      return code;
    },
  };
}

/** Ready is when it says so, which it does after it listens. */
async function untilReady(child: ChildProcess, output: () => string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const fail = (why: string) => reject(new Error(`The gateway ${why}:\n${output()}`));
      child.stdout?.on('data', () => {
        if (output().includes(' is up')) resolve();
      });
      child.once('error', reject);
      child.once('exit', (code) => fail(`ended with code ${code} before it was ready`));
      timer = setTimeout(() => fail('was not ready in time'), START_MS);
    });
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function stopChild(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  const [code] = (await exited) as [number | null];
  clearTimeout(timer);
  return code;
}
