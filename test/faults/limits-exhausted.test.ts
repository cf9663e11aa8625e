import { createServer } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { keyHash } from '../helpers/bytes.js';
import { TRANSPORTS } from '../helpers/cut-upstreams.js';
import { BLOB, expectNothingLeft, expectWorking, gauge } from '../helpers/fault-checks.js';
import { type FaultStores, s3Stores } from '../helpers/fault-stores.js';
import { type FaultUpstream, startFaultUpstream } from '../helpers/fault-upstream.js';
import { listen } from '../helpers/loopback.js';
import { RawClient } from '../helpers/raw-client.js';
import { until } from '../helpers/wait.js';
import { startWharf, type Wharf } from '../helpers/wharf.js';

/** What the config's least `limits.partMemory` holds: one part of S3's size. */
const ONE_PART = 5 * 1024 * 1024;
const ONE_MIB = 1024 * 1024;

describe.each(TRANSPORTS)('over %s', (transport) => {
  let upstream: FaultUpstream;
  let stores: FaultStores;
  let wharf: Wharf;

  const start = async (config: Record<string, unknown>) => {
    wharf = await startWharf({ servers: { sound: upstream.server }, config: { ...stores.config, ...config } });
  };
  /** A file that has taken the only part and does not go on. */
  const occupy = async () => {
    const client = await RawClient.connect(wharf.mcp);
    const answer = client.call('blob', BLOB);
    await until(async () => (await gauge(wharf.adminUrl, 'wharf_part_memory_bytes')) === ONE_PART);
    return { answer };
  };

  beforeEach(async () => {
    upstream = await startFaultUpstream(transport);
    stores = s3Stores();
  });
  afterEach(async () => {
    await wharf?.stop();
    await upstream.close();
    await stores.close();
  });

  it('files wait for limits.partMemory in the order in which they came', async () => {
    // previews are made side by side: a later file's may be ready first
    await start({ limits: { partMemory: ONE_PART }, previews: { use: 'none' } });
    const first = await occupy();
    const finished: number[] = [];
    const others: Promise<unknown>[] = [];
    for (let n = 1; n <= 4; n += 1) {
      const client = await RawClient.connect(wharf.mcp);
      others.push(client.call('blob', { size: 700_000, seed: n }).then(({ error }) => finished.push(error ? -n : n)));
      await until(async () => (await gauge(wharf.adminUrl, 'wharf_queue_length')) === n);
    }
    expect(finished).toEqual([]);
    upstream.goOn();
    expect((await first.answer).error).toBeUndefined();
    await Promise.all(others);
    expect(finished).toEqual([1, 2, 3, 4]);
    await expectNothingLeft(wharf.adminUrl, stores, { kept: 5 });
  });

  it('a file that waits longer than timeouts.queue ends with an error that names limits.partMemory (R7)', async () => {
    await start({ limits: { partMemory: ONE_PART }, timeouts: { queue: '300ms' } });
    const first = await occupy();
    const client = await RawClient.connect(wharf.mcp);
    const { error } = await client.call('blob', { size: 700_000 });
    expect(error).toMatchObject({
      code: -32603,
      data: { code: 'part_memory_full', limit: 'limits.partMemory', allowed: ONE_PART, waited: 300 },
    });
    expect(error?.message).toMatch(/Too many files .* waited 300 ms/);
    upstream.goOn();
    expect((await first.answer).error).toBeUndefined();
    await expectNothingLeft(wharf.adminUrl, stores, { kept: 1 });
    await expectWorking(wharf.mcp);
  });

  it('a client that goes while its file waits gives up its place', async () => {
    await start({ limits: { partMemory: ONE_PART } });
    const first = await occupy();
    const client = await RawClient.connect(wharf.mcp);
    const gone = new AbortController();
    const call = {
      jsonrpc: '2.0',
      id: 5,
      method: 'tools/call',
      params: { name: 'blob', arguments: { size: 700_000 } },
    };
    const waiting = fetch(wharf.mcp, {
      method: 'POST',
      headers: { ...client.headers(), 'content-type': 'application/json' },
      body: JSON.stringify(call),
      signal: gone.signal,
    }).then((response) => response.text());
    await until(async () => (await gauge(wharf.adminUrl, 'wharf_queue_length')) === 1);
    gone.abort();
    await expect(waiting).rejects.toThrow(/abort/);
    upstream.goOn();
    expect((await first.answer).error).toBeUndefined();
    await expectNothingLeft(wharf.adminUrl, stores, { kept: 1 });
    await expectWorking(wharf.mcp);
  });

  it('a message beyond limits.held ends with an error that names it, and those that are held go on', async () => {
    await start({ limits: { held: ONE_MIB } });
    const one = await RawClient.connect(wharf.mcp);
    const two = await RawClient.connect(wharf.mcp);
    // below limits.inlineResource, so that it stays in its message
    const resource = { uri: 'blob://600000' };
    const held = one.request('resources/read', { ...resource, arguments: { stopAfter: 780_000 } });
    await until(async () => (await gauge(wharf.adminUrl, 'wharf_held_bytes')) > 700_000);
    const { error } = await two.request('resources/read', resource);
    expect(error).toMatchObject({
      code: -32603,
      data: { code: 'held_full', limit: 'limits.held', allowed: ONE_MIB },
    });
    expect(error?.message).toMatch(/Too many messages .* 1 MB/);
    upstream.goOn();
    const { result } = await held;
    expect(result).toMatchObject({ contents: [{ blob: expect.stringMatching(/^.{800000}$/) }] });
    await expectNothingLeft(wharf.adminUrl, stores);
    await expectWorking(wharf.mcp);
  });
});

it('an operator gets into the console while limits.held is full to the last byte', async () => {
  const silent = createServer();
  const key = 'ann-0123456789';
  const wharf = await startWharf({
    servers: { silent: { url: `http://127.0.0.1:${await listen(silent)}/mcp` } },
    config: {
      limits: { held: ONE_MIB, message: ONE_MIB / 16, inlineArgument: ONE_MIB / 16 },
      console: { users: [{ name: 'ann', role: 'operator', hash: keyHash(key) }] },
    },
  });
  const gone = new AbortController();
  const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  for (let count = 0; count < 16; count++) {
    fetch(wharf.mcp, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: message.padEnd(ONE_MIB / 16),
      signal: gone.signal,
    }).catch(() => undefined);
  }
  await until(async () => (await gauge(wharf.adminUrl, 'wharf_held_bytes')) === ONE_MIB);
  const body = new URLSearchParams({ key });
  const login = await fetch(`${wharf.adminUrl}/login`, { method: 'POST', body, redirect: 'manual' });
  expect(login.status).toBe(303);
  gone.abort();
  await wharf.stop();
  silent.closeAllConnections();
  silent.close();
});
