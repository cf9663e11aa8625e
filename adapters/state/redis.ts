import type { Redis } from 'ioredis';
import { z } from 'zod';
import { keysFor, MOST_PARTS, refusalFacts } from '../../gateway/budget/ledger.js';
import { Patience } from '../../gateway/budget/patience.js';
import { AdvisedError, NotWritten } from '../../gateway/errors/system.js';
import { GatewayError } from '../../gateway/errors.js';
import type { StateStore, StateStoreDeps } from '../../gateway/ports/state-store.js';
import { aboutRedis, isSentinel } from './redis-about.js';
import { ANSWER, watchAnswers } from './redis-answers.js';
import { connectionTo } from './redis-connection.js';
import { CreatedKeys } from './redis-created.js';
import { LONGEST_VALUE } from './redis-frames.js';
import { watchLoss } from './redis-loss.js';
import { lackedRights } from './redis-rights.js';
import { TALLY, type TallyReply } from './redis-tally.js';
import { adviceOnTls, faultOfUrl } from './redis-url.js';
import { advised, isRefusal, saysOf, withoutValues } from './redis-words.js';

/** Redis 6.2 or newer, or a compatible server. */
export const settings = z
  .strictObject({
    url: z
      .string()
      .superRefine((text, context) => {
        const message = faultOfUrl(text);
        if (message !== undefined) context.addIssue({ code: 'custom', message });
      })
      .describe(
        'URL of Redis: redis[s]://[user:password@]host[:port][/database]. In a user or a password write % as %25, # as %23, / as %2F, ? as %3F and @ as %40.',
      ),
    keyPrefix: z
      .string()
      .max(100)
      .default('wharf:')
      .describe('Prefix of every key, so that several products can share one database. Default "wharf:".'),
    maxKeys: z
      .number()
      .int()
      .positive()
      .optional()
      .describe(
        'Most keys (sessions, files, tickets) created by each replica whose first time to live is not over; one caller, or one server, may take `limits.share` of them. Default: as many as Redis takes.',
      ),
  })
  .meta({ examples: [{ url: `rediss://wharf:\${REDIS_PASSWORD}@redis.example.com:6379/0` }] });

/** What a Redis answers whose `maxmemory` is reached, and whose policy lets it remove no key. */
const FULL = 'OOM';

/** What a check writes, and for how long. */
const CHECK_KEY = 'check';
const CHECK_MS = 1000;

/**
 * Keys that a check writes: they fall into all parts of a cluster. Of a cluster with two parts, all of them are in one part once
 * in 30,000 checks.
 */
const KEYS_OF_ALL_PARTS = 16;

/** What Redis says of a key that another part of its cluster has. */
const ELSEWHERE = ['MOVED', 'ASK'];

const NO_CLUSTER =
  'This Redis is one part of a cluster, and another part has the key: Wharf takes a Redis that has all keys.';

/** Each script is one atomic step: no other replica acts between its read and its write. All use only KEYS[1]. */
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
  tallyKey: { numberOfKeys: 1, lua: TALLY },
};

/** The methods that the library creates from `SCRIPTS`, without declaring types for them. */
interface ScriptCommands {
  extendKey(key: string, ttlMs: number): Promise<number>;
  replaceKey(key: string, expected: string, value: string, ttlMs: number): Promise<number>;
  tallyKey(key: string, ...rest: (string | number)[]): Promise<TallyReply>;
}

