import type { AboutStore } from '../../gateway/ports/state-store.js';

/** What Redis removes nothing by. */
const KEEPS = 'noeviction';

/**
 * @param info the answer to INFO
 * @param time the answer to TIME: seconds, and microseconds of the second
 */
export function aboutRedis(info: string, [seconds = 0, micros = 0]: readonly (number | string)[]): AboutStore {
  const facts = factsOf(info);
  const policy = facts.get('maxmemory_policy');
  return {
    version: versionOf(facts),
    evicts: policy === KEEPS ? undefined : (policy ?? 'an unknown policy'),
    maxMemory: Number(facts.get('maxmemory') ?? 0) || undefined,
    isLasting: facts.get('aof_enabled') === '1',
    now: Math.round(Number(seconds) * 1000 + Number(micros) / 1000),
  };
}

/**
 * Why a Redis loses what Wharf writes; undefined if it does not.
 * @param info the answer to INFO
 */
export function lossOf(info: string): { text: string; policy: string } | undefined {
  const facts = factsOf(info);
  const policy = facts.get('maxmemory_policy');
  const most = Number(facts.get('maxmemory') ?? 0);
  if (policy === undefined || policy === KEEPS || !(most > 0)) return undefined;
  const text =
    'Redis removes keys once its memory is full: files and sessions vanish, and what callers have used is forgotten.';
  return { text, policy };
}

/**
 * How many keys a Redis has removed for want of memory since it was started; undefined where it does not say so.
 * @param info the answer to INFO
 */
export function evictedIn(info: string): { server: string; keys: number } | undefined {
  const facts = factsOf(info);
  const server = facts.get('run_id');
  const keys = Number(facts.get('evicted_keys') ?? Number.NaN);
  return server === undefined || Number.isNaN(keys) ? undefined : { server, keys };
}

/** Whether it leads to others that have keys, and has none itself. Valkey 8 and Redict call the mode by names of their own. */
export function isSentinel(info: string): boolean {
  const facts = factsOf(info);
  return ['redis_mode', 'server_mode', 'redict_mode'].some((name) => facts.get(name) === 'sentinel');
}

/** Beside its own, a fork of Redis tells the version of Redis that it stands in for. */
function versionOf(facts: ReadonlyMap<string, string>): string {
  const names = { valkey_version: 'Valkey', redict_version: 'Redict', redis_version: 'Redis' };
  const [name, product] = Object.entries(names).find(([one]) => facts.has(one)) ?? [];
  return name === undefined ? 'Redis of unknown version' : `${product} ${facts.get(name)}`;
}

function factsOf(info: string): ReadonlyMap<string, string> {
  return new Map(
    info.split(/\r?\n/).flatMap((line) => {
      const at = line.indexOf(':');
      return at > 0 ? [[line.slice(0, at), line.slice(at + 1)] as const] : [];
    }),
  );
}
