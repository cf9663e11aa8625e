import type { Redis } from 'ioredis';
import { z } from 'zod';
import { keysFor, refusalFacts } from '../../gateway/budget/ledger.js';
import { Patience } from '../../gateway/budget/patience.js';
import { GatewayError } from '../../gateway/errors.js';
import type { StateStore, StateStoreDeps } from '../../gateway/ports/state-store.js';
import { CreatedKeys } from './redis-created.js';

/** Redis 6.2 or newer, or anything that speaks as it does. */
export const settings = z
  .strictObject({
    url: z
      .string()
      .regex(/^rediss?:\/\/[^/]/, 'must begin with redis:// or rediss:// (TLS) and name a host')
      .describe('Where Redis listens: redis[s]://[user:password@]host[:port][/database].'),
    keyPrefix: z
      .string()
      .max(100)
      .default('wharf:')
      .describe('Put before every key, so that several products can share one database. Default "wharf:".'),
    maxKeys: z
      .number()
      .int()
      .positive()
      .optional()
      .describe(
        'Keys (sessions, files, tickets) that each replica may have created whose first time to live is not over; one caller, or one server, may take `limits.share` of them. Default: as many as Redis takes.',
      ),
  })
  .meta({ examples: [{ url: `rediss://wharf:\${REDIS_PASSWORD}@redis.example.com:6379/0` }] });

/** Longest pause between two tries to connect again: Redis is used again at most this long after it came back. */
const LONGEST_RECONNECT_PAUSE_MS = 1000;

/** The least time for a connection: steps do not wait for it any longer than they do for an answer. */
const LEAST_CONNECT_MS = 2000;

/**
 * A connection on which commands wait and nothing comes back for this many time-outs is given up. Redis that is merely
 * stopped would be waited for, but a connection whose other end is gone without a word looks the same, and every
 * command sent into it stays queued in memory.
 */
const TIMEOUTS_BEFORE_RECONNECT = 4;

/** One step in Redis, so that between reading and writing no other replica comes in. Both touch only KEYS[1]. */
const SCRIPTS = {
  extendKey: {
    numberOfKeys: 1,
    lua: `local left = redis.call('PTTL', KEYS[1])
if left == -2 then return 0 end
if left >= 0 and left < tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return 1`,
  },
  replaceKey: {
    numberOfKeys: 1,
    lua: `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`,
  },
};

/** What the library makes of `SCRIPTS`; it declares no types for them itself. */
interface ScriptCommands {
  extendKey(key: string, ttlMs: number): Promise<number>;
  replaceKey(key: string, expected: string, value: string, ttlMs: number): Promise<number>;
}

/** A state store in Redis, for any number of replicas. */
export async function create(
  config: z.output<typeof settings>,
  deps: Pick<StateStoreDeps, 'timeouts' | 'log' | 'clock' | 'sharing'>,
): Promise<StateStore> {
  const { Redis: Client } = await import('ioredis');
  const client = new Client(config.url, {
    keyPrefix: config.keyPrefix,
    scripts: SCRIPTS,
    disableClientInfo: true,
    lazyConnect: true,
    connectTimeout: Math.max(deps.timeouts.state, LEAST_CONNECT_MS),
    disconnectTimeout: deps.timeouts.state,
    socketTimeout: TIMEOUTS_BEFORE_RECONNECT * deps.timeouts.state,
    // With the defaults of these two, commands to a Redis that does not answer pend for ever, and 100,000 of them take
    // 196 MiB. A refused request is better than one that hangs.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    // Sent again after a reconnect, a GETDEL whose answer was lost would come back empty: nobody would get the value.
    autoResendUnfulfilledCommands: false,
    retryStrategy: (times) =>
      Math.min(50 * 2 ** Math.min(times, 10), LONGEST_RECONNECT_PAUSE_MS) * (0.5 + Math.random() / 2),
    // A primary that became a replica says so only to writes: connect again, to wherever the name points now.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  }) as Redis & ScriptCommands;
  const unwatch = watch(client, deps.log);
  const { maxKeys } = config;
  const created = maxKeys === undefined ? undefined : new CreatedKeys(maxKeys, deps.sharing, deps.clock);

  /** The first connection, and the only one that is waited for. What came of it shows in `status`. */
  const opening = client.connect().catch(() => undefined);
  // Not the library's own time-out of commands, whose timers come before what a busy process has yet to read.
  const patience = new Patience(deps.timeouts.state);
  const late = () => new Error(`Redis did not answer within ${deps.timeouts.state} ms.`);

  const run = async <T>(step: () => Promise<T>): Promise<T> => {
    try {
      if (client.status !== 'ready') await patience.within(opening, late);
      if (client.status !== 'ready') throw new Error(`The connection to Redis is "${client.status}".`);
      return await patience.within(step(), late);
    } catch (error) {
      throw new GatewayError('state_unavailable', {}, withoutValues(error));
    }
  };

  return {
    name: 'redis',

    async create(key, value, ttlMs, owner = {}) {
      const keys = keysFor(value);
      const counted = created?.take(owner, ttlMs, keys);
      if (counted && 'refusal' in counted) {
        const { refusal } = counted;
        throw new GatewayError('state_full', { ...refusalFacts(refusal), actual: refusal.actual - keys });
      }
      // what has failed may have been written all the same, so it counts
      const isNew = (await run(() => client.set(key, value, 'PX', whole(ttlMs), 'NX'))) === 'OK';
      if (!isNew) counted?.undo();
      return isNew;
    },

    async read(key) {
      return (await run(() => client.get(key))) ?? undefined;
    },

    async extend(key, ttlMs) {
      return (await run(() => client.extendKey(key, whole(ttlMs)))) === 1;
    },

    async replace(key, expected, value, ttlMs) {
      return (await run(() => client.replaceKey(key, expected, value, whole(ttlMs)))) === 1;
    },

    async take(key) {
      return (await run(() => client.getdel(key))) ?? undefined;
    },

    async remove(key) {
      await run(() => client.del(key));
    },

    async check() {
      await run(() => client.ping());
    },

    async close() {
      // Not QUIT: that would wait for a Redis that may no longer answer. Every step has been awaited by its caller.
      unwatch();
      client.disconnect();
    },
  };
}

/**
 * One line when the connection is lost and one when it is back, however often it is tried in between.
 * @returns ends it, so that closing on purpose is not told as a loss
 */
function watch(client: Redis, log: StateStoreDeps['log']): () => void {
  let lost = false;
  let reason: unknown;
  const onClose = () => {
    if (!lost) log.warn({ err: withoutValues(reason) }, 'the connection to the state store is lost');
    lost = true;
  };
  client.on('error', (error: unknown) => {
    reason = error;
  });
  client.on('close', onClose);
  client.on('ready', () => {
    if (lost) log.info({}, 'the state store can be reached again');
    lost = false;
    reason = undefined;
  });
  return () => client.off('close', onClose);
}

/** Redis takes whole milliseconds and refuses zero. */
function whole(ttlMs: number): number {
  return Math.max(1, Math.ceil(ttlMs));
}

/**
 * The error without what was sent: the library hangs the command's arguments on it, and Redis repeats the first ones
 * of a command it does not know.
 */
function withoutValues(error: unknown): Error {
  const text = error instanceof Error ? error.message : 'The connection was closed.';
  return new Error(text.replace(/, with args beginning with:.*$/s, '').slice(0, 300));
}
