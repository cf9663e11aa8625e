import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { create, settings } from '../../../adapters/state/redis.js';
import { UNSHARED } from '../../../gateway/budget/ledger.js';
import { runAll } from '../../../gateway/doctor/check.js';
import type { LogFields } from '../../../gateway/ports/log.js';
import type { StateStore } from '../../../gateway/ports/state-store.js';
import { FaultProxy } from '../../helpers/fault-proxy.js';
import { OwnRedis } from '../../helpers/own-redis.js';
import { silentLog } from '../../helpers/silent-log.js';
import { until } from '../../helpers/wait.js';
import { startPeer } from '../transfer/peer.js';

/** For tests in which Redis does not answer, or not what is asked. */
const STATE_TIMEOUT_MS = 1000;
/** For tests in which nothing is late: a busy machine may answer as late as it likes. */
const PATIENT_MS = 60_000;
const HOUR = 3_600_000;
const UNAVAILABLE = { code: 'state_unavailable', httpStatus: 503 };

/** Every verb, each of which has to fail closed. */
const VERBS: [string, (store: StateStore) => Promise<unknown>][] = [
  ['create', (store) => store.create('k', 'v', HOUR)],
  ['read', (store) => store.read('k')],
  ['extend', (store) => store.extend('k', HOUR)],
  ['replace', (store) => store.replace('k', 'v', 'w', HOUR)],
  ['take', (store) => store.take('k')],
  ['remove', (store) => store.remove('k')],
  ['check', (store) => store.check()],
];

