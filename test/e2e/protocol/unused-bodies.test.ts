import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { keyHash } from '../../helpers/bytes.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RawSocket } from '../../helpers/raw-socket.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const KEY = 'a-key-of-adas-which-is-long-enough';
const PING = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'ping' });
const TYPES = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };

let upstream: RecordingUpstream;
let wharf: Wharf;

beforeAll(async () => {
  upstream = await RecordingUpstream.start({});
  wharf = await startWharf({
    servers: { s: { url: upstream.url, transport: 'streamable-http' } },
    config: { timeouts: { idle: '1s' } },
  });
});

afterAll(async () => {
  await wharf.stop();
  await upstream.stop();
});

const pathOf = (address: string) => new URL(address).pathname;
const open = (at: Wharf) => RawSocket.open(Number(new URL(at.mcp).port));
const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));

describe('the body of a GET or DELETE', () => {
  const headersOf = async (client: RawClient) => {
    const { host: _, ...headers } = client.headers() as Record<string, string>;
    return headers;
  };

  it.each([
    ['none', {}, ''],
    ['none, and says so', { 'Content-Length': 0 }, ''],
    ['an empty object', { 'Content-Length': 2 }, '{}'],
    ['chunks', { 'Transfer-Encoding': 'chunked' }, '2\r\n{}\r\n0\r\n\r\n'],
  ])('is read and not used: %s', async (_what, lengths, body) => {
    const client = await RawClient.connect(wharf.mcp);
    const socket = await open(wharf);
    socket.head(`DELETE ${pathOf(wharf.mcp)}`, { ...(await headersOf(client)), ...lengths });
    socket.send(body);
    const [first] = statuses(await socket.until(/\r\n\r\n/));
    expect(first).toBeLessThan(300);
    socket.head(`POST ${pathOf(wharf.mcp)}`, {
      ...(await headersOf(client)),
      ...TYPES,
      'Content-Length': PING.length,
    });
    socket.send(PING);
    expect(statuses(await socket.until(/HTTP[\s\S]*HTTP\/1\.1 \d+ /))).toEqual([first, 404]);
    socket.reset();
  });

  it.each(['GET', 'DELETE'])('of a %s that never ends is not waited for without end', async (method) => {
    const client = await RawClient.connect(wharf.mcp);
    const socket = await open(wharf);
    const headers = { ...(await headersOf(client)), Accept: 'text/event-stream', 'Content-Length': 10 };
    socket.head(`${method} ${pathOf(wharf.mcp)}`, headers);
    socket.send('{');
    const answer = await socket.toEnd();
    expect(statuses(answer)).toEqual([504]);
    expect(answer).toContain('"code":"idle_timeout"');
  });

  it.each(['GET', 'DELETE'])('of a %s is refused where it is long', async (method) => {
    const client = await RawClient.connect(wharf.mcp);
    const body = Buffer.alloc(70_000, 'x');
    const socket = await open(wharf);
    const headers = { ...(await headersOf(client)), Accept: 'text/event-stream', 'Content-Length': body.length };
    socket.head(`${method} ${pathOf(wharf.mcp)}`, headers);
    socket.send(body);
    expect(await socket.until(/64 KiB at most/)).toMatch(/^HTTP\/1\.1 400 /);
    socket.reset();
  });
});

describe('a message whose client waits for 100 Continue', () => {
  let guarded: Wharf;

  beforeAll(async () => {
    guarded = await startWharf({
      servers: { s: { url: upstream.url, transport: 'streamable-http' } },
      config: { auth: { use: 'apiKeys', keys: [{ name: 'ada', hash: keyHash(KEY) }] } },
    });
  });

  afterAll(() => guarded?.stop());

  const expecting = async (headers: Record<string, string>) => {
    const socket = await open(guarded);
    const length = { 'Content-Length': PING.length, Expect: '100-continue' };
    socket.head(`POST ${pathOf(guarded.mcp)}`, { ...TYPES, ...length, ...headers });
    return socket;
  };
  const authorization = `Bearer ${KEY}`;

  it.each<[string, Record<string, string>, number]>([
    ['its caller is not known', {}, 401],
    ['it is of another type', { authorization, 'Content-Type': 'text/plain' }, 415],
    ['it is compressed', { authorization, 'Content-Encoding': 'br' }, 415],
  ])('is refused before it is sent where %s', async (_why, headers, status) => {
    expect(statuses(await (await expecting(headers)).toEnd())).toEqual([status]);
  });

  it('is asked for, and answered', async () => {
    const socket = await expecting({ authorization });
    expect(await socket.until(/\r\n\r\n/)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.send(PING);
    expect(statuses(await socket.toEnd())).toEqual([100, expect.any(Number)]);
  });
});
