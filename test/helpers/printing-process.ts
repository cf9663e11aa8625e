import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { atExit } from './this-process.js';

export interface PrintingProcess {
  /** The first line that it printed: its address. */
  url: string;
  stop(): Promise<void>;
}

/**
 * Starts a server as a process of its own, which prints its address once it listens.
 * @param fixture its file's name, beside this one
 */
export async function startPrinting(
  fixture: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<PrintingProcess> {
  const program = fileURLToPath(new URL(`../../../test/helpers/${fixture}`, import.meta.url));
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += String(chunk);
  });
  const leave = atExit(() => child.kill('SIGKILL'));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).once('line', resolve);
    child.once('exit', () => reject(new Error(`${fixture} ended: ${said}`)));
  });
  return {
    url,
    stop: async () => {
      leave();
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}
