import type { AboutStore } from '../../gateway/ports/state-store.js';

/** What Redis removes nothing by. */
const KEEPS = 'noeviction';

/**
 * @param info the answer to INFO
 * @param time the answer to TIME: seconds, and microseconds of the second
 */
export function aboutRedis(info: string, [seconds = 0, micros = 0]: readonly (number | string)[]): AboutStore {
  const facts = new Map(
    info.split(/\r?\n/).flatMap((line) => {
      const at = line.indexOf(':');
      return at > 0 ? [[line.slice(0, at), line.slice(at + 1)] as const] : [];
    }),
  );
  const policy = facts.get('maxmemory_policy');
  const product = facts.has('valkey_version') ? 'Valkey' : 'Redis';
  const version = facts.get('valkey_version') ?? facts.get('redis_version') ?? 'of unknown version';
  return {
    version: `${product} ${version}`,
    evicts: policy === KEEPS ? undefined : (policy ?? 'an unknown policy'),
    maxMemory: Number(facts.get('maxmemory') ?? 0) || undefined,
    isLasting: facts.get('aof_enabled') === '1',
    now: Math.round(Number(seconds) * 1000 + Number(micros) / 1000),
  };
}
