import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { atExit } from '../helpers/this-process.js';

const MAIN = fileURLToPath(new URL('./server/main.js', import.meta.url));

/** Milliseconds until a server has to say where it listens. */
const START_MS = 90_000;

export type HttpMode = 'http' | 'sse' | 'http-2026';
export type StdioMode = 'stdio' | 'stdio-2026';

/** The command of a fixtures' server that speaks on stdin and stdout. */
export function stdioCommand(mode: StdioMode): string[] {
  return [process.execPath, MAIN, mode];
}

/** Starts a fixtures' server that listens on a free loopback port. */
export async function startFixtureServer(mode: HttpMode): Promise<{ url: string; stop(): void }> {
  const child = spawn(process.execPath, [MAIN, mode], { stdio: ['ignore', 'pipe', 'inherit'] });
  const stop = () => {
    child.kill();
  };
  child.once('exit', atExit(stop));
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`The ${mode} server did not start.`)), START_MS);
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const end = output.indexOf('\n');
      if (end === -1) return;
      clearTimeout(timer);
      resolve(output.slice(0, end));
    });
    child.once('exit', (code) => reject(new Error(`The ${mode} server ended with code ${code}.`)));
  });
  return { url, stop };
}
