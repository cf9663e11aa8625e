import { isDeepStrictEqual } from 'node:util';
import { RecentMap } from '../../budget/collections/recent-map.js';
import type { Ledger } from '../../budget/ledger.js';
import { heapOf } from '../../budget/memory/heap-size.js';
import type { Stopwatch } from '../../ports/clock.js';
import { WrittenTools } from './written-tools.js';

/** Most values of one view. */
const MAX_VALUES = 2000;

/** After this time a view is requested again. */
const VIEW_TTL_MS = 5 * 60 * 1000;

/** Cost of an empty view. */
const EMPTY_BYTES = 500;

/** Contents of one server's views that another view is compared with: callers have few different lists. */
const MOST_COMPARED = 8;

/** Cost of a text that is known. */
const TEXT_BYTES = 500;

/** Most texts of a content for each of its values: what differs between callers may only be a description. */
const TEXTS_PER_VALUE = 2;

interface Kept<Value> {
  readonly value: Value;
  readonly bytes: number;
}

/** What a text says, which need not be read again where the same text comes again. */
interface KnownText<Value> {
  readonly name: string;
  readonly value: Value;
}

/** What one view knows, or several views of one server that know the same. */
class Content<Value> {
  readonly values = new RecentMap<string, Kept<Value>>();
  /** What texts say, by their digests. Those of values that are gone are not found. */
  readonly texts = new Map<string, KnownText<Value>>();
  bytes = 0;
  /** Views that have it. */
  holders = 1;

  /** Everything in it is the same, not only equal. */
  isSame({ values }: Content<Value>): boolean {
    if (values.size !== this.values.size) return false;
    for (const [name, { value }] of values.entries()) if (this.values.peek(name)?.value !== value) return false;
    return true;
  }

  textOf(digest: string): KnownText<Value> | undefined {
    const text = this.texts.get(digest);
    return text && this.values.peek(text.name)?.value === text.value ? text : undefined;
  }
}

/** What is kept of one view of one server, by name. */
export class KeptView<Value> {
  readonly server: string;
  /** When it must be requested again, on the stopwatch. */
  readonly until: number;
  content = new Content<Value>();
  /** True when a value was dropped or never taken. */
  hasLost = false;
  isGone = false;

  constructor(server: string, until: number) {
    this.server = server;
    this.until = until;
  }

  get values(): RecentMap<string, Kept<Value>> {
    return this.content.values;
  }

  /** What it takes, as if no other view had the same. */
  get bytes(): number {
    return EMPTY_BYTES + this.content.bytes;
  }

  get(name: string): Value | undefined {
    return this.values.use(name)?.value;
  }
}

/**
 * What is kept of all servers' lists, in bytes: with a total for the process, a share for each server, and a limit per
 * view. A dropped list can be requested again, so the view unused longest makes room for another.
 *
 * Thousands of callers have the same list: views with the same content share it. Kept for each of them, the lists of 200
 * callers of a hundred tools with schemas took all the room, and then every call of any other made Wharf ask for its list again.
 */
export class KeptViews<Value> {
  /** Their tools as clients see them, which can be written again: they go before any view. */
  readonly written: WrittenTools;
  readonly #ledger: Ledger;
  readonly #clock: Stopwatch;
  readonly #views = new RecentMap<string, KeptView<Value>>();
  /** Contents that other views of the server may have too, the newest last. */
  readonly #contents = new Map<string, Content<Value>[]>();

