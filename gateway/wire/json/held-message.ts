import { WireError } from '../errors.js';
import type { FrameFields } from '../sse/frame.js';
import { ByteStore } from './byte-store.js';

/** A string that has been cut out. Its bytes went to a sink; between its quotes a gap of no width is left. */
export interface SlotValue {
  /** Name of the slot in the watch tree. */
  readonly slot: string;
  readonly path: readonly (string | number)[];
  /** Held offset of the gap: the byte before it is the opening quote, the byte at it the closing one. */
  readonly offset: number;
  /** Raw bytes given to the sink so far. */
  length: number;
  /** True once the closing quote has been seen. A message can be malformed or end before. */
  complete: boolean;
  /** The caller's own. */
  attachment?: unknown;
}

/** Where a watched value stands: held bytes `[start, end)`. */
export interface WatchRange {
  readonly name: string;
  readonly path: readonly (string | number)[];
  readonly start: number;
  readonly end: number;
  /** Of how many values it is made, at any depth: what it costs to parse is theirs more than its bytes'. */
  readonly values: number;
}

/** The JSON text of a small scalar as `JSON.stringify` spells it, kept aside. */
export interface Capture {
  readonly name: string;
  readonly path: readonly (string | number)[];
  readonly text: string;
}

/** What a held message may cost, and who keeps account. */
export interface HoldRules {
  /** Bytes; Infinity is allowed. */
  readonly maxHeld: number;
  /** False: bytes are counted and let go. */
  readonly holds: boolean;
  readonly onHeld: ((delta: number, message: HeldMessage) => void) | undefined;
  readonly onLimit: ((error: WireError, message: HeldMessage) => void) | undefined;
}

/** Bytes taking the place of held bytes `[start, end)`. */
export interface HeldEdit {
  readonly start: number;
  readonly end: number;
  readonly bytes: Buffer;
}

/**
 * What one slot, range, capture or duplicate is taken to cost, in bytes: some 200 were measured, path included. Without
 * it `[{},{},…` in a watched array would take 70 times its own size.
 */
const RECORD_COST = 200;

const SPACE = 0x20;

/** Captures up to which more are taken when the message has been discarded, since nobody counts them any more. */
const MAX_LATE_CAPTURES = 1000;

/** Everything of one message but the bytes of its cut strings. Offsets are held offsets: a gap has no width. */
export class HeldMessage {
  /** Cut strings, in order. */
  readonly slots: SlotValue[] = [];
  /** Watched values, in the order in which they were complete: an inner one before the one around it. */
  readonly ranges: WatchRange[] = [];
  readonly captures: Capture[] = [];
  /** Names of captures left out: their text was longer than `MAX_CAPTURE` bytes, or there were far too many. */
  readonly overlong: string[] = [];
  /** A key of the watch tree that came again in one object; `path` is the object's JSON Pointer. */
  readonly duplicates: { path: string; key: string }[] = [];
  /** Set where the bytes are no JSON: from the raw offset on nothing was cut, watched or captured any more. */
  malformed: { offset: number; reason: string } | undefined;
  /** Of an SSE frame: its other fields. */
  frame: FrameFields | undefined;
  /** Values in it, at any depth: members, items and what they stand in. */
  values = 0;
  /** True when there is no value at all: an SSE frame of other fields only, or one whose data is blank. */
  empty = true;

  readonly #rules: HoldRules;
  readonly #bytes = new ByteStore();
  /** The beginning of a string that may still become a cut. Not part of the message before that is decided. */
  readonly #pending = new ByteStore();
  #discarded = false;
  /** Bytes that were not to be held. */
  #passed = 0;
  /** `RECORD_COST` of each record. */
  #recordCost = 0;

  constructor(rules: HoldRules) {
    this.#rules = rules;
  }

  /** Held bytes. */
  get size(): number {
    return this.#bytes.size + this.#passed;
  }

  /** Reader's side: there is a beginning of a string that may become a cut. */
  get hasPending(): boolean {
    return this.#pending.size > 0;
  }

  get discarded(): boolean {
    return this.#discarded;
  }

  /** Text of the first capture called `name`. */
  captured(name: string): string | undefined {
    return this.captures.find((capture) => capture.name === name)?.text;
  }

  /** The held bytes, each cut string empty: JSON, unless `malformed`. */
  skeleton(): Buffer {
    return this.slice(0, this.size);
  }

  /** Held bytes `[start, end)`; not to be written to. */
  slice(start: number, end: number): Buffer {
    return this.#bytes.slice(start, end);
  }

  /**
   * The message in order, edits applied, cut strings where they stood.
   * @param edits sorted and disjoint; one of no width inserts. A cut string in a replaced range is left out.
   * @throws RangeError when they are not
   */
  render(edits: readonly HeldEdit[]): (Buffer | SlotValue)[] {
    const out: (Buffer | SlotValue)[] = [];
    let at = 0;
    let next = 0;
    for (const edit of edits) {
      if (edit.start < at || edit.end < edit.start || edit.end > this.size) {
        throw new RangeError(`edit [${edit.start}, ${edit.end}) is out of order or outside of the message`);
      }
      next = this.#renderPlain(out, at, edit.start, next);
      if (edit.bytes.length > 0) out.push(edit.bytes);
      while (next < this.slots.length && (this.slots[next] as SlotValue).offset <= edit.end) next++;
      at = edit.end;
    }
    this.#renderPlain(out, at, this.size, next);
    return out;
  }

