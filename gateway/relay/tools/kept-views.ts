import type { Ledger } from '../../budget/ledger.js';
import { heapOf } from './heap-size.js';

/** Values of one view at most. */
const MAX_VALUES = 2000;

/** After that a view is asked for again. */
const VIEW_TTL_MS = 5 * 60 * 1000;

/** A view in which nothing is kept. */
const EMPTY_BYTES = 500;

/** What is kept of one view of one server, by name. The longest unused value comes first. */
export class KeptView<Value> {
  readonly server: string;
  readonly until = performance.now() + VIEW_TTL_MS;
  readonly values = new Map<string, { value: Value; bytes: number }>();
  bytes = 0;
  /** Something had to go, or was never taken. */
  hasLost = false;
  isGone = false;

  constructor(server: string) {
    this.server = server;
  }

  get(name: string): Value | undefined {
    const found = this.values.get(name);
    if (!found) return undefined;
    this.values.delete(name);
    this.values.set(name, found);
    return found.value;
  }
}

/**
 * What is kept of all servers' lists, in bytes: a total for the process, a share of it for each server, and a most for
 * one view. A list is asked for again when it is needed and gone, so the longest unused view makes room for another.
 */
export class KeptViews<Value> {
  readonly #ledger: Ledger;
  /** The longest unused one comes first. */
  readonly #views = new Map<string, KeptView<Value>>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  find(server: string, name: string): KeptView<Value> | undefined {
    const key = keyOf(server, name);
    const view = this.#views.get(key);
    if (!view) return undefined;
    this.#views.delete(key);
    if (view.until <= performance.now()) {
      this.#end(view);
      return undefined;
    }
    this.#views.set(key, view);
    return view;
  }

  /** The view, made if it is not there. */
  open(server: string, name: string): KeptView<Value> {
    const known = this.find(server, name);
    if (known) return known;
    const view = new KeptView<Value>(server);
    if (this.#makeRoom(view, EMPTY_BYTES)) {
      this.#count(view, EMPTY_BYTES);
      this.#views.set(keyOf(server, name), view);
    } else view.isGone = true;
    return view;
  }

  forget(server: string, name: string): void {
    const key = keyOf(server, name);
    const view = this.#views.get(key);
    this.#views.delete(key);
    if (view) this.#end(view);
  }

  /**
   * Keeps a value, if there is room for it in its view, and among all once the longest unused views have gone.
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

  /** Ends views until so much more can be counted. The one that it is for stays. */
  #makeRoom(view: KeptView<Value>, bytes: number): boolean {
    for (;;) {
      const refusal = this.#ledger.refusal(bytes, { server: view.server });
      if (!refusal) return true;
      const oldest = this.#oldest(view, refusal.full === 'server');
      if (oldest === undefined) return false;
      const ended = this.#views.get(oldest);
      this.#views.delete(oldest);
      if (ended) this.#end(ended);
    }
  }

  #oldest(except: KeptView<Value>, isOfServer: boolean): string | undefined {
    for (const [key, view] of this.#views) {
      if (view !== except && (!isOfServer || view.server === except.server)) return key;
    }
    return undefined;
  }

  #drop(view: KeptView<Value>, name: string): void {
    const known = view.values.get(name);
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
  // no name of a server holds a line feed
  return `${server}\n${view}`;
}
