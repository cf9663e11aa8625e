import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { FILE } from './attacks.js';
import { listen } from './loopback.js';
import { writeIn } from './watched-gateway.js';

/** What a server answers next, to one method. */
interface Prepared {
  method: string;
  body: Buffer;
  type: string;
  /** Bytes of a chunk. */
  chunk: number | undefined;
}

export interface HostileUpstream {
  url: string;
  /**
   * Undefined: everything is answered as a decent server would.
   * @param tools of its list, as JSON, instead of its own
   */
  prepare(answer: Prepared | undefined, tools?: string): void;
  close(): Promise<void>;
}

const TOOLS = [
  {
    name: 'take',
    inputSchema: { type: 'object', properties: JSON.parse(`{"f":{"type":"string","format":"uri",${FILE}}}`) },
  },
];
const OWN_TOOLS = JSON.stringify(TOOLS);

/** An HTTP server that answers one method with what it is told, and keeps a file. It never makes what it is sent. */
export async function startHostileUpstream(): Promise<HostileUpstream> {
  let prepared: Prepared | undefined;
  let listed = OWN_TOOLS;
  let origin = '';
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.method === 'GET') return request.url === '/kept' ? response.end('kept') : response.writeHead(405).end();
    const body = await buffer(request);
    const head = body.toString('latin1', 0, 4096);
    const method = /"method":"([^"]*)"/.exec(head)?.[1] ?? '';
    const id = /"id":("[^"]*"|[\d.]+)/.exec(head)?.[1];
    if (id === undefined) return response.writeHead(202).end();
    if (prepared?.method === method) {
      response.writeHead(200, { 'content-type': prepared.type });
      response.socket?.setNoDelay(true);
      return writeIn(response, prepared.body, prepared.chunk ?? prepared.body.length);
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    return response.end(`{"jsonrpc":"2.0","id":${id},${usual(method, head, { origin, listed })}}`);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  origin = `http://127.0.0.1:${await listen(server)}`;
  return {
    url: `${origin}/mcp`,
    prepare: (next, tools = OWN_TOOLS) => {
      prepared = next;
      listed = tools;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function usual(method: string, head: string, { origin, listed }: { origin: string; listed: string }): string {
  switch (method) {
    case 'initialize': {
      const capabilities = { tools: {}, resources: {}, prompts: {} };
      return `"result":${JSON.stringify({ protocolVersion: '2025-06-18', capabilities, serverInfo: { name: 'h', version: '1' } })}`;
    }
    case 'tools/list':
      return `"result":{"tools":${listed}}`;
    case 'files/authorizeDownload':
      return head.includes('"good:')
        ? `"result":${JSON.stringify({ download: { method: 'GET', url: `${origin}/kept` } })}`
        : '"error":{"code":-32602,"message":"no such file","data":{"reason":"fileNotFound"}}';
    default:
      return /^(?:tools\/call|ping)$/.test(method)
        ? '"result":{"content":[]}'
        : '"error":{"code":-32601,"message":"no"}';
  }
}
