import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../../test/helpers/protected-server.fixture.mjs', import.meta.url));

export interface ProtectedServer {
  url: string;
  stop(): Promise<void>;
}

/**
 * Starts a real MCP server (SDK) that takes tokens of the issuer itself: tools `whoami`, `picture`, and `delete`, which
 * needs one scope more. @param resources whose tokens it takes
 */
export async function startProtectedServer(
  port: number,
  issuer: string,
  resources: readonly string[],
): Promise<ProtectedServer> {
  const child = spawn(process.execPath, [PROGRAM, String(port), issuer, ...resources], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += String(chunk);
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).once('line', resolve);
    child.once('exit', () => reject(new Error(`the server ended: ${said}`)));
  });
  return {
    url,
    stop: async () => {
      process.removeListener('exit', kill);
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}
