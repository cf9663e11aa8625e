import { WireError } from '../errors.js';
import type { FrameFields } from '../sse/frame.js';
import { ByteStore } from './byte-store.js';
import type { Path } from './pointer.js';

/** A string that was cut out. Its bytes went to a sink; a gap of zero width remains between its quotes. */
export interface SlotValue {
  /** Name of the slot in the watch tree. */
  readonly slot: string;
  readonly path: Path;
  /** Held offset of the gap: the opening quote is before it, the closing quote at it. */
  readonly offset: number;
  /** Raw bytes given to the sink so far. */
  length: number;
  /** True once the closing quote was seen. A message can be malformed, or end, before. */
  complete: boolean;
  /** Free for the caller's use. */
  attachment?: unknown;
}

/** Where a watched value is: held bytes `[start, end)`. */
export interface WatchRange {
  readonly name: string;
  readonly path: Path;
  readonly start: number;
  readonly end: number;
  /** Number of values inside, at any depth. The cost of parsing depends on them more than on the bytes. */
  readonly values: number;
}

/** The JSON text of a small scalar as `JSON.stringify` spells it. */
export interface Capture {
  readonly name: string;
  readonly path: Path;
  readonly text: string;
}

/** Limits of a held message, and the callbacks that account for it. */
export interface HoldRules {
  /** Bytes as `countedBytes` counts them; Infinity is allowed. */
  readonly maxHeld: number;
  /** False: bytes are counted, then released. */
  readonly holds: boolean;
  readonly onHeld: ((delta: number, message: HeldMessage) => void) | undefined;
  readonly onLimit: ((error: WireError, message: HeldMessage) => void) | undefined;
}

/** Bytes that replace held bytes `[start, end)`. */
export interface HeldEdit {
  readonly start: number;
  readonly end: number;
  readonly bytes: Buffer;
}

/**
 * Assumed cost of one slot, range, capture or duplicate, in bytes: some 200 were measured, path included. Without it
 * `[{},{},…` in a watched array would take 70 times its own size.
 */
const RECORD_COST = 200;

/** Of what is noted beside a message, 300 places do not count: one of exactly `limits.response` bytes passes. */
const FREE_NOTED = 300 * RECORD_COST;

/**
 * The bytes by which a message is judged: its own, and those of what is noted beside it beyond 300 places.
 * @param noted as `HeldMessage.noted`
 */
export function countedBytes(own: number, noted: number): number {
  return own + Math.max(0, noted - FREE_NOTED);
}

const SPACE = 0x20;

/** Most captures of a discarded message, whose captures are no longer counted by a limit. */
const MAX_LATE_CAPTURES = 1000;

/** One message without the bytes of its cut strings. Offsets are held offsets: a gap has no width. */
export class HeldMessage {
  /** Cut strings, in order. */
  readonly slots: SlotValue[] = [];
  /** Watched values in order of completion: an inner one before the one around it. */
  readonly ranges: WatchRange[] = [];
  readonly captures: Capture[] = [];
  /** Names of captures left out because their text exceeded `MAX_CAPTURE` bytes or there were too many. */
  readonly overlong: string[] = [];
  /** A watched key that is repeated in one object; `path` is the object's JSON Pointer. */
  readonly duplicates: { path: string; key: string }[] = [];
  /** Set when the bytes are not JSON: after the raw offset nothing was cut, watched or captured. */
  malformed: { offset: number; reason: string } | undefined;
  /** An SSE frame's other fields. */
  frame: FrameFields | undefined;
  /** Number of values at any depth: members, items and containers. */
  values = 0;
  /** True without any value: an SSE frame that has only other fields, or blank data. */
  empty = true;
  /** Free for the caller's use. */
  attachment: unknown;

  readonly #rules: HoldRules;
  readonly #bytes = new ByteStore();
  /** The beginning of a string that may still become a cut. It joins the message once that is decided. */
  readonly #pending = new ByteStore();
  #discarded = false;
  /** Bytes counted but not held. */
  #passed = 0;
  /** `RECORD_COST` times the number of records. */
  #recordCost = 0;

  constructor(rules: HoldRules) {
    this.#rules = rules;
  }

  /** Held bytes. */
  get size(): number {
    return this.#bytes.size + this.#passed;
  }

