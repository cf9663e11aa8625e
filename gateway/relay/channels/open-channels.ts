import type { SharedSession } from './shared-session.js';

/** A client with an open stream may only be thinking: its session counts as idle after this time. */
const STREAM_REST_MS = 5 * 60_000;

/** The open channels of one server, and which of them can be closed when there is no room for another. */
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
   * The channel that can best be spared: of the principal with the most channels the one idle longest, preferring those
   * without a listener. A principal with fewer than the one that asks loses none.
   * @param isOwn spare only a channel of the asking principal, whose share is full
   * @param now by the stopwatch
   */
  spare(principal: string, isOwn: boolean, now: number): SharedSession | undefined {
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
