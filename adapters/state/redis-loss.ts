import type { Redis } from 'ioredis';
import type { Log } from '../../gateway/ports/log.js';
import { evictedIn, lossOf } from './redis-about.js';

/** How often Redis is asked what it has removed. INFO takes it 0.1 ms. */
const LOOK_MS = 60_000;

/**
 * Tells that Redis would remove keys, once of each policy, and that it has removed some: a caller whose count or tries of a code
 * are gone has them anew, and nothing fails by which an operator would know. Each new connection is looked at: it may be to
 * another Redis.
 * @returns ends it
 */
export function watchLoss(client: Pick<Redis, 'on' | 'info'>, log: Log, everyMs = LOOK_MS): () => void {
  let told: string | undefined;
  let before: ReturnType<typeof evictedIn>;
  const look = (info: unknown) => {
    if (typeof info !== 'string') return;
    const loss = lossOf(info);
    if (loss && loss.policy !== told) log.warn({ 'maxmemory-policy': loss.policy, needed: 'noeviction' }, loss.text);
    told = loss?.policy;
    const now = evictedIn(info);
    const removed = now && before?.server === now.server ? now.keys - before.keys : 0;
    if (removed > 0)
      log.warn({ removed, 'maxmemory-policy': loss?.policy }, 'Redis has removed keys, because its memory was full.');
    before = now;
  };
  // where Wharf may not ask, `wharf doctor` says so
  const ask = () => void client.info().then(look, () => undefined);
  client.on('ready', ask);
  const timer = setInterval(ask, everyMs).unref();
  return () => clearInterval(timer);
}
