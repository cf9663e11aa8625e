/**
 * The server that the conformance suite is run against:
 *
 *     node dist/test/conformance/server/main.js http | sse | stdio | http-2026 | stdio-2026
 *
 * The HTTP modes listen on a free loopback port and print their URL as the first line of stdout.
 */
import type { Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { http2025 } from './http-2025.js';
import { server2025 } from './server-2025.js';
import { http2026, stdio2026 } from './server-2026.js';
import { sse2025 } from './sse-2025.js';

function listen(server: HttpServer, path: string): void {
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    process.stdout.write(`http://127.0.0.1:${port}${path}\n`);
  });
}

const mode = process.argv[2];
if (mode === 'http') listen(http2025(), '/mcp');
else if (mode === 'sse') listen(sse2025(), '/sse');
else if (mode === 'stdio') await server2025().connect(new StdioServerTransport());
else if (mode === 'http-2026') listen(http2026(), '/mcp');
else if (mode === 'stdio-2026') stdio2026();
else throw new Error(`unknown mode ${mode}`);
