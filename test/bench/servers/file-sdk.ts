import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

/** A stdio server on the official SDK that takes files: by path, and as base64. `state` tells what its process has read. */

const server = new McpServer({ name: 'file-sdk', version: '1.0.0' });
const text = (told: unknown) => ({ content: [{ type: 'text' as const, text: JSON.stringify(told) }] });

server.registerTool('take_path', { inputSchema: { path: z.string() } }, async ({ path }) => {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    size += chunk.length;
    hash.update(chunk);
  }
  return text({ size, sha256: hash.digest('hex') });
});

server.registerTool('take_base64', { inputSchema: { data: z.string() } }, ({ data }) => {
  const bytes = Buffer.from(data, 'base64');
  return text({ size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') });
});

let read = 0;
process.stdin.on('data', (chunk: Buffer) => {
  read += chunk.length;
});

server.registerTool('state', { inputSchema: {} }, () => text({ pid: process.pid, read }));

// The SDK's own types are not written for exactOptionalPropertyTypes; at run time the transport is one.
await server.connect(new StdioServerTransport() as Parameters<McpServer['connect']>[0]);
