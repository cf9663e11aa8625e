import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { keyHash } from '../../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { freePort } from '../../helpers/gateway-process-ports.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const KEY_HASH = keyHash('a-key-of-these-tests');

let fake: FakeUpstream;
let wharf: Wharf;

beforeAll(async () => {
  fake = await startFakeUpstream({ transport: 'json', session: true });
  const servers = {
    good: { url: fake.url },
    refusing: { url: `http://127.0.0.1:${await freePort()}/mcp` },
    missing: { command: ['/nowhere/some-secret-command'] },
    folderless: { command: [process.execPath], cwd: '/nowhere/some-secret-folder' },
  };
  wharf = await startWharf({ servers });
});

afterAll(async () => {
  await wharf?.stop();
  await fake?.close();
});

interface Refusal {
  status: number;
  error: { message: string; data: Record<string, unknown> };
}

async function post(path: string, body: string, at = wharf.url): Promise<Refusal> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const response = await fetch(`${at}${path}`, { method: 'POST', headers, body });
  const text = await response.text();
  const json = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  return { status: response.status, error: (JSON.parse(json) as { error: Refusal['error'] }).error };
}

/** fetch sets Host and Origin by itself. */
function refusedFor(headers: Record<string, string>): Promise<Refusal> {
  return new Promise((resolve, reject) => {
    const sent = request(`${wharf.url}/good/mcp`, { headers, agent: false }, async (response) => {
      const { error } = (await json(response)) as { error: Refusal['error'] };
      resolve({ status: response.statusCode ?? 0, error });
    });
    sent.on('error', reject).end();
  });
}

const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
});

