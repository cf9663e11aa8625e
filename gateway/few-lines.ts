import type { Stopwatch } from './ports/clock.js';

const WINDOW_MS = 60_000;

/** Lines of one kind in a window, where its caller asks for no other number. */
const LINES = 10;

/** Kinds that are remembered. There are a few for each server of the config; a reload may bring others. */
const MOST_KINDS = 5000;

interface Window {
  begin: number;
  lines: number;
  left: number;
}

/** What a line says of those of its kind that were left out before it. */
interface LeftOut {
  leftOut?: number;
}

/**
 * How many lines the log has of what a peer can cause as often as it likes: a few of each kind in a minute. The rest is
 * counted, in the metrics and in `leftOut` of the next line.
 */
export class FewLines {
  readonly #clock: Stopwatch;
  readonly #windows = new Map<string, Window>();

  constructor(clock: Stopwatch) {
    this.#clock = clock;
  }

  /**
   * @param kind words of Wharf's own, and names of the config: a peer must not choose it
   * @returns further fields of the line; undefined where it is to be left out
   */
  take(kind: string, most = LINES): LeftOut | undefined {
    const now = this.#clock.ticks();
    const window = this.#windows.get(kind);
    if (window === undefined || Math.abs(now - window.begin) >= WINDOW_MS) {
      if (window === undefined && this.#windows.size >= MOST_KINDS) this.#windows.clear();
      this.#windows.set(kind, { begin: now, lines: 1, left: 0 });
      const left = window?.left ?? 0;
      return left > 0 ? { leftOut: left } : {};
    }
    window.lines += 1;
    if (window.lines <= most) return {};
    window.left += 1;
    return undefined;
  }
}
