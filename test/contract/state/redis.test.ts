import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { create, settings } from '../../../adapters/state/redis.js';
import { UNSHARED } from '../../../gateway/budget/ledger.js';
import { freshName, redisUrl } from '../../helpers/services.js';
import { silentLog } from '../../helpers/silent-log.js';
import { describeStateStore } from '../state-store.contract.js';

const time = { passed: 0 };
const clock = { now: () => Date.now() + time.passed, ticks: () => Date.now() + time.passed };
const deps = { timeouts: { state: 5000 }, log: silentLog, clock, sharing: UNSHARED };

/** Lets time pass by taking it off what is left of every key. */
async function age(beside: Redis, prefix: string, ms: number): Promise<void> {
  for (const key of await beside.keys(`${prefix}*`)) {
    for (const [part, value] of Object.entries(await partsOf(beside, key))) {
      const [amount, until] = value.split(' ').map(Number) as [number, number];
      await beside.hset(key, part, `${amount} ${until - ms}`);
    }
    const left = (await beside.pttl(key)) - ms;
    if (left > 0) await beside.pexpire(key, left);
    else await beside.del(key);
  }
}

/** Those of a tally, which have times of their own. */
async function partsOf(beside: Redis, key: string): Promise<Record<string, string>> {
  return (await beside.type(key)) === 'hash' ? beside.hgetall(key) : {};
}

describe('redis', () => {
  let beside: Redis;

  beforeAll(() => {
    beside = new Redis(redisUrl());
  });
  afterAll(() => {
    beside.disconnect();
  });

  describeStateStore('redis', async (bounds) => {
    const keyPrefix = `${freshName('state')}:`;
    const { sharing = UNSHARED, ...config } = bounds ?? {};
    const store = await create(settings.parse({ url: redisUrl(), keyPrefix, ...config }), { ...deps, sharing });
    const advance = (ms: number) => {
      time.passed += ms;
      return age(beside, keyPrefix, ms);
    };
    return { store, advance };
  });

  it('gives every key a time to live, however short, and its prefix', async () => {
    const keyPrefix = `${freshName('state')}:`;
    const store = await create(settings.parse({ url: redisUrl(), keyPrefix }), deps);
    await store.create('a', 'v', 10_000.5);
    await store.create('b', 'v', 0.2);
    await store.replace('a', 'v', 'w', 20_000.7);
    await store.extend('a', 30_000.1);
    expect(await beside.get(`${keyPrefix}a`)).toBe('w');
    expect(await beside.pttl(`${keyPrefix}a`)).toBeGreaterThan(20_001);
    for (const key of await beside.keys(`${keyPrefix}*`)) expect(await beside.pttl(key)).not.toBe(-1);
    await store.close();
  });

  it('tells its time, by which all replicas go', async () => {
    const store = await create(settings.parse({ url: redisUrl() }), deps);
    const before = Date.now();
    const time = await store.time?.();
    // a second for the clocks of two machines, where Redis is another one
    expect(time).toBeGreaterThan(before - 1000);
    expect(time).toBeLessThan(Date.now() + 1000);
    await store.close();
  });

  it('answers all of many first commands, which come before its connection is open', async () => {
    const keyPrefix = `${freshName('state')}:`;
    const store = await create(settings.parse({ url: redisUrl(), keyPrefix }), deps);
    const created = await Promise.all(Array.from({ length: 100 }, (_, n) => store.create(`k${n}`, 'v', 60_000)));
    expect(created).toEqual(Array(100).fill(true));
    await store.close();
  });

  it.each(['http://127.0.0.1', 'redis://', '127.0.0.1:6379'])('refuses the address %s', (url) => {
    expect(settings.safeParse({ url }).success).toBe(false);
  });
});
