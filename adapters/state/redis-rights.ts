import type { Redis } from 'ioredis';

/** A key that is a text for as long as Redis is asked, and one that never exists. */
const TEXT = 'check:rights';
const NONE = 'check:rights:none';

/** Longer than all questions take: commands of hashes would make a key that never ends, were the text not there. */
const TEXT_MS = 60_000;

/** No script has this digest, so Redis says that it knows none. */
const NO_SCRIPT = '0'.repeat(40);

type Question = (client: Redis) => Promise<unknown>;

/** Each changes nothing. */
const OF_STEPS = new Map<string, Question>([
  ['get', (client) => client.get(NONE)],
  ['getdel', (client) => client.getdel(NONE)],
  ['del', (client) => client.del(NONE)],
  ['pttl', (client) => client.pttl(NONE)],
  ['pexpire', (client) => client.pexpire(NONE, 1)],
  ['eval', (client) => client.eval('return 1', 0)],
  ['evalsha', (client) => client.evalsha(NO_SCRIPT, 0)],
  ['ping', (client) => client.ping()],
  ['info', (client) => client.info()],
  ['time', (client) => client.time()],
]);

/** Each is refused, for a text is not a hash. */
const OF_TALLIES = new Map<string, Question>([
  ['hgetall', (client) => client.hgetall(TEXT)],
  ['hset', (client) => client.hset(TEXT, 'part', '1')],
  ['hdel', (client) => client.hdel(TEXT, 'part')],
  ['pexpireat', (client) => client.pexpireat(NONE, 1)],
]);

/** What Redis answers to a user that may not do it. */
const REFUSED = 'NOPERM ';
const OF_KEYS = /\bkeys?\b/;

/** What it answers to one that may. */
const UNKNOWN = 'NOSCRIPT ';

interface Asking {
  keyPrefix: string;
  withTallies: boolean;
  /** Runs one step in time. @returns the error, but for that of a text that is not a hash */
  ask: (step: () => Promise<unknown>) => Promise<Error | undefined>;
}

/**
 * What the rules of its user lack, as ACL SETUSER takes them: `+pttl`, `~wharf:*`. Of a command that a script lacks Redis tells
 * the line of the script, and not the name; `ACL DRYRUN` would need rights of its own.
 */
export async function lackedRights(client: Redis, { keyPrefix, withTallies, ask }: Asking): Promise<string[]> {
  const lacked = new Set<string>();
  const tryIt = async (command: string, step: () => Promise<unknown>) => {
    const error = await ask(step);
    if (!error || error.message.startsWith(UNKNOWN)) return;
    if (!error.message.startsWith(REFUSED)) throw error;
    lacked.add(OF_KEYS.test(error.message) ? `~${keyPrefix}*` : `+${command}`);
  };
  await tryIt('set', () => client.set(TEXT, '', 'PX', TEXT_MS));
  const mayWrite = lacked.size === 0;
  const asked = [...OF_STEPS, ...(withTallies && mayWrite ? OF_TALLIES : [])];
  await Promise.all(asked.map(([command, step]) => tryIt(command, () => step(client))));
  return [...lacked];
}
