import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { atExit } from './this-process.js';

/** Compiled, this file is dist/test/helpers/tus-client.js; the fixture is not compiled. */
const CLIENT = fileURLToPath(new URL('../../../test/helpers/tus-client.fixture.mjs', import.meta.url));

/** What the client tells: bytes that it has sent, that it tries again after an answer (0: none), the end. */
export type Told = { sent: number } | { retry: number } | { failed: string } | { handle: string | null };

/**
 * Uploads a file with tus-js-client in a process of its own, as users do.
 * @param options `chunk`: bytes of each request, as many as there are without it; `told` is told one thing after the other
 * @returns all that it told
 */
export async function uploadByTus(
  link: string,
  file: string,
  { chunk = 0, told = () => undefined }: { chunk?: number; told?: (what: Told) => void | Promise<void> } = {},
): Promise<Told[]> {
  const child = spawn(process.execPath, [CLIENT, link, file, String(chunk)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const kill = () => child.kill('SIGKILL');
  const leave = atExit(kill);
  const all: Told[] = [];
  const lines = createInterface({ input: child.stdout });
  let before = Promise.resolve();
  const failed = new Promise<never>((_resolve, reject) => {
    lines.on('line', (line) => {
      const what = JSON.parse(line) as Told;
      all.push(what);
      before = before.then(() => told(what));
      before.catch(reject);
    });
  });
  try {
    await Promise.race([Promise.all([once(child, 'exit'), once(lines, 'close')]), failed]);
    await before;
    return all;
  } finally {
    leave();
    kill();
  }
}
