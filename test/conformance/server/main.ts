/**
 * The server that the conformance suite is run against:
 *
 *     node dist/test/conformance/server/main.js http | sse | stdio | http-2026 | stdio-2026
 *
 * The HTTP modes listen on a free loopback port and print their URL as the first line of stdout. Over stdio each session of
 * the suite starts one of these, so a mode loads only the SDK that it speaks with: two take 0.1 s longer.
 */
import type { Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';

function listen(server: HttpServer, path: string): void {
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    process.stdout.write(`http://127.0.0.1:${port}${path}\n`);
  });
}

const MODES: Record<string, () => Promise<void>> = {
  http: async () => listen((await import('./http-2025.js')).http2025(), '/mcp'),
  sse: async () => listen((await import('./sse-2025.js')).sse2025(), '/sse'),
  stdio: async () => (await import('./stdio-2025.js')).stdio2025(),
  'http-2026': async () => listen((await import('./server-2026.js')).http2026(), '/mcp'),
  'stdio-2026': async () => (await import('./server-2026.js')).stdio2026(),
};

const mode = process.argv[2] ?? '';
const start = MODES[mode];
if (start === undefined) throw new Error(`unknown mode ${mode}`);
await start();