describe('what people and programs are told that got an address or a server wrong', () => {
  it('/mcp with several servers names their paths', async () => {
    const { status, error } = await post('/mcp', initialize);
    expect(status).toBe(404);
    expect(error.message).toBe(
      'There are several servers here, each at a path of its own: /good/mcp, /refusing/mcp, /missing/mcp, /folderless/mcp.',
    );
  });

  it.each([
    ['/', /^There are several servers here, each at a path of its own: \/good\/mcp, /],
    ['/sse', /^There are several servers here, /],
    ['/good', /^There is nothing at this address\. The path of the MCP URL is \/good\/mcp\.$/],
    ['/good/mcp/', /The path of the MCP URL is \/good\/mcp\.$/],
    ['/good/mcp/?x=1', /The path of the MCP URL is \/good\/mcp\.$/],
    ['/Good/SSE', /The path of the MCP URL is \/good\/mcp\.$/],
    ['/nothing', /^There is nothing at this address\.$/],
    ['/good/mcp/x', /^There is nothing at this address\.$/],
  ])('a client that posts to %s is told where the MCP endpoint is', async (path, text) => {
    const { status, error } = await post(path, initialize);
    expect([status, error.data.code]).toEqual([404, 'route_unknown']);
    expect(error.message).toMatch(text);
  });

  it('a client of the older transport that opens a stream beside the endpoint is told too', async () => {
    const response = await fetch(`${wharf.url}/good/sse`, { headers: { accept: 'text/event-stream' } });
    expect([response.status, await response.text()]).toEqual([404, expect.stringContaining('/good/mcp')]);
  });

  it('a caller without a key is told of no server beside an endpoint, and one with a wrong key of the key', async () => {
    const auth = { use: 'apiKeys', keys: [{ name: 'ci', hash: KEY_HASH }] };
    const locked = await startWharf({ servers: { docs: { url: fake.url } }, config: { auth } });
    try {
      expect(await post('/docs', initialize, locked.url)).toMatchObject({
        status: 404,
        error: { message: 'There is nothing at this address.' },
      });
      const asked = async (key: string) => {
        const headers = { authorization: `Bearer ${key}` };
        const response = await fetch(`${locked.url}/docs/`, { method: 'POST', headers, body: initialize });
        return [response.status, await response.text()];
      };
      expect(await asked('a-wrong-key')).toEqual([401, expect.not.stringContaining('docs')]);
      expect(await asked('a-key-of-these-tests')).toEqual([404, expect.stringContaining('/docs/mcp')]);
    } finally {
      await locked.stop();
    }
  });

  it.each([
    ['POST', 401, {}],
    ['GET', 401, { accept: 'text/event-stream' }],
    ['GET', 406, { accept: 'application/json' }],
    ['DELETE', 401, {}],
  ])('a caller without a key cannot find out by %s which servers there are: %i', async (method, status, headers) => {
    const auth = { use: 'apiKeys', keys: [{ name: 'ci', hash: KEY_HASH }] };
    const servers = { docs: { url: fake.url }, ocr: { url: fake.url } };
    const locked = await startWharf({ servers, config: { auth } });
    const body = method === 'POST' ? initialize : null;
    const asked = async (path: string) => {
      const response = await fetch(locked.url + path, { method, headers, body });
      const told = [...response.headers].filter(([name]) => name !== 'date');
      return { status: response.status, told, text: await response.text() };
    };
    try {
      const there = await asked('/docs/mcp');
      expect(there.status).toBe(status);
      expect(await asked('/nothing/mcp')).toEqual(there);
    } finally {
      await locked.stop();
    }
  });

  it('a server that is not there is told with those that are', async () => {
    const { status, error } = await post('/goood/mcp', initialize);
    expect([status, error.message]).toEqual([
      404,
      'No server is called "goood"; there are: /good/mcp, /refusing/mcp, /missing/mcp, /folderless/mcp.',
    ]);
  });

  it.each([
    ['refusing', 'The server "refusing" cannot be reached: connection refused.'],
    ['missing', 'The server "missing" cannot be reached: its command was not found.'],
    ['folderless', 'The server "folderless" cannot be reached: its working directory does not exist.'],
  ])('%s: the kind of failure is told, and nothing of where and what', async (server, message) => {
    const { error } = await post(`/${server}/mcp`, initialize);
    expect(error.message).toBe(message);
    expect(JSON.stringify(error)).not.toMatch(/secret|127\.0\.0\.1|nowhere/);
  });

  it('a body that is not JSON is told with the place of the fault, and not repeated', async () => {
    const { status, error } = await post('/good/mcp', '{"jsonrpc":"2.0","password":hunter2}');
    expect(status).toBe(400);
    expect(error.message).toBe('The request body is not valid JSON: no value where one is due at byte 28.');
  });

  it.each([
    ['host', 'wharf.internal:8080', /^Wharf does not answer to the Host "wharf\.internal:8080"\. /],
    ['origin', 'https://app.example.com', /^Web pages of "https:\/\/app\.example\.com" may not call Wharf\. /],
  ])('a foreign %s is told as it came, to programs too', async (header, value, message) => {
    const { error } = await refusedFor({ [header]: value });
    expect(error.message).toMatch(message);
    expect(error.data).toMatchObject({ [header]: value });
  });

  it('a request without a session is told how to open one', async () => {
    const { error } = await post('/missing/mcp', '{"jsonrpc":"2.0","id":1,"method":"tools/list"}');
    expect(error.message).toMatch(/^There is no session: send "initialize" first\./);
  });
});

describe('with API keys', () => {
  it('a caller without one is not told which servers there are', async () => {
    const closed = await startWharf({
      servers: { one: { url: fake.url }, two: { url: fake.url } },
      config: { auth: { use: 'apiKeys', keys: [{ name: 'ci', hash: KEY_HASH }] } },
    });
    try {
      for (const path of ['/mcp', '/three/mcp']) {
        const { status, error } = await post(path, initialize, closed.url);
        expect([status, /one|two/.test(error.message)]).toEqual([401, false]);
      }
    } finally {
      await closed.stop();
    }
  });
});