  /**
   * Forgets the held bytes, and from now on holds none: no slot or watch is reported any more, captures go on. For a
   * message that has failed while its rest is still to be read.
   */
  discard(): void {
    if (this.#discarded) return;
    this.#discarded = true;
    const freed = this.#bytes.size + this.#pending.size + this.#recordCost;
    this.#recordCost = 0;
    this.#bytes.clear();
    this.#pending.clear();
    if (freed > 0) this.#rules.onHeld?.(-freed, this);
  }

  /**
   * Puts blanks in the place of held bytes: whole members with a comma, so that it stays JSON. What was watched in them
   * is forgotten.
   * @param places in order and disjoint
   * @throws RangeError when a string was cut out of one of them, and would be put back among the blanks
   */
  blank(places: readonly { start: number; end: number }[]): void {
    const isInside = (offset: number) => {
      let low = 0;
      let high = places.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((places[middle] as { end: number }).end <= offset) low = middle + 1;
        else high = middle;
      }
      return low < places.length && (places[low] as { start: number }).start <= offset;
    };
    if (this.slots.some(({ offset }) => isInside(offset)))
      throw new RangeError('a cut string would stand among blanks');
    for (const { start, end } of places) this.#bytes.fill(SPACE, start, end);
    const left = this.ranges.filter(({ start }) => !isInside(start));
    this.ranges.length = 0;
    for (const range of left) this.ranges.push(range);
  }

  /** Reader's side: adds bytes. @throws WireError `held` */
  append(chunk: Buffer, start: number, end: number): void {
    if (this.#discarded || end <= start) return;
    if (!this.#rules.holds) {
      this.#passed += end - start;
      return;
    }
    if (!this.#mayHold(end - start)) return;
    this.#bytes.append(chunk, start, end);
    this.#rules.onHeld?.(end - start, this);
  }

  /**
   * Reader's side: notes something in `list`.
   * @param extra what it costs beyond the usual
   * @returns false when the message is discarded
   * @throws WireError `held`
   */
  record<T>(list: T[], entry: T, extra = 0): boolean {
    const cost = RECORD_COST + extra;
    if (this.#discarded || !this.#mayHold(cost)) return false;
    list.push(entry);
    this.#recordCost += cost;
    this.#rules.onHeld?.(cost, this);
    return !this.#discarded;
  }

  /** For `handler.closed`: the range just reported is of no use, and what it costs is given back. */
  forgetRange(): void {
    if (this.#discarded || this.ranges.pop() === undefined) return;
    this.#recordCost -= RECORD_COST;
    this.#rules.onHeld?.(-RECORD_COST, this);
  }

  /** Reader's side: a capture is noted in a discarded message, too, for its sender has to be answered. */
  capture(capture: Capture): void {
    if (!this.#discarded) {
      this.record(this.captures, capture);
      // it may be this very capture that passed the limit
      if (!this.#discarded || this.captures.at(-1) === capture) return;
    }
    if (this.captures.length < MAX_LATE_CAPTURES) this.captures.push(capture);
    else this.captureOverlong(capture.name);
  }

  /** Reader's side. */
  captureOverlong(name: string): void {
    if (!this.overlong.includes(name)) this.overlong.push(name);
  }

  /** Reader's side: no more comes from the chunk at hand, which must not be pinned for a few bytes. */
  settle(): void {
    this.#bytes.settle();
    this.#pending.settle();
  }

  /** Reader's side: whoever is told of a passed limit may discard the message; else it is the end of the body. */
  reportLimit(error: WireError): void {
    this.#rules.onLimit?.(error, this);
    if (!this.#discarded) throw error;
  }

  /** Reader's side: keeps the beginning of a string that may become a cut; it does not count as held yet. */
  appendPending(chunk: Buffer, start: number, end: number): void {
    if (this.#discarded || end <= start) return;
    this.#pending.append(chunk, start, end);
    this.#rules.onHeld?.(end - start, this);
  }

  /** Reader's side: the pending bytes, given up by the message. */
  takePending(): readonly Buffer[] {
    const { size } = this.#pending;
    if (size === 0) return [];
    const pieces = this.#pending.pieces();
    this.#pending.clear();
    this.#rules.onHeld?.(-size, this);
    return pieces;
  }

  /** @throws WireError `held` unless the message is discarded, and false is returned */
  #mayHold(bytes: number): boolean {
    const { maxHeld } = this.#rules;
    const total = this.#bytes.size + this.#recordCost + bytes;
    if (total <= maxHeld) return true;
    this.reportLimit(new WireError('held', `message holds more than ${maxHeld} bytes`, total));
    return false;
  }

  #renderPlain(out: (Buffer | SlotValue)[], from: number, until: number, next: number): number {
    let at = from;
    let index = next;
    // A gap at `until` belongs to the edit there, except at the message's end.
    for (; index < this.slots.length; index++) {
      const slot = this.slots[index] as SlotValue;
      if (slot.offset >= until && until !== this.size) break;
      this.#bytes.slicesInto(out, at, slot.offset);
      out.push(slot);
      at = slot.offset;
    }
    this.#bytes.slicesInto(out, at, until);
    return index;
  }
}
