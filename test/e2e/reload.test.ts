import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { keyHash } from '../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../helpers/fake-upstream.js';
import { RecordingUpstream } from '../helpers/recording-upstream.js';
import { until } from '../helpers/wait.js';
import { ROOT } from './cli-process.js';
import { DONE, heard, Reloading } from './reloading.js';

const STDIO = { command: [process.execPath, `${ROOT}dist/test/helpers/fake-stdio-server.js`] };

let folder: string;
let one: FakeUpstream;
let other: FakeUpstream;
let gateway: Reloading;
const clients: Client[] = [];

beforeAll(async () => {
  one = await startFakeUpstream({ transport: 'json' });
  other = await startFakeUpstream({ transport: 'json' });
});

afterAll(async () => {
  await one?.close();
  await other?.close();
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-reload-'));
});

afterEach(async () => {
  await Promise.allSettled(clients.splice(0).map((client) => client.close()));
  await gateway?.stop();
  await rm(folder, { recursive: true });
});

const base = () => ({
  listen: '127.0.0.1:0',
  objects: { use: 'filesystem', path: join(folder, 'data') },
  audit: { use: 'file', path: join(folder, 'audit', 'audit.jsonl') },
});

async function begin(config: object): Promise<void> {
  gateway = await Reloading.start(folder, { ...base(), ...config });
}

const reload = (config: object | string, told: RegExp) =>
  gateway.reload(typeof config === 'string' ? config : { ...base(), ...config }, told);

/** What a server answers to what asks for a stream. */
const endlessStream: FakeUpstream['respond'] = ({ body, method }) => {
  if (method !== 'GET' && !body.includes('subscriptions/listen')) return undefined;
  return { contentType: 'text/event-stream', body: ': here\n\n', framing: 'chunked', cutAfter: 8, cut: 'stall' };
};

/** A client's GET stream, or its `subscriptions/listen`. */
async function openStream(method: 'GET' | 'POST', name: string) {
  const version = '2026-07-28';
  const _meta = { 'io.modelcontextprotocol/protocolVersion': version };
  const listen = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: { notifications: {}, _meta } };
  const answer = await fetch(new URL('/mcp', gateway.url), {
    method,
    headers: {
      authorization: `Bearer ${name}-0123456789`,
      accept: 'application/json, text/event-stream',
      ...(method === 'POST' && { 'content-type': 'application/json', 'mcp-protocol-version': version }),
      ...(method === 'POST' && { 'mcp-method': 'subscriptions/listen' }),
    },
    ...(method === 'POST' && { body: JSON.stringify(listen) }),
  });
  expect(answer.status).toBe(200);
  return heard(answer);
}

async function connect(path: string, key?: string): Promise<Client> {
  const client = new Client({ name: 'desk', version: '1.0.0' });
  const requestInit = key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(path, gateway.url), { requestInit }));
  clients.push(client);
  return client;
}

const echo = (client: Client) => client.callTool({ name: 'echo', arguments: { text: 'hello' } });