  constructor(ledger: Ledger, clock: Stopwatch) {
    this.#ledger = ledger;
    this.#clock = clock;
    this.written = new WrittenTools(ledger, clock);
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
      this.#ledger.add(EMPTY_BYTES, { server });
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

  /** Drops all that is kept of a server. */
  forgetServer(server: string): void {
    this.written.forgetServer(server);
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
    const known = view.values.use(name);
    if (known && isDeepStrictEqual(known.value, value)) return;
    if (!this.#makeOwn(view)) return;
    this.#drop(view, name);
    const most = Math.min(mostBytes, this.#ledger.allowed('server')) - EMPTY_BYTES;
    const kept = this.#keptElsewhere(view.server, name, value) ?? { value, bytes: heapOf([name, value], most) };
    const { bytes } = kept;
    if (bytes > most) {
      view.hasLost = true;
      return;
    }
    for (const oldest of view.values.keys()) {
      if (view.values.size < MAX_VALUES && view.content.bytes + bytes <= most) break;
      this.#drop(view, oldest);
      view.hasLost = true;
    }
    if (!this.#makeRoom(view, bytes)) {
      view.hasLost = true;
      return;
    }
    view.values.set(name, kept);
    this.#count(view, bytes);
  }

  /** A list has been kept: if another view has the same one, both have it once. */
  settle(view: KeptView<Value>): void {
    if (view.isGone || view.hasLost) return;
    const { server, content } = view;
    const others = this.#contents.get(server) ?? [];
    if (others.includes(content)) return;
    const same = others.find((other) => other.isSame(content));
    if (same) {
      this.#release(view);
      same.holders += 1;
      view.content = same;
      for (const [digest, text] of content.texts) this.#know(view, digest, text);
    }
    const rest = others.filter((other) => other !== same);
    this.#contents.set(server, [...rest.slice(1 - MOST_COMPARED), same ?? content]);
  }

  /** What a text of the server says, if it has come before. @param digest of the text, and of what else decides about it */
  textOf(server: string, digest: string): KnownText<Value> | undefined {
    for (const content of this.#contents.get(server)?.toReversed() ?? []) {
      const text = content.textOf(digest);
      if (text) return text;
    }
    return undefined;
  }

  /** Remembers what a text says. @param name of the value that has been kept of it */
  noteText(view: KeptView<Value>, digest: string, name: string): void {
    const kept = view.values.peek(name);
    if (kept) this.#know(view, digest, { name, value: kept.value });
  }

  #know(view: KeptView<Value>, digest: string, text: KnownText<Value>): void {
    const { content } = view;
    const { texts, values } = content;
    if (view.isGone || content.textOf(digest)) return;
    // what it says now may be kept anew
    if (texts.delete(digest)) this.#count(view, -TEXT_BYTES);
    if (texts.size >= TEXTS_PER_VALUE * values.size) {
      this.#count(view, -TEXT_BYTES * texts.size);
      texts.clear();
    }
    if (!this.#makeRoom(view, TEXT_BYTES)) return;
    texts.set(digest, text);
    this.#count(view, TEXT_BYTES);
  }

  /** A value that another view has under this name. */
  #keptElsewhere(server: string, name: string, value: Value): Kept<Value> | undefined {
    for (const { values } of this.#contents.get(server)?.toReversed() ?? []) {
      const kept = values.peek(name);
      if (kept && isDeepStrictEqual(kept.value, value)) return kept;
    }
    return undefined;
  }

  /** Gives a view whose content changes a copy of its own. @returns false where there is no room for it */
  #makeOwn(view: KeptView<Value>): boolean {
    const { content } = view;
    if (content.holders === 1) return true;
    if (!this.#makeRoom(view, content.bytes)) {
      view.hasLost = true;
      return false;
    }
    // the others may have made that room
    if (content.holders === 1) return true;
    content.holders -= 1;
    view.content = new Content();
    for (const [name, kept] of content.values.entries()) view.values.set(name, kept);
    for (const [digest, text] of content.texts) view.content.texts.set(digest, text);
    this.#count(view, content.bytes);
    return true;
  }

  /** Drops views until that much more can be counted. The view that needs the room stays. */
  #makeRoom(view: KeptView<Value>, bytes: number): boolean {
    for (;;) {
      const refusal = this.#ledger.refusal(bytes, { server: view.server });
      if (!refusal) return true;
      if (this.written.makeRoom(refusal.full === 'server' ? view.server : undefined)) continue;
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
    this.#release(view);
    this.#ledger.give(EMPTY_BYTES, { server: view.server });
  }

  /** The view has nothing afterwards. */
  #release(view: KeptView<Value>): void {
    const { server, content } = view;
    view.content = new Content();
    content.holders -= 1;
    if (content.holders > 0) return;
    this.#ledger.give(content.bytes, { server });
    const others = this.#contents.get(server)?.filter((other) => other !== content) ?? [];
    if (others.length > 0) this.#contents.set(server, others);
    else this.#contents.delete(server);
  }

  #count(view: KeptView<Value>, bytes: number): void {
    view.content.bytes += bytes;
    if (bytes > 0) this.#ledger.add(bytes, { server: view.server });
    else this.#ledger.give(-bytes, { server: view.server });
  }
}

function keyOf(server: string, view: string): string {
  // a server's name never contains a line feed
  return `${server}\n${view}`;
}
