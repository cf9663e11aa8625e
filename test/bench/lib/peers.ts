import { freePort, startChild } from './children.js';
import { serverScript } from './paths.js';
import { processTarget, type Target } from './target.js';
import { npmPeer, type PeerName } from './tools.js';

const STDIO_SERVER = [process.execPath, serverScript('fast-stdio')];

const ARGUMENTS: Record<PeerName, (port: number) => string[]> = {
  supergateway: (port) => [
    ...['--stdio', STDIO_SERVER.join(' '), '--outputTransport', 'streamableHttp', '--stateful'],
    ...['--port', String(port), '--logLevel', 'none'],
  ],
  'mcp-proxy': (port) => [
    ...['--port', String(port), '--host', '127.0.0.1', '--server', 'stream', '--requestTimeout', '600000'],
    ...['--', ...STDIO_SERVER],
  ],
};

/** An npm gateway in front of the same answers over stdio, the only transport that both peers front. */
export async function peerTarget(name: PeerName): Promise<Target> {
  const port = await freePort();
  const script = npmPeer(name);
  const args = ['--import', serverScript('loopback-only'), script, ...ARGUMENTS[name](port)];
  return processTarget(
    name,
    () => `http://127.0.0.1:${port}/mcp`,
    () => startChild({ command: process.execPath, args, port }),
  );
}
