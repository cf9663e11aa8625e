/**
 * A small server on the SDK whose answers hold blobs of the size they are asked for:
 *
 *     node dist/test/helpers/sdk-servers-blobs.js stdio | sse | http
 *
 * The HTTP modes print their URL as the first line of stdout.
 */

import { randomUUID } from 'node:crypto';
import { createServer, type Server as HttpServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { z } from 'zod';
import { sha256 } from './bytes.js';
import { noise, noisePng } from './sdk-servers-bytes.js';

const number = z.coerce.number().int().nonnegative();
const pictures = new Map<number, string>();
const pngBlock = (side: number) => {
  const data = pictures.get(side) ?? noisePng(side).toString('base64');
  pictures.set(side, data);
  return { type: 'image' as const, data, mimeType: 'image/png' };
};

function blobServer(): McpServer {
  const server = new McpServer({ name: 'wharf-blobs', version: '1.0.0' });
  const text = (value: string) => ({ type: 'text' as const, text: value });

  server.registerTool('picture', { inputSchema: { side: number } }, ({ side }) => ({
    content: [
      text('before'),
      { ...pngBlock(side), annotations: { audience: ['user'] as ['user'], priority: 0.5 }, _meta: { 'test/kept': 1 } },
      text('after'),
    ],
  }));
  server.registerTool('sound', { inputSchema: { bytes: number } }, ({ bytes }) => ({
    content: [{ type: 'audio', data: noise(bytes).toString('base64'), mimeType: 'audio/wav' }],
  }));
  server.registerTool('document', { inputSchema: { bytes: number } }, ({ bytes }) => {
    const blob = noise(bytes).toString('base64');
    const resource = { uri: 'file:///reports/Q3%20report.pdf', mimeType: 'application/pdf', blob };
    return { content: [{ type: 'resource', resource }] };
  });
  server.registerTool('many', { inputSchema: { count: number, bytes: number } }, ({ count, bytes }) => ({
    content: Array.from({ length: count }, (_, at) => {
      const data = noise(bytes, at + 1).toString('base64');
      return { type: 'audio' as const, data, mimeType: 'audio/wav' };
    }),
  }));
  server.registerTool('digest', { inputSchema: { data: z.string() } }, ({ data }) => ({
    content: [text(sha256(Buffer.from(data, 'base64')))],
  }));
  server.registerTool('data_uri', { inputSchema: { bytes: number } }, ({ bytes }) => ({
    content: [text(`data:application/zip;base64,${noise(bytes).toString('base64')}`)],
  }));

  server.registerResource(
    'noise',
    new ResourceTemplate('noise:///{bytes}', { list: undefined }),
    { mimeType: 'application/octet-stream' },
    (uri, { bytes }) => ({
      contents: [
        { uri: uri.href, mimeType: 'application/octet-stream', blob: noise(Number(bytes)).toString('base64') },
      ],
    }),
  );
  server.registerPrompt('picture', { argsSchema: { side: z.string() } }, ({ side }) => ({
    messages: [{ role: 'user', content: pngBlock(Number(side)) }],
  }));
  server.registerPrompt('sound', { argsSchema: { bytes: z.string() } }, ({ bytes }) => ({
    messages: [
      {
        role: 'user',
        content: { type: 'audio', data: noise(Number(bytes)).toString('base64'), mimeType: 'audio/wav' },
      },
    ],
  }));
  return server;
}

function streamableHttp(): RequestListener {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  return async (request, response) => {
    const id = request.headers['mcp-session-id'];
    let transport = typeof id === 'string' ? sessions.get(id) : undefined;
    if (id !== undefined && transport === undefined) return void response.writeHead(404).end();
    if (transport === undefined) {
      const opened = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (sessionId) => void sessions.set(sessionId, opened),
      });
      await blobServer().connect(opened as Transport);
      transport = opened;
    }
    await transport.handleRequest(request, response);
  };
}

function legacySse(): RequestListener {
  const sessions = new Map<string, SSEServerTransport>();
  return async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (request.method === 'GET' && url.pathname === '/sse') {
      const transport = new SSEServerTransport('/messages', response);
      sessions.set(transport.sessionId, transport);
      return blobServer().connect(transport);
    }
    const transport = sessions.get(url.searchParams.get('sessionId') ?? '');
    if (request.method !== 'POST' || transport === undefined) return void response.writeHead(404).end();
    await transport.handlePostMessage(request, response);
  };
}

function listen(server: HttpServer, path: string): void {
  server.listen(0, '127.0.0.1', () => {
    process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}\n`);
  });
}

const mode = process.argv[2];
if (mode === 'stdio') await blobServer().connect(new StdioServerTransport());
else if (mode === 'sse') listen(createServer(legacySse()), '/sse');
else if (mode === 'http') listen(createServer(streamableHttp()), '/mcp');
else throw new Error(`unknown mode ${mode}`);
