import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startFakeUpstream } from '../helpers/fake-upstream.js';
import {
  BLOB,
  expectNothingLeft,
  expectWorking,
  readiness,
  sizeBehind,
  untilStoring,
} from '../helpers/fault-checks.js';
import { FaultProxy } from '../helpers/fault-proxy.js';
import { type FaultStores, filesystemStores, SECRET, s3Stores } from '../helpers/fault-stores.js';
import { type FaultUpstream, startFaultUpstream, stdioServers } from '../helpers/fault-upstream.js';
import { OwnRedis } from '../helpers/own-redis.js';
import { RawClient } from '../helpers/raw-client.js';
import { until } from '../helpers/wait.js';
import { startWharf, type Wharf } from '../helpers/wharf.js';

/** What the metrics say of the parts that a process cannot do without. */
async function partsUp(adminUrl: string): Promise<string[]> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const lines = [...text.matchAll(/^wharf_part_up\{part="(\w+)"(?:,cause="[^"]+")?\} ([01])$/gm)];
  return lines.map(([, part, value]) => `${part} ${value}`).sort();
}

const DOWN = { code: -32603, data: { code: 'state_unavailable' } };

describe.each(['filesystem', 's3'] as const)('a gateway with files in %s and state in a Redis', (kind) => {
  let upstream: FaultUpstream;
  let redis: OwnRedis;
  let stores: FaultStores;
  let wharf: Wharf;

  beforeEach(async () => {
    upstream = await startFaultUpstream('sse');
    redis = await OwnRedis.start();
    stores = kind === 's3' ? s3Stores() : await filesystemStores();
    const config = { ...stores.config, state: { use: 'redis', url: redis.url }, secret: SECRET };
    wharf = await startWharf({ servers: { sound: upstream.server }, config });
  });
  afterEach(async () => {
    await wharf?.stop();
    await upstream.close();
    await redis.stop();
    await stores.close();
  });

  const ways: [string, () => Promise<void>, () => Promise<void>][] = [
    ['that is killed and started again', () => redis.kill(), () => redis.restart()],
    ['that stops answering and goes on', async () => redis.signal('SIGSTOP'), async () => redis.signal('SIGCONT')],
  ];

  it.each(ways)(
    '%s: an error says so, nothing stays, and it needs no restart (R9, G7)',
    async (_way, takeAway, giveBack) => {
      const client = await RawClient.connect(wharf.mcp);
      const answer = client.call('blob', BLOB);
      await untilStoring(wharf.adminUrl, stores);
      await takeAway();
      upstream.goOn();
      const { error } = await answer;
      expect(error).toMatchObject(DOWN);
      expect(error?.message).toMatch(/^The state store is not available/);
      await expectNothingLeft(wharf.adminUrl, stores);
      const down = await readiness(wharf.adminUrl);
      expect(down.status).toBe(503);
      expect(down.parts).toMatchObject({ state: expect.stringMatching(/^The state store/), objects: 'ok' });
      // the metrics say so too: a balancer now sends nothing that could be counted as failed
      await until(async () => {
        const up = await partsUp(wharf.adminUrl);
        return up.length === 2 && up[0] === 'objects 1' && up[1] === 'state 0';
      });
      // a session that is known goes on, a new one cannot begin
      expect((await client.call('echo', { text: 'here' })).result?.content?.[0]?.text).toBe('here');
      await expect(RawClient.connect(wharf.mcp)).rejects.toThrow(/503.*state_unavailable/);
      await giveBack();
      await until(async () => (await readiness(wharf.adminUrl)).status === 200);
      await until(async () => (await partsUp(wharf.adminUrl)).includes('state 1'));
      await expectWorking(wharf.mcp);
      await expectNothingLeft(wharf.adminUrl, stores, { kept: 1 });
    },
  );
});

describe('a stdio server whose only process has a session that rests', () => {
  it('is not started anew, and the session goes on, while a Redis that is down can keep no other one', async () => {
    const upstream = await startFaultUpstream('stdio');
    const redis = await OwnRedis.start();
    const stores = await filesystemStores();
    const config = { ...stores.config, state: { use: 'redis', url: redis.url }, secret: SECRET };
    const wharf = await startWharf({ servers: { sound: { ...upstream.server, limits: { processes: 1 } } }, config });
    try {
      const client = await RawClient.connect(wharf.mcp);
      const before = stdioServers();
      expect(before).toHaveLength(1);
      await redis.kill();
      for (const _ of [1, 2]) await expect(RawClient.connect(wharf.mcp)).rejects.toThrow(/503.*state_unavailable/);
      expect(stdioServers()).toEqual(before);
      expect((await client.call('echo', { text: 'here' })).result?.content?.[0]?.text).toBe('here');
    } finally {
      await wharf.stop();
      await upstream.close();
      await redis.stop();
      await stores.close();
    }
  });
});

describe.each(['json', 'sse'] as const)('a server over %s with sessions of its own', (transport) => {
  it('is told to end the one that a Redis that is down cannot keep, because its client never learns of it', async () => {
    const upstream = await startFakeUpstream({ transport, session: true });
    const redis = await OwnRedis.start();
    const stores = await filesystemStores();
    const config = { ...stores.config, state: { use: 'redis', url: redis.url }, secret: SECRET };
    const wharf = await startWharf({ servers: { sound: { url: upstream.url } }, config });
    try {
      const client = await RawClient.connect(wharf.mcp);
      const known = upstream.requests.find(({ headers }) => headers['mcp-session-id'] !== undefined);
      await redis.kill();
      await expect(RawClient.connect(wharf.mcp)).rejects.toThrow(/503.*state_unavailable/);
      const ends = () => upstream.requests.filter(({ method }) => method === 'DELETE');
      await until(() => ends().length > 0);
      expect(ends().map(({ headers }) => headers)).toEqual([
        expect.objectContaining({ 'mcp-session-id': expect.any(String), 'mcp-protocol-version': '2025-06-18' }),
      ]);
      expect(ends()[0]?.headers['mcp-session-id']).not.toBe(known?.headers['mcp-session-id']);
      expect((await client.call('echo', { text: 'here' })).result?.content?.[0]?.text).toBe('here');
    } finally {
      await wharf.stop();
      await upstream.close();
      await redis.stop();
      await stores.close();
    }
  });
});

describe('a Redis that loses everything', () => {
  it('takes no bytes of a file in use with it: its link works once its record is restored, and the log says what to do', async () => {
    const upstream = await startFaultUpstream('json');
    const redis = await OwnRedis.start();
    const stores = await filesystemStores();
    const wharf = await startWharf({
      servers: { sound: upstream.server },
      config: { ...stores.config, state: { use: 'redis', url: redis.url }, secret: SECRET, retention: '12s' },
    });
    try {
      const begun = performance.now();
      const client = await RawClient.connect(wharf.mcp);
      const { result } = await client.call('blob', { size: 700_000 });
      const link = /http[^"\\ ]*\/d\/[\w-]+/.exec(JSON.stringify(result))?.[0] ?? '';
      // the record is looked at once its first retention is over, and often from then on
      await until(async () => {
        expect((await fetch(link)).status).toBe(200);
        return performance.now() - begun > 13_000;
      });
      const key = await redis.command('keys', 'wharf:file:*');
      const record = await redis.command('get', key);
      await redis.command('flushall');
      await until(() => wharf.lines.some(({ text }) => text.includes('stop every Wharf within 45 minutes')));
      expect((await fetch(link)).status).toBe(410);
      await redis.command('set', key, record, 'px', '60000');
      expect((await fetch(link)).status).toBe(200);
    } finally {
      await wharf.stop();
      await upstream.close();
      await redis.stop();
      await stores.close();
    }
  });
});

describe('a session of a stdio server that a Redis has lost', () => {
  it('ends with the stream on which its client listens, and its process makes room for the next one', async () => {
    const upstream = await startFaultUpstream('stdio');
    const redis = await OwnRedis.start();
    const stores = await filesystemStores();
    const wharf = await startWharf({
      servers: { sound: { ...upstream.server, limits: { processes: 1 } } },
      config: {
        ...stores.config,
        state: { use: 'redis', url: redis.url },
        secret: SECRET,
        timeouts: { session: '8s' },
      },
    });
    try {
      const client = await RawClient.connect(wharf.mcp);
      const listening = await fetch(wharf.mcp, { headers: { ...client.headers(), accept: 'text/event-stream' } });
      expect(listening.status).toBe(200);
      const heard = listening.text();
      await redis.command('flushall');
      // it is extended now and then, at a request
      await until(async () => (await client.post({ jsonrpc: '2.0', id: 1, method: 'ping' })).status === 404);
      await heard;
      const next = await RawClient.connect(wharf.mcp);
      expect((await next.call('echo', { text: 'here' })).result?.content?.[0]?.text).toBe('here');
    } finally {
      await wharf.stop();
      await upstream.close();
      await redis.stop();
      await stores.close();
    }
  });
});

describe('a Redis that carries out a command whose answer is lost', () => {
  let upstream: FaultUpstream;
  let redis: OwnRedis;
  let proxy: FaultProxy;
  let stores: FaultStores;
  let wharf: Wharf;

  beforeEach(async () => {
    upstream = await startFaultUpstream('json');
    redis = await OwnRedis.start();
    proxy = await FaultProxy.start(redis.url);
    stores = await filesystemStores();
    const state = { use: 'redis', url: proxy.url.replace('http', 'redis') };
    wharf = await startWharf({
      servers: { sound: upstream.server },
      // links that last as long as their files have no ticket in the state store
      config: { ...stores.config, state, secret: SECRET, links: { ttl: '15m' } },
    });
  });
  afterEach(async () => {
    await wharf?.stop();
    await upstream.close();
    await proxy.close();
    await redis.stop();
    await stores.close();
  });

  const lose = async (loseAnswerTo: RegExp) => {
    const client = await RawClient.connect(wharf.mcp);
    proxy.set({ loseAnswerTo });
    const first = await client.call('blob', { size: 700_000 });
    expect(proxy.lost).toBe(1);
    proxy.set({});
    await until(async () => (await readiness(wharf.adminUrl)).status === 200);
    return { first, again: await client.call('blob', { size: 700_000 }) };
  };

  it.each([
    ['the record of a file', /\bset\b.*wharf:file:/is],
    ['the ticket of a file', /\bset\b.*wharf:ticket:/is],
  ])('about %s: an error says so, and the next one is stored and linked', async (_what, command) => {
    const { first, again } = await lose(command);
    expect(first.error).toMatchObject(DOWN);
    expect(again.error).toBeUndefined();
    expect(await sizeBehind(again)).toBe(700_000);
    await expectNothingLeft(wharf.adminUrl, stores, { kept: 1 });
  });

  it('about the digest of a file: every link that was given out works', async () => {
    const { first, again } = await lose(/\bset\b.*wharf:digest:/is);
    for (const answer of [first, again]) if (answer.result) expect(await sizeBehind(answer)).toBe(700_000);
    expect(again.error).toBeUndefined();
    await expectNothingLeft(wharf.adminUrl, stores, { kept: 1 });
  });
});
