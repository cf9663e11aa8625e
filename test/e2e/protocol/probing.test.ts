import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { close, listen } from '../../helpers/loopback.js';
import { RawClient } from '../../helpers/raw-client.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

interface Message {
  id?: unknown;
  method?: string;
  params?: { protocolVersion?: string };
  result?: unknown;
}

interface Upstream {
  origin: string;
  close(): Promise<void>;
}

async function serve(
  handle: (request: IncomingMessage, body: string, response: ServerResponse) => void,
): Promise<Upstream> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => handle(request, body, response));
  });
  return { origin: `http://127.0.0.1:${await listen(server)}`, close: () => close(server) };
}

function resultOf({ method, params }: Message): object {
  if (method === 'initialize') {
    const { protocolVersion } = params ?? {};
    return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'odd', version: '1' } };
  }
  return method === 'tools/list' ? { tools: [{ name: 'one', inputSchema: { type: 'object' } }] } : {};
}

const EVENTS = { 'content-type': 'text/event-stream' };

/**
 * A 2024-11-05 server.
 * @param refuse answers a POST to `/sse`; without it that is answered like a GET, as routers do that look at the path
 * alone
 */
function legacy(refuse?: (response: ServerResponse) => void): Promise<Upstream> {
  const streams = new Map<string, ServerResponse>();
  return serve((request, body, response) => {
    const url = new URL(request.url ?? '', 'http://self');
    if (url.pathname === '/sse') {
      if (refuse && request.method === 'POST') return refuse(response);
      const id = String(streams.size + 1);
      streams.set(id, response);
      response.writeHead(200, EVENTS);
      response.write(`: welcome\n\nevent: endpoint\ndata: /messages?id=${id}\n\n`);
      return;
    }
    response.writeHead(202).end();
    const message = JSON.parse(body) as Message;
    if (message.id === undefined) return;
    const answer = JSON.stringify({ jsonrpc: '2.0', id: message.id, result: resultOf(message) });
    streams.get(url.searchParams.get('id') ?? '')?.write(`event: message\ndata: ${answer}\n\n`);
  });
}

/** A server of Streamable HTTP whose path must end with a slash, as with Starlette's mounts. */
function slashed(): Promise<Upstream> {
  return serve((request, body, response) => {
    if (request.url !== '/mcp/') {
      response.writeHead(307, { location: `http://${request.headers.host}/mcp/` }).end();
      return;
    }
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const message = JSON.parse(body) as Message;
    if (message.id === undefined) return void response.writeHead(202).end();
    response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's1' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: resultOf(message) }));
  });
}

let upstream: Upstream | undefined;
let wharf: Wharf | undefined;

afterEach(async () => {
  await wharf?.stop();
  await upstream?.close();
  wharf = undefined;
  upstream = undefined;
});

async function inFrontOf(running: Upstream, path: string, config = {}): Promise<string> {
  upstream = running;
  wharf = await startWharf({ servers: { odd: { url: running.origin + path } }, config });
  return wharf.mcp;
}

const CLIENTS: readonly [string, (url: string) => Promise<number>][] = [
  [
    'SDK 1.32',
    async (url) => {
      const client = new Client1({ name: 'wharf-test', version: '1' });
      await client.connect(new Http1(new URL(url)) as Transport);
      const { tools } = await client.listTools();
      await client.close();
      return tools.length;
    },
  ],
  [
    'SDK 2.4',
    async (url) => {
      const client = new Client2({ name: 'wharf-test', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
      await client.connect(new Http2(new URL(url)));
      const { tools } = await client.listTools();
      await client.close();
      return tools.length;
    },
  ],
];

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};

describe.each(CLIENTS)('a client on %s', (_name, tools) => {
  it('speaks to a server of HTTP+SSE that answers POST with its endpoint', async () => {
    const url = await inFrontOf(await legacy(), '/sse');
    expect(await tools(url)).toBe(1);
    expect(await tools(url)).toBe(1);
  });

  it.each([
    ['FastAPI', 405, { detail: 'Method Not Allowed' }],
    ['NestJS', 404, { message: 'Cannot POST /sse', error: 'Not Found', statusCode: 404 }],
    ['a check of what is accepted', 406, { error: 'Not Acceptable' }],
    ['a check of types', 415, { status: 415, error: 'Unsupported Media Type' }],
    ['a check of bodies', 422, { detail: [{ loc: ['body'], msg: 'field required' }] }],
    ['Spring', 405, { timestamp: '2026-01-01T00:00:00Z', status: 405, error: 'Method Not Allowed', path: '/sse' }],
  ])('speaks to a server of HTTP+SSE whose framework refuses POST in JSON: %s', async (_whose, status, said) => {
    const running = await legacy((response) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      // its head comes by itself, and its length is not announced
      response.flushHeaders();
      setTimeout(() => response.end(JSON.stringify(said)), 20);
    });
    expect(await tools(await inFrontOf(running, '/sse'))).toBe(1);
  });

  it('speaks to a server that redirects within its origin', async () => {
    const url = await inFrontOf(await slashed(), '/mcp');
    expect(await tools(url)).toBe(1);
  });
});

