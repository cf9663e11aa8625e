import { heapOf } from '../../budget/heap-size.js';
import type { Ledger } from '../../budget/ledger.js';
import { RecentMap } from '../../budget/recent-map.js';
import type { Stopwatch } from '../../ports/clock.js';

/** Most values of one view. */
const MAX_VALUES = 2000;

/** After this time a view is requested again. */
const VIEW_TTL_MS = 5 * 60 * 1000;

/** Cost of an empty view. */
const EMPTY_BYTES = 500;

/** What is kept of one view of one server, by name. */
export class KeptView<Value> {
  readonly server: string;
  /** When it must be requested again, on the stopwatch. */
  readonly until: number;
  readonly values = new RecentMap<string, { value: Value; bytes: number }>();
  bytes = 0;
  /** True when a value was dropped or never taken. */
  hasLost = false;
  isGone = false;

  constructor(server: string, until: number) {
    this.server = server;
    this.until = until;
  }

  get(name: string): Value | undefined {
    return this.values.use(name)?.value;
  }
}

/**
 * What is kept of all servers' lists, in bytes: with a total for the process, a share for each server, and a limit per
 * view. A dropped list can be requested again, so the view unused longest makes room for another.
 */
export class KeptViews<Value> {
  readonly #ledger: Ledger;
  readonly #clock: Stopwatch;
  readonly #views = new RecentMap<string, KeptView<Value>>();

  constructor(ledger: Ledger, clock: Stopwatch) {
    this.#ledger = ledger;
    this.#clock = clock;
  }

  find(server: string, name: string): KeptView<Value> | undefined {
    const key = keyOf(server, name);
    const view = this.#views.use(key);
    if (view && view.until <= this.#clock.ticks()) {
      this.#views.delete(key);
      this.#end(view);
      return undefined;
    }
    return view;
  }

  /** The view, created if it is missing. */
  open(server: string, name: string): KeptView<Value> {
    const known = this.find(server, name);
    if (known) return known;
    const view = new KeptView<Value>(server, this.#clock.ticks() + VIEW_TTL_MS);
    if (this.#makeRoom(view, EMPTY_BYTES)) {
      this.#count(view, EMPTY_BYTES);
      this.#views.set(keyOf(server, name), view);
    } else view.isGone = true;
    return view;
  }

  forget(server: string, name: string): void {
    const key = keyOf(server, name);
    const view = this.#views.peek(key);
    this.#views.delete(key);
    if (view) this.#end(view);
  }

  /** Drops all views of a server. */
  forgetServer(server: string): void {
    for (const [key, view] of this.#views.entries()) {
      if (view.server !== server) continue;
      this.#views.delete(key);
      this.#end(view);
    }
  }

  /**
   * Keeps a value if there is room in its view, and in total after dropping the views unused longest.
   * @param mostBytes of one view
   */
  keep(view: KeptView<Value>, name: string, value: Value, mostBytes: number): void {
    if (view.isGone) return;
    this.#drop(view, name);
    const most = Math.min(mostBytes, this.#ledger.allowed('server')) - EMPTY_BYTES;
    const bytes = heapOf([name, value], most);
    if (bytes > most) {
      view.hasLost = true;
      return;
    }
    for (const oldest of view.values.keys()) {
      if (view.values.size < MAX_VALUES && view.bytes + bytes <= most) break;
      this.#drop(view, oldest);
      view.hasLost = true;
    }
    if (!this.#makeRoom(view, bytes)) {
      view.hasLost = true;
      return;
    }
    view.values.set(name, { value, bytes });
    this.#count(view, bytes);
  }

  /** Drops views until that much more can be counted. The view that needs the room stays. */
  #makeRoom(view: KeptView<Value>, bytes: number): boolean {
    for (;;) {
      const refusal = this.#ledger.refusal(bytes, { server: view.server });
      if (!refusal) return true;
      const oldest = this.#oldest(view, refusal.full === 'server');
      if (oldest === undefined) return false;
      const ended = this.#views.peek(oldest);
      this.#views.delete(oldest);
      if (ended) this.#end(ended);
    }
  }

  #oldest(except: KeptView<Value>, isOfServer: boolean): string | undefined {
    for (const [key, view] of this.#views.entries()) {
      if (view !== except && (!isOfServer || view.server === except.server)) return key;
    }
    return undefined;
  }

  #drop(view: KeptView<Value>, name: string): void {
    const known = view.values.peek(name);
    if (!known) return;
    view.values.delete(name);
    this.#count(view, -known.bytes);
  }

  #end(view: KeptView<Value>): void {
    view.isGone = true;
    view.values.clear();
    this.#count(view, -view.bytes);
  }

  #count(view: KeptView<Value>, bytes: number): void {
    view.bytes += bytes;
    if (bytes > 0) this.#ledger.add(bytes, { server: view.server });
    else this.#ledger.give(-bytes, { server: view.server });
  }
}

function keyOf(server: string, view: string): string {
  // a server's name never contains a line feed
  return `${server}\n${view}`;
}
