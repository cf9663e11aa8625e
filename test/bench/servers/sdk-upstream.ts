import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';
import { blobChars, blobPieces } from './blob.js';

/**
 * What stands behind most gateways: the official SDK's server, stateless Streamable HTTP on `/sdk/mcp`.
 *
 *     node sdk-upstream.js PORT
 */

const texts = new Map<number, string>();

function base64(mb: number): string {
  let text = texts.get(mb);
  if (text === undefined) {
    text = Buffer.concat([...blobPieces(blobChars(mb))]).toString('latin1');
    texts.set(mb, text);
  }
  return text;
}

function mcp(): McpServer {
  const server = new McpServer({ name: 'sdk-upstream', version: '1.0.0' });
  server.registerTool('blob', { inputSchema: { mb: z.number() } }, ({ mb }) => ({
    content: [{ type: 'image', data: base64(mb), mimeType: 'image/png' }],
  }));
  return server;
}

createServer(async (request, response) => {
  if (request.method !== 'POST') {
    response.writeHead(405).end();
    return;
  }
  const transport = new StreamableHTTPServerTransport({});
  response.on('close', () => void transport.close());
  // The SDK's own types are not written for exactOptionalPropertyTypes; at run time the transport is one.
  await mcp().connect(transport as Parameters<McpServer['connect']>[0]);
  await transport.handleRequest(request, response);
}).listen(Number(process.argv[2]), '127.0.0.1');
