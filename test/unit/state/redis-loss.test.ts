import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { watchLoss } from '../../../adapters/state/redis-loss.js';
import type { LogFields } from '../../../gateway/ports/log.js';
import { silentLog } from '../../helpers/silent-log.js';
import { until } from '../../helpers/wait.js';

/** A Redis of which only INFO is asked. */
class Informed extends EventEmitter {
  server = 'one';
  evicted = 0;
  policy = 'volatile-lru';
  asked = 0;

  async info(): Promise<string> {
    this.asked += 1;
    const memory = `maxmemory:1000\r\nmaxmemory_policy:${this.policy}\r\n`;
    return `run_id:${this.server}\r\n${memory}evicted_keys:${this.evicted}\r\n`;
  }
}

describe('a Redis that removes keys', () => {
  let redis: Informed;
  let logged: [LogFields, string][];
  let end: () => void;

  beforeEach(() => {
    redis = new Informed();
    redis.evicted = 5;
    logged = [];
    const log = { ...silentLog, warn: (fields: LogFields, text: string) => logged.push([fields, text]) };
    end = watchLoss(redis as unknown as Redis, log, 5);
    redis.emit('ready');
  });
  afterEach(() => end());

  const looks = async () => {
    const before = redis.asked;
    await until(() => redis.asked > before + 1);
  };
  const removed = () => logged.flatMap(([fields]) => (fields.removed === undefined ? [] : [fields.removed]));

  it('is told as one that would, once, and with how many it has removed since the last look', async () => {
    await looks();
    expect(logged).toEqual([[{ 'maxmemory-policy': 'volatile-lru', needed: 'noeviction' }, expect.any(String)]]);
    redis.evicted = 12;
    await looks();
    redis.evicted = 13;
    await looks();
    expect(logged.slice(1)).toEqual([
      [{ removed: 7, 'maxmemory-policy': 'volatile-lru' }, 'Redis has removed keys, because its memory was full.'],
      [{ removed: 1, 'maxmemory-policy': 'volatile-lru' }, 'Redis has removed keys, because its memory was full.'],
    ]);
  });

  it('counts anew after its restart, or where another stands in its place', async () => {
    await looks();
    redis.server = 'two';
    redis.evicted = 900;
    await looks();
    expect(removed()).toEqual([]);
    redis.evicted = 901;
    await looks();
    expect(removed()).toEqual([1]);
  });

  it('is told also where its policy was changed meanwhile', async () => {
    await looks();
    redis.policy = 'noeviction';
    await looks();
    redis.policy = 'allkeys-random';
    await looks();
    expect(logged.map(([fields]) => fields['maxmemory-policy'])).toEqual(['volatile-lru', 'allkeys-random']);
  });
});
