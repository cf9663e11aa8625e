import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Compiled, this file is dist/test/e2e/cli-process.js. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const MAIN = `${ROOT}dist/gateway/main.js`;

interface Ended {
  code: number | null;
  out: string;
  err: string;
}

export interface Running {
  child: ChildProcess;
  out(): string;
  err(): string;
  /** Resolves when standard output matches; rejects when the process ends without it. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  ended: Promise<Ended>;
}

/** Runs a compiled program of the project, `wharf` itself unless told otherwise. @param options `env` is added to this process's */
export function start(
  args: string[],
  options: { cwd?: string; program?: string; env?: NodeJS.ProcessEnv } = {},
): Running {
  const { program = MAIN, cwd = ROOT, env = {} } = options;
  return watch(process.execPath, [program, ...args], cwd, { ...process.env, ...env });
}

export function startScript(script: string, args: string[], env: NodeJS.ProcessEnv): Running {
  return watch(script, args, ROOT, env);
}

/** Runs a script to its end. */
export async function runScript(script: string, args: string[], env: NodeJS.ProcessEnv): Promise<Ended> {
  return startScript(script, args, env).ended;
}

function watch(command: string, args: string[], cwd: string, env: NodeJS.ProcessEnv): Running {
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  const ended = once(child, 'close').then(([code]): Ended => ({ code: code as number | null, out, err }));
  const printed = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(out);
        if (found) resolve(found);
      };
      child.stdout?.on('data', look);
      look();
      ended.then(() => reject(new Error(`it ended without printing ${pattern}: ${out}${err}`)));
    });
  return { child, out: () => out, err: () => err, printed, ended };
}

export async function wharf(...args: string[]): Promise<Ended> {
  return start(args).ended;
}