/** A state store in Redis, for any number of replicas. */
export async function create(
  config: z.output<typeof settings>,
  deps: Pick<StateStoreDeps, 'timeouts' | 'log' | 'clock' | 'sharing'>,
): Promise<StateStore> {
  const connection = await connectionTo(config, SCRIPTS, deps);
  const client = connection.client as Redis & ScriptCommands;
  const endOfLoss = watchLoss(client, deps.log);
  /** Whether the Redis of this connection has taken keys of all parts. */
  let isWhole = false;
  client.on('close', () => {
    isWhole = false;
  });
  const answers = watchAnswers(client, { stepMs: deps.timeouts.state, handshakeMs: connection.connectTimeout });
  const { maxKeys } = config;
  const created = maxKeys === undefined ? undefined : new CreatedKeys(maxKeys, deps.sharing, deps.clock);

  /** The first connection, the only one that is awaited. `status` shows its outcome. */
  const opening = client.connect().catch(() => undefined);
  // Not the library's own time-outs: their timers fire before a busy process has read the answers.
  const patience = new Patience(deps.timeouts.state);
  const late = () => {
    answers.look();
    const message = `Redis did not answer within ${deps.timeouts.state} ms.`;
    return Object.assign(new Error(message), { code: 'ETIMEDOUT' });
  };
  /** While the first connection is being made, which takes longer to fail. */
  const unopened = () => {
    const error = late();
    const hint = adviceOnTls(config.url, error.message);
    return hint === '' ? error : new Error(`${error.message.slice(0, -1)}${hint}`);
  };

  const run = async <T>(step: () => Promise<T>, isAnswer: (answer: unknown) => boolean): Promise<T> => {
    try {
      if (client.status !== 'ready') await patience.within(opening, unopened);
      // it is still called ready while it is being ended
      if (client.status !== 'ready' || !client.stream.writable) throw connection.notReady();
      const answer = await patience.within(step(), late);
      if (!isAnswer(answer)) throw answers.giveUp();
      return answer;
    } catch (error) {
      // the library's own words for a connection that ended while a command was under way name an option of it
      const said = Object(error).name === 'MaxRetriesPerRequestError' ? connection.notReady() : withoutValues(error);
      const isElsewhere = ELSEWHERE.some((kind) => saysOf(said, kind));
      if (isElsewhere) isWhole = false;
      const cause = isElsewhere ? withoutValues(new Error(NO_CLUSTER)) : advised(said);
      // a list, for example, where Wharf keeps a text: asking again changes nothing
      if (saysOf(cause, 'WRONGTYPE')) throw new GatewayError('state_unavailable', {}, new NotWritten());
      if (saysOf(cause, FULL)) throw new GatewayError('state_full', {}, cause);
      const facts = isElsewhere || isRefusal(said) ? { refused: true } : {};
      throw new GatewayError('state_unavailable', facts, cause);
    }
  };

  return {
    name: 'redis',

    async create(key, value, ttlMs, owner = {}) {
      expectShort(value);
      const keys = keysFor(value);
      const counted = created?.take(owner, ttlMs, keys);
      if (counted && 'refusal' in counted) {
        const { refusal } = counted;
        throw new GatewayError('state_full', { ...refusalFacts(refusal), actual: refusal.actual - keys });
      }
      // a failed write may have happened, so it counts
      const isNew = (await run(() => client.set(key, value, 'PX', whole(ttlMs), 'NX'), ANSWER.mayBeWritten)) === 'OK';
      if (!isNew) counted?.undo();
      return isNew;
    },

    async read(key) {
      return (await run(() => client.get(key), ANSWER.value)) ?? undefined;
    },

    async extend(key, ttlMs) {
      return (await run(() => client.extendKey(key, whole(ttlMs)), ANSWER.count)) === 1;
    },

    async replace(key, expected, value, ttlMs) {
      expectShort(value);
      return (await run(() => client.replaceKey(key, expected, value, whole(ttlMs)), ANSWER.count)) === 1;
    },

    async take(key) {
      return (await run(() => client.getdel(key), ANSWER.value)) ?? undefined;
    },

    async remove(key) {
      await run(() => client.del(key), ANSWER.count);
    },

    async tally(key, changes, limit = -1, leaving = []) {
      const written = changes.flatMap(({ part, by, ttlMs }) => [part, by, whole(ttlMs)]);
      const [outcome, total, fitsInMs] = await run(
        () => client.tallyKey(key, limit, MOST_PARTS, leaving.length, ...leaving, ...written),
        ANSWER.tally,
      );
      if (outcome < 0) throw new GatewayError('state_full', { allowed: MOST_PARTS, actual: Number(total) });
      return { isWithin: outcome === 1, total: Number(total), ...(fitsInMs >= 0 && { fitsInMs }) };
    },

    async time() {
      const [seconds, microseconds] = await run(() => client.time(), ANSWER.time);
      return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
    },

    async check() {
      // a PING is answered by one that refuses every write: a replica, or one whose memory or disk is full
      const write = (key: string) => run(() => client.set(key, '', 'PX', CHECK_MS), ANSWER.written);
      // one key would be written, and most others refused
      const others = isWhole ? 0 : KEYS_OF_ALL_PARTS - 1;
      await Promise.all([CHECK_KEY, ...Array.from({ length: others }, (_, n) => `${CHECK_KEY}:${n}`)].map(write));
      isWhole = client.status === 'ready';
    },

    async about() {
      // INFO of all sections takes Redis 0.1 ms; one section at a time needs Redis 7
      const info = await run(() => client.info(), ANSWER.text);
      if (isSentinel(info))
        throw new AdvisedError('This is a Sentinel, which has no keys.', 'Let state.url lead to the primary.');
      return aboutRedis(info, await run(() => client.time(), ANSWER.time));
    },

    lackedRights: (withTallies) =>
      lackedRights(client, {
        keyPrefix: config.keyPrefix,
        withTallies,
        ask: (step) =>
          run(step, () => true).then(
            () => undefined,
            ({ cause }: { cause?: Error }) => (cause instanceof NotWritten ? undefined : cause),
          ),
      }),

    async close() {
      // Not QUIT, which would wait for a Redis that may not answer. Callers have awaited every step.
      connection.end();
      endOfLoss();
      client.disconnect();
    },
  };
}

/** The answer with a longer one would end the connection, each time that it is read. */
function expectShort({ length }: string): void {
  if (length <= LONGEST_VALUE) return;
  const cause = new Error(`A value of ${length} characters is longer than ${LONGEST_VALUE}, and is not written.`);
  throw new GatewayError('state_unavailable', {}, cause);
}

/** Redis takes whole milliseconds and refuses zero. */
function whole(ttlMs: number): number {
  return Math.max(1, Math.ceil(ttlMs));
}
