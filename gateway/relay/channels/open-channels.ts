import type { SharedSession } from './shared-session.js';

/** A client that keeps a stream open may only be thinking: for so long nothing was said on its session. */
const STREAM_REST_MS = 5 * 60_000;

/** The channels open to one server, and which of them can be spared when there is no room for another. */
export class OpenChannels {
  readonly #channels = new Set<SharedSession>();

  get size(): number {
    return this.#channels.size;
  }

  add(channel: SharedSession): void {
    this.#channels.add(channel);
  }

  delete(channel: SharedSession): void {
    this.#channels.delete(channel);
  }

  [Symbol.iterator](): IterableIterator<SharedSession> {
    return this.#channels.values();
  }

  /**
   * The channel whose client will miss it least: of the principal who has most of them the one that has rested longest,
   * first of those that nobody listens to. Nobody who has fewer than the one that asks loses any.
   * @param isOwn only the asking principal's own are to be spared: it is its share that is full
   */
  spare(principal: string, isOwn: boolean, now = Date.now()): SharedSession | undefined {
    const counts = new Map<string, number>();
    for (const channel of this.#channels) counts.set(channel.principal, (counts.get(channel.principal) ?? 0) + 1);
    const least = isOwn ? 0 : (counts.get(principal) ?? 0);
    let found: { channel: SharedSession; count: number; isHeard: boolean; since: number } | undefined;
    for (const channel of this.#channels) {
      const count = counts.get(channel.principal) ?? 0;
      const since = channel.restingSince;
      if (since === undefined || count < least || (isOwn && channel.principal !== principal)) continue;
      const isHeard = channel.hasStream;
      if (isHeard && now - since < STREAM_REST_MS) continue;
      const better =
        !found ||
        count > found.count ||
        (count === found.count && (isHeard === found.isHeard ? since < found.since : !isHeard));
      if (better) found = { channel, count, isHeard, since };
    }
    return found?.channel;
  }
}
