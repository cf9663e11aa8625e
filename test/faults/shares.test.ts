import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { keyHash } from '../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../helpers/fake-upstream.js';
import { gauge } from '../helpers/fault-checks.js';
import { RawClient } from '../helpers/raw-client.js';
import { RawSocket } from '../helpers/raw-socket.js';
import { until } from '../helpers/wait.js';
import { startWharf, type Wharf } from '../helpers/wharf.js';

const KEYS = { alice: 'alice-0123456789', mallory: 'mallory-0123456789' };
const bearer = (who: keyof typeof KEYS) => ({ authorization: `Bearer ${KEYS[who]}` });

const KIB = 1024;
/** Small, so that one honest message is little and a share of what is held has room for several. */
const MESSAGES = { message: '256KiB', response: '1MiB', inlineArgument: '64KiB' };

describe('one caller cannot take what another needs:', () => {
  let fake: FakeUpstream;
  let wharf: Wharf;
  let sockets: RawSocket[];

  const start = async (config: Record<string, unknown>) => {
    const keys = Object.entries(KEYS).map(([name, key]) => ({
      name,
      hash: keyHash(key),
    }));
    wharf = await startWharf({
      servers: { fake: { url: fake.url } },
      config: { auth: { use: 'apiKeys', keys }, ...config },
    });
  };
  const connect = (who: keyof typeof KEYS) => RawClient.connect(wharf.mcp, '2025-06-18', { headers: bearer(who) });
  const socket = async () => {
    const opened = await RawSocket.open(Number(new URL(wharf.url).port));
    sockets.push(opened);
    return opened;
  };

  beforeEach(async () => {
    sockets = [];
    fake = await startFakeUpstream({ transport: 'sse', session: true });
  });
  afterEach(async () => {
    for (const one of sockets) one.reset();
    await wharf?.stop();
    await fake.close();
  });

  it('memory for messages, by POSTs that are never finished (G36)', async () => {
    await start({ limits: { ...MESSAGES, held: '8MiB' } });
    const head = { ...bearer('mallory'), 'Content-Type': 'application/json', Accept: 'text/event-stream' };
    const answers: Promise<string>[] = [];
    for (let n = 0; n < 40; n += 1) {
      const one = await socket();
      one.head('POST /mcp', { ...head, 'Content-Length': 1_000_000 });
      one.send(`{"a":"${'x'.repeat(250 * KIB)}`);
      answers.push(one.until(/share of the messages/));
    }
    expect(await Promise.any(answers)).toMatch(/^HTTP\/1\.1 503 [\s\S]*"full":"principal"/);
    await until(async () => (await gauge(wharf.adminUrl, 'wharf_held_bytes')) > 1_500 * KIB);
    const { result } = await (await connect('alice')).request('tools/list', {});
    expect(result).toBeDefined();
  });

  it('connections to a server, by streams that stay open', async () => {
    await start({ limits: { connections: 8 }, timeouts: { queue: '1s' } });
    const refused: Promise<string>[] = [];
    for (let n = 0; n < 8; n += 1) {
      const client = await connect('mallory');
      const one = await socket();
      const { 'mcp-session-id': session = '' } = client.headers() as Record<string, string>;
      one.head('GET /mcp', { ...bearer('mallory'), Accept: 'text/event-stream', 'Mcp-Session-Id': session });
      refused.push(one.until(/"code":"connection_limit"/));
    }
    expect(await Promise.any(refused)).toMatch(/^HTTP\/1\.1 503 [\s\S]*"full":"principal"[\s\S]*limits\.connections/);
    const { result } = await (await connect('alice')).request('tools/list', {});
    expect(result).toBeDefined();
  });

  it('connections, by requests that stay open', async () => {
    await start({ limits: { sockets: 32 } });
    const head = { ...bearer('mallory'), 'Content-Type': 'application/json', Accept: 'text/event-stream' };
    const answers: Promise<string>[] = [];
    for (let n = 0; n < 12; n += 1) {
      const one = await socket();
      one.head('POST /mcp', { ...head, 'Content-Length': 1000 });
      one.send('{');
      answers.push(one.until(/share of the requests/));
    }
    expect(await Promise.any(answers)).toMatch(/^HTTP\/1\.1 503 [\s\S]*"code":"sockets_full","full":"principal"/);
    const { result } = await (await connect('alice')).request('tools/list', {});
    expect(result).toBeDefined();
  });

  it('keys of the state store, by links to upload that are not used', async () => {
    await start({ state: { use: 'memory', maxKeys: 200 } });
    const mallory = await connect('mallory');
    const outcomes = new Set<unknown>();
    for (let n = 0; n < 60; n += 1) {
      const { error } = await mallory.request('files/authorizeUpload', { name: 'a.bin' });
      outcomes.add(error?.data?.code);
      if (error) expect(error.data).toMatchObject({ code: 'state_full', full: 'principal', limit: 'state.maxKeys' });
    }
    expect([...outcomes]).toEqual([undefined, 'state_full']);
    const { result } = await (await connect('alice')).request('tools/list', {});
    expect(result).toBeDefined();
  });
});