describe('a config that takes the place of another', () => {
  it('adds servers, takes others away, and leaves the sessions of the rest alone', async () => {
    await begin({ servers: { a: STDIO, b: { url: one.url } } });
    const kept = await connect('/a/mcp');
    await echo(kept);
    const told = await reload({ servers: { a: STDIO, c: { url: other.url } } }, DONE);
    expect(told).toContain('"changed":["b","c"]');
    // a stdio session lives in its process, which still runs
    await echo(kept);
    await echo(await connect('/c/mcp'));
    await expect(connect('/b/mcp')).rejects.toThrow('No server is called');
  });

  it('warns of what is new in it, and not again of what was there before', async () => {
    // a folder that a server is given must not have files or an audit log in it
    const elsewhere = { objects: { use: 'memory' }, audit: { use: 'none' } };
    const missing = (name: string) => ({ command: [name] });
    const warning = (name: string) => `is not found in PATH (it is \\"${name}\\").`;
    await begin({ ...elsewhere, servers: { a: missing('no-such-first') } });
    await until(() => gateway.logged().includes(warning('no-such-first')));
    const servers = { a: missing('no-such-first'), b: missing('no-such-second') };
    const told = await reload({ ...elsewhere, servers }, DONE);
    expect(told).toContain(warning('no-such-second'));
    expect(told).not.toContain(warning('no-such-first'));
    const place = { command: [process.execPath, '-e', '', folder] };
    const served = { ...elsewhere, servers: { ...servers, c: place } };
    expect(await reload(served, DONE)).toContain('a change is read only on SIGHUP');
  });

  it('lets a running call finish at the server that it was made to, while new ones go to the other', async () => {
    await begin({ servers: { a: { url: one.url } } });
    const before = await connect('/a/mcp');
    const [seen, ofOther] = [one.requests.length, other.requests.length];
    const content = [{ type: 'text', text: 'from the first' }];
    one.respond = ({ body }) => {
      if (!body.includes('tools/call')) return undefined;
      const { id } = JSON.parse(body.toString()) as { id: number };
      const answer = JSON.stringify({ jsonrpc: '2.0', id, result: { content } });
      return { headDelayMs: 1500, contentType: 'application/json', body: answer };
    };
    const call = echo(before);
    await until(() => one.requests.slice(seen).some(({ body }) => body.includes('tools/call')));
    await reload({ servers: { a: { url: other.url } } }, DONE);
    await echo(await connect('/a/mcp'));
    expect(other.requests.length).toBeGreaterThan(ofOther);
    expect(JSON.stringify(await call)).toContain('from the first');
    one.respond = undefined;
  });

  it('lets new keys in and withdraws old ones at once', async () => {
    const auth = (...names: string[]) => ({
      use: 'apiKeys',
      keys: names.map((name) => ({ name, hash: keyHash(`${name}-0123456789`) })),
    });
    const servers = { a: { url: one.url } };
    await begin({ servers, auth: auth('ada') });
    const ada = await connect('/mcp', 'ada-0123456789');
    await reload({ servers, auth: auth('bob') }, DONE);
    await echo(await connect('/mcp', 'bob-0123456789'));
    await expect(echo(ada)).rejects.toThrow('A valid API key is required');
  });

  it('lets a second key of a caller in, with which its session goes on when the first one is withdrawn', async () => {
    const auth = (...keys: string[]) => ({
      use: 'apiKeys',
      keys: keys.map((key) => ({ name: 'ada', hash: keyHash(`${key}-0123456789`) })),
    });
    const servers = { a: { url: one.url } };
    await begin({ servers, auth: auth('first') });
    const first = await connect('/mcp', 'first-0123456789');
    const session = (first.transport as StreamableHTTPClientTransport).sessionId ?? '';
    const withSecond = () =>
      fetch(new URL('/mcp', gateway.url), {
        method: 'POST',
        headers: {
          authorization: 'Bearer second-0123456789',
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
          'mcp-session-id': session,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
      });
    expect((await withSecond()).status).toBe(401);
    await reload({ servers, auth: auth('first', 'second') }, DONE);
    await echo(first);
    expect((await withSecond()).status).toBe(200);
    await reload({ servers, auth: auth('second') }, DONE);
    await expect(echo(first)).rejects.toThrow('A valid API key is required');
    expect((await withSecond()).status).toBe(200);
  });

  it('ends the streams of keys that are withdrawn, and no other', async () => {
    const auth = (...names: string[]) => ({
      use: 'apiKeys',
      keys: names.map((name) => ({ name, hash: keyHash(`${name}-0123456789`) })),
    });
    const servers = { a: { url: one.url } };
    await begin({ servers, auth: auth('ada', 'bob') });
    one.respond = endlessStream;
    const ofBob = [await openStream('GET', 'bob'), await openStream('POST', 'bob')];
    const ofAda = [await openStream('GET', 'ada'), await openStream('POST', 'ada')];
    await reload({ servers, auth: auth('ada') }, DONE);
    await until(() => ofBob.every(({ isOver }) => isOver));
    expect(ofAda.map(({ isOver }) => isOver)).toEqual([false, false]);
    one.respond = undefined;
  });

  it('ends the streams of a server that is replaced, which is not a failure of the server', async () => {
    await begin({ servers: { a: { url: one.url } } });
    one.respond = endlessStream;
    const streams = [await openStream('GET', 'ada'), await openStream('POST', 'ada')];
    await reload({ servers: { a: { url: other.url } } }, DONE);
    await until(() => streams.every(({ isOver }) => isOver));
    one.respond = undefined;
    const lines = () => gateway.logged().match(/.*"text":"exchange".*/g) ?? [];
    await until(() => lines().length === 2);
    expect(lines().join()).not.toContain('"error"');
    expect(gateway.logged()).not.toContain('broke off');
    expect(gateway.logged().match(/"streams":1,"text":"streams were ended: their server was replaced/g)).toHaveLength(
      2,
    );
  });

  it('takes over limits, of the process and of callers, and leaves sessions alone', async () => {
    const servers = { a: STDIO };
    await begin({ servers, limits: { sessions: 5 } });
    const kept = await connect('/mcp');
    await echo(kept);
    const told = await reload({ servers, limits: { sessions: 6, held: '300MiB', requestsPerMinute: 4 } }, DONE);
    expect(told).toContain('"keys":["limits"],"changed":[]');
    const answers = await Promise.allSettled([1, 2, 3, 4, 5, 6].map(() => echo(kept)));
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
    const [refused] = answers.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
    expect(String(refused?.reason)).toContain('You may send 4 requests a minute here');
    await reload(
      { servers, limits: { sessions: 6, held: '300MiB' }, callers: [{ limits: { message: '1KiB' } }] },
      DONE,
    );
    await echo(kept);
    const long = kept.callTool({ name: 'echo', arguments: { text: 'x'.repeat(2000) } });
    await expect(long).rejects.toThrow(/too large|limits\.message/);
  });

  it('takes over the limits of single tools', async () => {
    const servers = (limits: object) => ({ a: { url: one.url, tools: { 'ech*': { limits } } } });
    await begin({ servers: servers({ requestsPerMinute: 1 }) });
    const client = await connect('/mcp');
    await echo(client);
    await expect(echo(client)).rejects.toThrow('You may call the tool \\"echo\\" once a minute here');
    await reload({ servers: servers({ message: '1KiB' }) }, DONE);
    await echo(client);
    const long = client.callTool({ name: 'echo', arguments: { text: 'x'.repeat(2000) } });
    await expect(long).rejects.toThrow('servers.a.tools[\\"ech*\\"].limits.message');
  });

  it('takes over the rules about which file may go to which server', async () => {
    const inputSchema = { type: 'object', properties: { doc: { type: 'string' } } };
    const data = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(100_000)]).toString('base64');
    const upstream = await RecordingUpstream.start({
      tools: [{ name: 'ocr', inputSchema }],
      methods: {
        'tools/call': ({ arguments: args }) =>
          (args as { doc?: string }).doc === undefined
            ? { content: [{ type: 'resource', resource: { uri: 'a://b', blob: data } }] }
            : { content: [{ type: 'text', text: 'seen' }] },
      },
    });
    const files = { doc: { encoding: 'base64' } };
    const servers = { hr: { url: upstream.url }, web: { url: upstream.url, tools: { ocr: { files } } } };
    await begin({ servers });
    const shown = JSON.stringify(await (await connect('/hr/mcp')).callTool({ name: 'ocr', arguments: {} }));
    const [doc] = /mcp-file:\/\/[\w/-]+/.exec(shown) ?? [];
    const give = async () =>
      JSON.stringify(await (await connect('/web/mcp')).callTool({ name: 'ocr', arguments: { doc } }));
    expect(await give()).toContain('seen');
    await reload({ servers, flow: [{ deny: { from: 'hr', to: 'web' } }] }, DONE);
    expect(await give()).toContain('handoffDenied');
    await reload({ servers, flow: [{ deny: { from: 'hr', to: 'hr' } }] }, DONE);
    expect(await give()).toContain('seen');
    await upstream.stop();
  });

  it('writes more lines and fewer, and no session ends for it', async () => {
    const servers = { a: { url: one.url } };
    await begin({ servers, logLevel: 'warn' });
    const client = await connect('/mcp');
    const before = gateway.logged();
    await client.ping();
    expect(await reload({ servers, logLevel: 'info' }, DONE)).toContain('"keys":["logLevel"]');
    expect(before).not.toContain('"text":"exchange"');
    await client.ping();
    await until(() => /"method":"ping".*"text":"exchange"/.test(gateway.logged()));
  });

  it.each<[string, object | string, RegExp, string]>([
    ['has a problem', { servers: { a: { url: 'nowhere' } } }, /nothing was changed/, 'servers.a.url'],
    ['cannot be read', '{ servers: [', /nothing was changed/, 'wharf.yaml'],
    [
      'needs a restart',
      {
        servers: {},
        limits: { file: '7MB', sockets: 77 },
        retention: '7h',
        secret: 'of thirty-two bytes, or some more',
      },
      /nothing was changed/,
      '"keys":["retention","secret","limits.sockets"]',
    ],
  ])('changes nothing when it %s, and says why', async (_why, config, told, named) => {
    const servers = { a: { url: one.url } };
    await begin({ servers });
    const client = await connect('/mcp');
    const next = typeof config === 'object' && 'retention' in config ? { ...config, servers } : config;
    expect(await reload(next, told)).toContain(named);
    await echo(client);
  });

  it('is taken from the file as soon as that is another one, without a signal', async () => {
    await begin({ servers: { a: { url: one.url } } });
    const next = join(folder, 'next.yaml');
    await writeFile(next, JSON.stringify({ ...base(), servers: { a: { url: one.url }, b: { url: other.url } } }));
    await rename(next, gateway.file);
    await until(() => DONE.test(gateway.logged()));
    await echo(await connect('/b/mcp'));
  });
});
