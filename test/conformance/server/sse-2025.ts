import { createServer, type Server as HttpServer } from 'node:http';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { refuseForeign } from './local-only.js';
import { server2025 } from './server-2025.js';

/** Serves the fixtures over the HTTP+SSE transport of 2024-11-05: `GET /sse`, then `POST /messages`. */
export function sse2025(): HttpServer {
  const sessions = new Map<string, SSEServerTransport>();
  return createServer(async (request, response) => {
    if (refuseForeign(request, response)) return;
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (request.method === 'GET' && url.pathname === '/sse') {
      const transport = new SSEServerTransport('/messages', response);
      sessions.set(transport.sessionId, transport);
      response.on('close', () => sessions.delete(transport.sessionId));
      await server2025().connect(transport);
      return;
    }
    if (request.method === 'POST' && url.pathname === '/messages') {
      const transport = sessions.get(url.searchParams.get('sessionId') ?? '');
      if (transport === undefined) response.writeHead(404).end('Session not found');
      else await transport.handlePostMessage(request, response);
      return;
    }
    response.writeHead(url.pathname === '/sse' ? 405 : 404).end();
  });
}
