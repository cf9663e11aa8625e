import { freePort, startChild } from './children.js';
import { serverScript } from './paths.js';
import { processTarget, type Target } from './target.js';

/** A Node proxy that looks at nothing: what Node's own http costs on this machine, below which no gateway on it gets. */
export async function floorTarget(fastPort: number, sdkPort: number): Promise<Target> {
  const port = await freePort();
  const args = [serverScript('passthrough'), String(port), String(fastPort), String(sdkPort)];
  return processTarget(
    'passthrough',
    (server) => `http://127.0.0.1:${port}/${server}/mcp`,
    () => startChild({ command: process.execPath, args, port }),
  );
}