  /** Bytes of a string that may still become a cut; reported as held. */
  get pendingBytes(): number {
    return this.#pending.size;
  }

  /** Assumed bytes of what is noted beside the message; reported as held. */
  get noted(): number {
    return this.#recordCost;
  }

  get discarded(): boolean {
    return this.#discarded;
  }

  /** Text of the first capture called `name`. */
  captured(name: string): string | undefined {
    return this.captures.find((capture) => capture.name === name)?.text;
  }

  /** The held bytes, as they lie in memory; do not write to them. */
  pieces(): readonly Buffer[] {
    return this.#bytes.pieces();
  }

  /** The held bytes, each cut string empty: JSON, unless `malformed`. */
  skeleton(): Buffer {
    return this.slice(0, this.size);
  }

  /** Held bytes `[start, end)`; do not write to them. */
  slice(start: number, end: number): Buffer {
    return this.#bytes.slice(start, end);
  }

  /**
   * The message in order, with edits applied and cut strings at their places.
   * @param edits sorted and disjoint; one of no width inserts. A cut string in a replaced range is left out.
   * @throws RangeError when the edits are not sorted and disjoint
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
   * Releases the held bytes and holds no more. Slots and watches are no longer reported, captures are. For a message
   * that has failed while its rest is still to be read.
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
   * Overwrites held bytes with blanks: whole members with a comma, so the text stays JSON. Watches inside are
   * forgotten.
   * @param places in order and disjoint
   * @throws RangeError when a string was cut out of one of them, because it would be put back among the blanks
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
    if (this.slots.some(({ offset }) => isInside(offset))) throw new RangeError('a cut string would be among blanks');
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
   * Reader's side: adds an entry to `list`.
   * @param extra its cost beyond the usual
   * @returns false when the message is discarded
   * @throws WireError `held`
   */
  record<T>(list: T[], entry: T, extra = 0): boolean {
    const cost = RECORD_COST + extra;
    if (this.#discarded || !this.#mayHold(0, cost)) return false;
    list.push(entry);
    this.#recordCost += cost;
    this.#rules.onHeld?.(cost, this);
    return !this.#discarded;
  }

  /** For `handler.closed`: drops the range just reported and releases its cost. */
  forgetRange(): void {
    if (this.#discarded || this.ranges.pop() === undefined) return;
    this.#recordCost -= RECORD_COST;
    this.#rules.onHeld?.(-RECORD_COST, this);
  }

  /** Reader's side: records a capture, also in a discarded message, because its sender must get an answer. */
  capture(capture: Capture): void {
    if (!this.#discarded) {
      this.record(this.captures, capture);
      // this very capture may have passed the limit
      if (!this.#discarded || this.captures.at(-1) === capture) return;
    }
    if (this.captures.length < MAX_LATE_CAPTURES) this.captures.push(capture);
    else this.captureOverlong(capture.name);
  }

  /** Reader's side. */
  captureOverlong(name: string): void {
    if (!this.overlong.includes(name)) this.overlong.push(name);
  }

  /** Reader's side: ends the use of the current chunk, which a few bytes must not pin. */
  settle(): void {
    this.#bytes.settle();
    this.#pending.settle();
  }

  /** Reader's side: reports a passed limit. Throws unless the callback discards the message. */
  reportLimit(error: WireError): void {
    this.#rules.onLimit?.(error, this);
    if (!this.#discarded) throw error;
  }

  /** Reader's side: keeps the beginning of a string that may become a cut; it does not yet count as held. */
  appendPending(chunk: Buffer, start: number, end: number): void {
    if (this.#discarded || end <= start) return;
    this.#pending.append(chunk, start, end);
    this.#rules.onHeld?.(end - start, this);
  }

  /** Reader's side: takes the pending bytes out of the message. */
  takePending(): readonly Buffer[] {
    const { size } = this.#pending;
    if (size === 0) return [];
    const pieces = this.#pending.pieces();
    this.#pending.clear();
    this.#rules.onHeld?.(-size, this);
    return pieces;
  }

  /** @throws WireError `held`, unless the callback discards the message: then the result is false */
  #mayHold(bytes: number, noted = 0): boolean {
    const { maxHeld } = this.#rules;
    const total = countedBytes(this.#bytes.size + bytes, this.#recordCost + noted);
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
