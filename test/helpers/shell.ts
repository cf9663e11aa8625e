import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Runs a line as a person would who pasted it; the output. */
export async function shell(line: string, cwd: string): Promise<string> {
  const { stdout } = await run('sh', ['-c', line], { cwd, timeout: 60_000 });
  return stdout;
}