describe('an initialize over HTTP', () => {
  it.each([
    ['says nothing', ''],
    ['talks about something else', ': hello\n\ndata: {"jsonrpc":"2.0","method":"notifications/message"}\n\n'],
  ])('ends after timeouts.upstream when its stream %s', async (_what, words) => {
    const running = await serve((_request, _body, response) => {
      response.writeHead(200, EVENTS);
      response.flushHeaders();
      response.write(words);
    });
    const url = await inFrontOf(running, '/mcp', { timeouts: { upstream: '1s' } });
    const answer = await RawClient.stateless(url, '2025-06-18').post(INITIALIZE);
    expect(answer.status).toBe(504);
    expect(answer.messages[0]?.error?.data?.code).toBe('upstream_timeout');
  });

  it('is answered by a server that first wants its ping answered', async () => {
    let open: { response: ServerResponse; id: unknown } | undefined;
    const running = await serve((request, body, response) => {
      if (request.method !== 'POST') return void response.writeHead(405).end();
      const message = JSON.parse(body) as Message;
      if (message.method === 'initialize') {
        response.writeHead(200, { ...EVENTS, 'mcp-session-id': 's1' });
        response.write('data: {"jsonrpc":"2.0","id":"p","method":"ping"}\n\n');
        open = { response, id: message.id };
        return;
      }
      response.writeHead(202).end();
      if (message.id !== 'p' || request.headers['mcp-session-id'] !== 's1') return;
      const result = resultOf({ method: 'initialize', params: { protocolVersion: '2025-06-18' } });
      open?.response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id: open.id, result })}\n\n`);
    });
    const url = await inFrontOf(running, '/mcp');
    const client = await RawClient.connect(url);
    expect(client.session).toBeDefined();
  });

  it('opens no session for an answer to something else', async () => {
    const running = await serve((_request, _body, response) => {
      response.writeHead(200, EVENTS);
      response.end('data: {"jsonrpc":"2.0","id":99,"result":{"not":"asked for"}}\n\n');
    });
    const url = await inFrontOf(running, '/mcp');
    const answer = await RawClient.stateless(url, '2025-06-18').post(INITIALIZE);
    expect(answer.headers.get('mcp-session-id')).toBeNull();
    expect(answer.messages.at(-1)?.error?.data?.code).toBe('upstream_closed');
  });
});

describe('a refusal that says nothing about the transport', () => {
  it.each([401, 403, 429, 500, 503])(
    '%i reaches the client, and the server is not asked for an older stream',
    async (status) => {
      const methods: (string | undefined)[] = [];
      const running = await serve((request, _body, response) => {
        methods.push(request.method);
        response.writeHead(status).end('not now');
      });
      const url = await inFrontOf(running, '/mcp');
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(INITIALIZE) });
      await answer.text();
      expect(answer.ok).toBe(false);
      expect(methods).toEqual(['POST']);
    },
  );
});

describe('a URL that leads to no MCP endpoint', () => {
  it('is named in the log, and the client gets the words of the server', async () => {
    const running = await serve((_request, _body, response) => response.writeHead(404).end('Cannot POST /'));
    const url = await inFrontOf(running, '/');
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify(INITIALIZE),
    });
    expect(answer.status).toBe(404);
    expect(await answer.text()).toBe('Cannot POST /');
    expect(wharf?.logged()).toContain('no MCP endpoint at the path of its URL');
  });
});

describe('a refusal in JSON', () => {
  const refused = async (said: object): Promise<string> => {
    const running = await serve((request, _body, response) => {
      response.writeHead(request.method === 'GET' ? 405 : 400, { 'content-type': 'application/json' });
      response.flushHeaders();
      setTimeout(() => response.end(JSON.stringify(said)), 20);
    });
    return (await RawClient.stateless(await inFrontOf(running, '/mcp'), '2025-06-18').post(INITIALIZE)).text;
  };

  it('reaches the client, whether it is MCP’s or a framework’s', async () => {
    const ofMcp = { jsonrpc: '2.0', id: 1, error: { code: -32600, message: 'Unsupported protocol version' } };
    expect(JSON.parse(await refused(ofMcp))).toEqual(ofMcp);
    await wharf?.stop();
    await upstream?.close();
    expect(JSON.parse(await refused({ detail: 'Bad Request' }))).toEqual({ detail: 'Bad Request' });
  });

  it('is not the only word in the log where the stream behind it is wrong', async () => {
    const running = await serve((request, _body, response) => {
      if (request.method === 'POST') return void response.writeHead(405).end();
      response.writeHead(200, EVENTS);
      response.write('event: endpoint\ndata: http://elsewhere.test/messages\n\n');
    });
    await RawClient.stateless(await inFrontOf(running, '/sse'), '2025-06-18').post(INITIALIZE);
    expect(wharf?.logged()).toContain('its endpoint event names another origin');
  });
});

describe('the revision without sessions', () => {
  it('has nothing to end: DELETE is not allowed', async () => {
    const url = await inFrontOf(await slashed(), '/mcp');
    const headers = { 'mcp-protocol-version': '2026-07-28' };
    const response = await fetch(url, { method: 'DELETE', headers });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
  });

  it('has no stream to open, whatever session a client names', async () => {
    const running = await serve((_request, _body, response) => response.writeHead(405, { allow: 'POST' }).end());
    const url = await inFrontOf(running, '/mcp');
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-session-id': 'made-up', accept: 'text/event-stream' };
    const response = await fetch(url, { headers });
    expect(response.status).toBe(405);
  });
});