describe('redis state store when Redis', () => {
  let redis: OwnRedis;
  let store: StateStore;
  let logged: [string, LogFields, string][];

  const open = (url = redis.url, state = PATIENT_MS) => {
    const log = {
      ...silentLog,
      info: (fields: LogFields, text: string) => logged.push(['info', fields, text]),
      warn: (fields: LogFields, text: string) => logged.push(['warn', fields, text]),
    };
    return create(settings.parse({ url }), {
      timeouts: { state },
      log,
      clock: { ticks: () => performance.now() },
      sharing: UNSHARED,
    });
  };

  /** Has a store that waits for an answer no longer than this. */
  const waitAtMost = async (ms: number, url?: string) => {
    await store.close();
    store = await open(url, ms);
  };

  /** Until it works again; jest's time-out bounds it. @returns how often it waited as long as it waits for an answer */
  const recover = async (): Promise<number> => {
    for (let late = 0; ; ) {
      try {
        await store.check();
        return late;
      } catch (error) {
        if (/did not answer within/.test(String((error as Error).cause))) late += 1;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  };

  beforeEach(async () => {
    logged = [];
    redis = await OwnRedis.start();
    store = await open();
  });
  afterEach(async () => {
    await store.close();
    await redis.stop();
  });

  it('stops answering: every verb fails, and works again as soon as it goes on', async () => {
    await waitAtMost(STATE_TIMEOUT_MS);
    await store.create('before', 'v', HOUR);
    redis.signal('SIGSTOP');
    const failures = await Promise.allSettled(VERBS.map(([, verb]) => verb(store)));
    for (const failure of failures) expect(failure).toMatchObject({ status: 'rejected', reason: UNAVAILABLE });
    redis.signal('SIGCONT');
    await recover();
    expect(await store.read('before')).toBe('v');
  });

  it('stops answering for long: the connection is given up with what is queued in it, and made again', async () => {
    await waitAtMost(STATE_TIMEOUT_MS);
    await store.create('before', 'v', HOUR);
    redis.signal('SIGSTOP');
    let last: unknown;
    for (let n = 0; n < 8; n += 1) last = await store.read('before').catch((error: unknown) => error);
    expect(last).toMatchObject(UNAVAILABLE);
    redis.signal('SIGCONT');
    await recover();
    expect(await store.read('before')).toBe('v');
    expect(logged.map(([level]) => level)).toEqual(['warn', 'info']);
  });

  it('loses commands on the way, and the connection goes on: no answer is taken for that of another', async () => {
    const proxy = await FaultProxy.start(redis.url);
    await waitAtMost(STATE_TIMEOUT_MS, proxy.url.replace('http:', 'redis:'));
    await store.create('first', 'of the first', HOUR);
    await store.create('second', 'of the second', HOUR);
    proxy.set({ drop: true });
    await expect(store.read('first')).rejects.toMatchObject(UNAVAILABLE);
    proxy.set({});
    expect(await recover()).toBeLessThan(4);
    expect(await store.read('second')).toBe('of the second');
    await proxy.close();
  });

  it.each([2, 5])('answers in time, and this process is busy for %i time-outs: nothing fails', async (timeouts) => {
    await waitAtMost(STATE_TIMEOUT_MS);
    await store.check();
    const reads = Array.from({ length: 20 }, (_, n) => store.read(`key ${n}`));
    const until = performance.now() + timeouts * STATE_TIMEOUT_MS;
    while (performance.now() < until);
    expect(await Promise.all(reads)).toEqual(Array(20).fill(undefined));
    expect(logged).toEqual([]);
  });

  it('is gone: every verb fails, and works again after its restart', async () => {
    await store.check();
    await redis.kill();
    for (const [, verb] of VERBS) await expect(verb(store)).rejects.toMatchObject(UNAVAILABLE);
    await until(() => logged.length > 0);
    await redis.restart();
    await recover();
    expect(await store.create('after', 'v', HOUR)).toBe(true);
    expect(await store.extend('after', 2 * HOUR)).toBe(true);
    expect(logged.map(([level]) => level)).toEqual(['warn', 'info']);
    expect(logged[0]?.[1].err).toHaveProperty('message', expect.stringContaining('ECONNREFUSED'));
  });

  it('was never there: the store can be made, fails, and works once it is started', async () => {
    await redis.kill();
    await store.close();
    store = await open();
    await expect(store.check()).rejects.toMatchObject(UNAVAILABLE);
    await redis.restart();
    await recover();
  });

  it('has no TLS, and its URL says rediss: the log and the error say which URL it takes', async () => {
    await store.close();
    store = await open(redis.url.replace('redis:', 'rediss:'), STATE_TIMEOUT_MS);
    const message = /; a Redis without TLS answers so to rediss:\/\/ in state\.url, and takes redis:\/\/$/;
    // before the connection is given up, as `wharf doctor` asks
    const early = (await store.check().catch((thrown: unknown) => thrown)) as Error;
    expect(early.cause).toHaveProperty('message', expect.stringMatching(message));
    await until(() => logged.length > 0);
    expect(logged[0]?.[1].err).toHaveProperty('message', expect.stringMatching(message));
    const { cause } = (await store.check().catch((thrown: unknown) => thrown)) as Error;
    expect(cause).toHaveProperty('message', expect.stringMatching(message));
  });

  it('has TLS, and its URL says redis: the log says which URL it takes', async () => {
    const withTls = createServer({}).listen(0, '127.0.0.1');
    await once(withTls, 'listening');
    await store.close();
    store = await open(`redis://127.0.0.1:${(withTls.address() as AddressInfo).port}`);
    await until(() => logged.length > 0);
    expect(logged[0]?.[1].err).toHaveProperty(
      'message',
      expect.stringMatching(/; a Redis with TLS answers so to redis:\/\/ in state\.url, and takes rediss:\/\/$/),
    );
    withTls.close();
  });

  it('has a certificate of a CA that is not known: the log says how to name that, and `wharf doctor` below what failed', async () => {
    const peer = await startPeer();
    await store.close();
    store = await open(`rediss://127.0.0.1:${new URL(peer.https).port}`);
    await until(() => logged.length > 0);
    expect(String(logged[0]?.[1].err)).toMatch(/self-signed certificate.*\. Wharf trusts .*NODE_EXTRA_CA_CERTS=/);
    const run = async () => ({ state: 'ok' as const, text: await store.check().then(String) });
    const check = { group: 'state', title: 'create', todo: 'Check state.url.', run };
    const [found] = await runAll([check], new AbortController().signal);
    expect(found?.todo).toMatch(/^Wharf trusts .*NODE_EXTRA_CA_CERTS=/);
    expect(found?.text).toContain('self-signed certificate');
    expect(found?.text).not.toContain('NODE_EXTRA_CA_CERTS');
    await peer.close();
  });

  it('was there, and closes the connection: the log does not speak of TLS', async () => {
    await store.check();
    await redis.kill();
    await until(() => logged.length > 0);
    expect(String(logged[0]?.[1].err)).not.toContain('TLS');
  });

  it('has become a replica: writes fail, and work again when it is a primary', async () => {
    await store.create('k', 'v', HOUR);
    await redis.command('replicaof', '127.0.0.1', '1');
    await expect(store.create('other', 'v', HOUR)).rejects.toMatchObject(UNAVAILABLE);
    await expect(store.check()).rejects.toMatchObject(UNAVAILABLE);
    await redis.command('replicaof', 'no', 'one');
    await recover();
    expect(await store.create('other', 'v', HOUR)).toBe(true);
  });

  it('removes keys when its memory is full: the log says so once, and again at a connection to another that does', async () => {
    await store.close();
    await redis.command('config', 'set', 'maxmemory', '100mb', 'maxmemory-policy', 'allkeys-lru');
    store = await open();
    await store.check();
    const told = (policy: string) => ['warn', { 'maxmemory-policy': policy, needed: 'noeviction' }, expect.any(String)];
    await until(() => logged.length > 0);
    expect(logged).toEqual([told('allkeys-lru')]);
    await redis.command('config', 'set', 'maxmemory-policy', 'volatile-ttl');
    await redis.command('client', 'kill', 'type', 'normal');
    await recover();
    await until(() => logged.length > 1);
    expect(logged).toContainEqual(told('volatile-ttl'));
  });

  it('is out of memory: writes fail and say so, reads go on', async () => {
    await store.create('k', 'v', HOUR);
    await redis.command('config', 'set', 'maxmemory', '1');
    const full = { code: 'state_full', message: 'The state store is full. Try again later.' };
    await expect(store.create('other', 'v', HOUR)).rejects.toMatchObject(full);
    await expect(store.check()).rejects.toMatchObject(full);
    await expect(store.replace('k', 'v', 'w', HOUR)).rejects.toMatchObject(full);
    await expect(store.tally('sum', [{ part: 'a', by: 1, ttlMs: HOUR }])).rejects.toMatchObject(full);
    expect(await store.read('k')).toBe('v');
    await redis.command('config', 'set', 'maxmemory', '0');
    expect(await store.create('other', 'v', HOUR)).toBe(true);
  });

  it('refuses the database that the URL names: nothing is written into another one', async () => {
    await redis.command('acl', 'setuser', 'wharf', 'on', '>password', '~*', '+@all', '-select');
    for (const url of [`${redis.url}/99`, `${redis.url.replace('//', '//wharf:password@')}/3`]) {
      const astray = await open(url);
      for (const [, verb] of VERBS) await expect(verb(astray)).rejects.toMatchObject(UNAVAILABLE);
      await astray.close();
    }
    expect(await redis.command('dbsize')).toBe('0');
    expect(logged.map(([, { err }]) => (err as Error).message)).toEqual([
      'ERR DB index is out of range',
      expect.stringMatching(/^NOPERM .*'select'/),
    ]);
    await redis.command('acl', 'setuser', 'wharf', '+select');
    await store.close();
    store = await open(`${redis.url.replace('//', '//wharf:password@')}/3`);
    await recover();
    expect(await store.create('k', 'v', HOUR)).toBe(true);
    expect(await redis.command('-n', '3', 'exists', 'wharf:k')).toBe('1');
  });

  it('forgets its scripts: they are sent again', async () => {
    await store.create('k', 'v', HOUR);
    await store.extend('k', HOUR);
    await redis.command('script', 'flush');
    expect(await store.extend('k', 2 * HOUR)).toBe(true);
    expect(await store.replace('k', 'v', 'w', HOUR)).toBe(true);
  });

  it('does not know us: neither the error nor the log tells password or values', async () => {
    await redis.command('config', 'set', 'requirepass', 'the-right-one');
    const stranger = await open(redis.url.replace('//', '//:the-wrong-password@'));
    const error = await stranger.create('the-key', 'the-value', HOUR).catch((thrown: unknown) => thrown);
    const { cause } = (await stranger.check().catch((thrown: unknown) => thrown)) as Error;
    await stranger.close();
    const said =
      /^The connection to Redis is "\w+": WRONGPASS .* \(Correct the user and the password in state\.url, and restart Wharf\.\)$/;
    expect(cause).toHaveProperty('message', expect.stringMatching(said));
    expect(error).toMatchObject(UNAVAILABLE);
    const texts = [error, (error as Error).cause, ...logged.map(([, fields]) => fields.err)];
    for (const text of texts) {
      const everything = `${String(text)} ${JSON.stringify(text)} ${JSON.stringify(Object.values(text as object))}`;
      expect(everything).not.toMatch(/the-wrong-password|the-value|the-key/);
    }
  });

  it('no longer lets us in: the log says why, though nothing asks', async () => {
    await store.check();
    await redis.command('config', 'set', 'requirepass', 'another-one');
    await redis.command('-a', 'another-one', 'client', 'kill', 'type', 'normal');
    await until(() => logged.length > 0);
    expect(logged).toEqual([['warn', { err: expect.any(Error) }, 'the connection to the state store is lost']]);
    expect(logged[0]?.[1].err).toHaveProperty(
      'message',
      expect.stringMatching(/^NOAUTH .* \(This Redis asks for a password, and state\.url has none: .*\)$/),
    );
  });

  it('lets us do only what STORAGE.md lists: that is enough', async () => {
    const storage = await readFile(new URL('../../../../STORAGE.md', import.meta.url), 'utf8');
    const rules = /`(~wharf:\*[^`]+)`/.exec(storage)?.[1]?.split(' ') ?? [];
    await redis.command('acl', 'setuser', 'wharf', 'on', '>password', ...rules);
    const limited = await open(redis.url.replace('//', '//wharf:password@'));
    for (const [, verb] of VERBS) await verb(limited);
    expect(await limited.lackedRights?.(false)).toEqual([]);
    await limited.close();
  });

  it.each([
    ['set', 'getdel', 'pttl', 'pexpire', 'del', 'evalsha', 'ping', 'time'],
    ['hgetall', 'hset', 'hdel', 'pexpireat', 'get', 'eval'],
  ])('lets us do all but some commands: they are named, also those of scripts', async (...lacking) => {
    const others = [
      'set',
      'get',
      'getdel',
      'del',
      'pttl',
      'pexpire',
      'eval',
      'evalsha',
      'ping',
      'hello',
      'info',
      'time',
    ];
    const all = [...others, 'hgetall', 'hset', 'hdel', 'pexpireat'];
    const rules = all.filter((one) => !lacking.includes(one)).map((one) => `+${one}`);
    await redis.command('acl', 'setuser', 'few', 'on', '>few', '~wharf:*', '-@all', ...rules);
    const limited = await open(redis.url.replace('//', '//few:few@'));
    const lacked = await limited.lackedRights?.(true);
    expect([...(lacked ?? [])].sort()).toEqual(lacking.map((one) => `+${one}`).sort());
    // no key without an end
    expect(await redis.command('keys', '*')).toMatch(/^(wharf:check:rights)?$/);
    await limited.close();
  });

  it('lets us write no key of ours: that is told as a rule', async () => {
    await redis.command('acl', 'setuser', 'other', 'on', '>other', '~other:*', '+@all');
    const limited = await open(redis.url.replace('//', '//other:other@'));
    expect(await limited.lackedRights?.(false)).toEqual(['~wharf:*']);
    await expect(limited.read('k')).rejects.toHaveProperty(
      'cause.message',
      expect.stringContaining('`wharf doctor` names the rights'),
    );
    await limited.close();
  });
});
