import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { close, listen } from './loopback.js';

type Json = Record<string, unknown>;

const CHUNK = randomBytes(1024 * 1024);
const URI = 'docs://huge.bin';

interface HugeFileServer {
  /** Its MCP endpoint. */
  url: string;
  close(): Promise<void>;
}

/** Gives a link to a resource of so many MiB, which it only streams (SEP-2532). */
export async function startStreamingServer(mib: () => number): Promise<HugeFileServer & { digest(): string }> {
  const link = { type: 'resource_link', uri: URI, name: 'huge.bin' };
  return {
    digest() {
      const hash = createHash('sha256');
      for (let sent = 0; sent < mib(); sent++) hash.update(CHUNK);
      return hash.digest('hex');
    },
    ...(await startServer({
      capabilities: { tools: {}, resources: { stream: true } },
      tools: [{ name: 'link', inputSchema: { type: 'object' } }],
      answer: async (method, _params, response) => {
        if (method === 'tools/call') return { result: { content: [link] } };
        if (method !== 'resources/stream') return { error: { code: -32603, message: 'Too large to read' } };
        const length = String(mib() * CHUNK.length);
        response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': length });
        await pipeline(Readable.from(Array.from({ length: mib() }, () => CHUNK)), response);
        return undefined;
      },
    })),
  };
}

interface Uploaded {
  bytes: number;
  digest: string;
}

/** Takes files by upload only (SEP-2631), and keeps nothing of them but their length and digest. */
export async function startUploadedServer(): Promise<HugeFileServer & { uploads: Uploaded[]; files: unknown[] }> {
  const uploads: Uploaded[] = [];
  const files: unknown[] = [];
  const file = { type: 'string', format: 'uri', 'x-mcp-file': { transferModes: ['upload'] } };
  const server = await startServer({
    capabilities: { tools: {} },
    tools: [{ name: 'take', inputSchema: { type: 'object', properties: { file } } }],
    answer: async (method, params) => {
      if (method === 'files/authorizeUpload') {
        const url = new URL('/up', server.url).href;
        return { result: { file: { ...params, uri: 'mcp-file://store/1' }, upload: { method: 'PUT', url } } };
      }
      if (method !== 'tools/call') return undefined;
      files.push((params.arguments as Json).file);
      return { result: { content: [] } };
    },
    upload: async (request) => {
      const hash = createHash('sha256');
      let bytes = 0;
      for await (const chunk of request as AsyncIterable<Buffer>) {
        hash.update(chunk);
        bytes += chunk.length;
      }
      uploads.push({ bytes, digest: hash.digest('hex') });
    },
  });
  return { ...server, uploads, files };
}

interface ServerOptions {
  capabilities: Json;
  tools: Json[];
  /** Undefined: the response has been written already. */
  answer: (method: string, params: Json, response: ServerResponse) => Promise<Json | undefined>;
  upload?: (request: IncomingMessage) => Promise<void>;
}

async function startServer({ capabilities, tools, answer, upload }: ServerOptions): Promise<HugeFileServer> {
  const reply = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method === 'PUT' && upload) {
      await upload(request);
      response.writeHead(201).end();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const {
      id,
      method,
      params = {},
    } = JSON.parse(Buffer.concat(chunks).toString()) as {
      id?: unknown;
      method: string;
      params?: Json;
    };
    if (id === undefined) return void response.writeHead(202).end();
    const { protocolVersion } = params;
    const opened = { protocolVersion, capabilities, serverInfo: { name: 'huge', version: '1' } };
    const own = method === 'initialize' ? opened : method === 'tools/list' ? { tools } : undefined;
    const outcome = own ? { result: own } : await answer(method, params, response);
    if (!outcome) return;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }));
  };
  const server = createServer((request, response) => void reply(request, response));
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    close: async () => {
      await close(server);
    },
  };
}
