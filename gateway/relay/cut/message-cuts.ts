import type { HeldBudget } from '../../budget/held.js';
import { asGatewayError, GatewayError } from '../../errors.js';
import type { Ingest, Stored } from '../../files/ingest/ingest.js';
import { PartLease } from '../../files/ingest/part-lease.js';
import { isObject } from '../../json/value.js';
import { RANGE } from '../../mcp/ranges.js';
import type { Limits } from '../../policy/limits.js';
import type { JsonObject, JsonValue, SlotPlace, SlotReading } from '../../ports/dialect.js';
import type { Owner } from '../../ports/owner.js';
import { parseExactly } from '../../wire/json/parse.js';
import { pointer } from '../../wire/json/pointer.js';
import {
  countedBytes,
  type HeldMessage,
  type SlotSink,
  type SlotValue,
  type WatchRange,
} from '../../wire/json/reader.js';
import { Cut, type CutOptions } from './cut.js';
import type { SpelledIn } from './gathered-string.js';
import { MessageFiles, type MessageFilesDeps } from './message-files.js';
import { isInStructure, type MessageText, MessageTexts } from './message-texts.js';
import type { KnownPlace } from './places.js';
import { NOWHERE } from './text-parts.js';

export interface CutDeps extends MessageFilesDeps {
  limits: Limits;
  held: HeldBudget;
  /** By the names of slots. */
  places: ReadonlyMap<string, KnownPlace>;
  /** Present where rules ask where files come from: raw length from which a string counts where only a file may be. */
  fileMin?: number | undefined;
  /** Decoded size from which a file in a text may be cut, where that is less than `limits.inlineOther`. */
  nestedFrom?: number;
}

/** A cut in a complete object, with what the object says about the file. */
export interface ClaimedCut {
  cut: Cut;
  place: SlotPlace;
  holder: JsonObject;
  range: WatchRange;
  /** Undefined when it is not a file. */
  reading: SlotReading | undefined;
}

type CutLimits = Pick<CutOptions, 'definite' | 'inlineLimit'> &
  Partial<Pick<CutOptions, 'spoolLimit'>> & {
    /** A file there is shown by its preview. */
    isShown?: boolean;
    /** It is a part of a text. */
    isNested?: boolean;
  };

/** Most bytes of `limits.response` that files which stay inline leave free, for what is around files. */
const KEPT_FREE = 256 * 1024;

/** Raw bytes of a line with escapes: it is counted before it is known whether it belongs to the base64 above it. */
const MOST_LINE = 1024;

/** Characters of a path in an error; a key can have millions, and errors are logged. */
const MAX_SHOWN_PATH = 200;

/** Everything cut out of one message, and whether the message can still be forwarded. */
export class MessageCuts {
  readonly #deps: CutDeps;
  /** Those of the server, until `judge` brings the lower ones of a tool. */
  #limits: Limits;
  /** Whose message it is: whose shares it takes of `limits.held` and `limits.partMemory`, and of the event loop. */
  readonly owner: Owner;
  readonly #signal: AbortSignal;
  readonly #message: HeldMessage;
  #madeFiles: MessageFiles | undefined;
  #bytes = 0;
  /** Values of the objects around files that have been parsed so far. */
  #looked = 0;
  /** Files opened, whatever became of them. */
  #opened = 0;
  /** Strings where only a file may be, if they are counted. */
  #inPlace = 0;
  readonly #inTexts = new WeakSet<Cut>();
  #madeTexts: MessageTexts | undefined;
  #released = false;
  /** Resolves when the message fails while its files are awaited. */
  #failing: Promise<void> | undefined;
  #tellFailure: (() => void) | undefined;

  readonly cuts: Cut[] = [];
  readonly claimed: ClaimedCut[] = [];
  failure: GatewayError | undefined;

  constructor(deps: CutDeps, owner: Owner, message: HeldMessage, signal: AbortSignal) {
    this.#deps = deps;
    this.#limits = deps.limits;
    this.owner = owner;
    this.#message = message;
    this.#signal = signal;
  }

  /** Made for the first file: most messages have none. */
  get #files(): MessageFiles {
    this.#madeFiles ??= new MessageFiles(this.#deps, this.owner, this.#signal);
    return this.#madeFiles;
  }

  /** Made for the first text, as well. */
  get #texts(): MessageTexts {
    this.#madeTexts ??= new MessageTexts({
      owner: this.owner,
      nestedFrom: this.#deps.nestedFrom,
      account: (delta) => this.account(delta),
      openCut: (value, spelled) => this.#newNestedCut(value, spelled),
      withdraw: (cut) => {
        this.cuts.splice(this.cuts.lastIndexOf(cut), 1);
        cut.drop();
      },
    });
    return this.#madeTexts;
  }

  /** Bytes of this message in memory, including cut strings that stayed inline. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Of these its own, without what is noted beside it. */
  get #own(): number {
    return this.#bytes - this.#message.noted;
  }

  /** Texts that may contain cuts of their own. */
  get texts(): readonly MessageText[] {
    return this.#madeTexts?.all ?? [];
  }

  /** True once the message is known to answer a request, whatever the order of its keys. */
  get isAnswer(): boolean {
    const [cut] = this.cuts;
    if (cut?.value.path[0] === 'result') return true;
    return this.#message.captured(RANGE.id) !== undefined && this.#message.captured('method') === undefined;
  }

  /**
   * Accounts for bytes held (+) or released (-). Passing `limits.response` or `limits.held` fails the message, never
   * the stream.
   */
  account(delta: number): void {
    if (this.#released) return;
    this.#bytes += delta;
    try {
      this.#deps.held.add(delta, this.owner);
    } catch (error) {
      this.fail(error);
    }
    const { response } = this.#limits;
    const actual = countedBytes(this.#own, this.#message.noted);
    if (actual > response && !this.failure) {
      this.fail(new GatewayError('response_too_large', { limit: 'limits.response', allowed: response, actual }));
    }
  }

  /** Releases everything that was accounted for, and stops accounting. */
  release(): void {
    this.#released = true;
    this.#deps.held.add(-this.#bytes, this.owner);
    this.#bytes = 0;
  }

  /** Takes over a long string of the message. @returns what its bytes go to; one that drops them if the message has failed */
  open(value: SlotValue): SlotSink {
    if (this.failure) return NOWHERE;
    const limits = this.#limits;
    const place = this.#deps.places.get(value.slot)?.place;
    if (this.#isOneTooMany(place)) return NOWHERE;
    const contentLimit = Math.max(limits.inlineImage, limits.inlineOther);
    const openUsual = () => {
      const usual = place?.kind === 'resource' ? limits.inlineResource : contentLimit;
      const encoding = place?.encoding ?? 'base64';
      const definite = place?.encoding === 'base64';
      const inlineLimit = definite ? Math.min(usual, this.#roomInline()) : usual;
      const isShown = place?.kind === 'content' || place?.kind === 'prompt';
      const cut = this.#newCut(value, { encoding, anyBlanks: definite }, { definite, inlineLimit, isShown });
      value.attachment = cut;
      return cut;
    };
    if (place?.isProse) return this.#texts.open(value, limits, openUsual);
    return isInStructure(value) ? this.#texts.openStructured(value, limits, openUsual) : openUsual();
  }

  /** Decoded bytes for which `limits.response` has room now: a longer file is cut, and then does not count for it. */
  #roomInline(): number {
    const { response } = this.#limits;
    return Math.max(0, Math.floor(((response - Math.min(KEPT_FREE, response / 4) - this.#own) / 4) * 3));
  }

  /** Each file is noted where rules ask where it comes from, however short: so there may be only so many. */
  #isOneTooMany(place: SlotPlace | undefined): boolean {
    const { fileMin } = this.#deps;
    if (fileMin === undefined || place?.encoding !== 'base64') return false;
    this.#inPlace += 1;
    if (this.#inPlace <= this.#limits.files) return false;
    this.fail(this.#tooManyFiles());
    return true;
  }

  /**
   * Whether it is a file is known only at the end of the text, and a text that would have passed must still pass: so the
   * spelling of such a string may take half of what a message may have. In structuredContent, where a program may want it as it
   * came, it may take all that is left.
   */
  #newNestedCut(value: SlotValue, spelled: SpelledIn): Cut | undefined {
    if (this.failure) return undefined;
    const { spool, response, inlineOther } = this.#limits;
    const half = Math.max(spool, Math.floor(response / 2) - this.#own);
    const spoolLimit = isInStructure(value)
      ? (kept: number) => Math.max(spool, response - MOST_LINE - this.#own + kept)
      : () => half;
    const cut = this.#newCut(value, spelled, { definite: false, inlineLimit: inlineOther, spoolLimit, isNested: true });
    this.#inTexts.add(cut);
    return cut;
  }

  #newCut(
    value: SlotValue,
    spelled: SpelledIn,
    { definite, inlineLimit, spoolLimit, isShown = false, isNested = false }: CutLimits,
  ): Cut {
    const path = shown(pointer(value.path));
    const { spool } = this.#limits;
    const cut = new Cut(value, {
      ...spelled,
      definite,
      inlineLimit,
      spoolLimit: spoolLimit ?? (() => spool),
      path,
      lease: () => new PartLease(this.#deps.ingest, this.owner, this.#signal),
      openFile: (lease) => this.#openFile(path, lease, { isNested, isShown }),
      keepFile: (ingest) => this.#files.keep(ingest),
      account: (delta) => this.account(delta),
      fail: (error) => this.fail(error),
    });
    this.cuts.push(cut);
    return cut;
  }

  /**
   * An object that can hold a file is complete: now its type is known, and with it the limit that applies.
   * @returns true when it contains a cut string
   */
  closed(range: WatchRange): boolean {
    if (this.failure) return false;
    const here: Cut[] = [];
    // the cuts of the object that has just ended are the last ones
    for (let at = this.cuts.length - 1; at >= 0; at--) {
      const cut = this.cuts[at] as Cut;
      if (cut.value.offset <= range.start) break;
      here.unshift(cut);
    }
    if (here.length === 0) return false;
    // an object too large to parse stays unclaimed: its string is put back unchanged
    if (this.#looked + range.values > this.#limits.values) return true;
    this.#looked += range.values;
    const holder = parseHolder(this.#message.slice(range.start, range.end));
    if (!holder) return true;
    for (const cut of here) {
      const known = this.#deps.places.get(cut.value.slot);
      if (!known || cut.value.attachment !== cut) continue;
      const { place, from } = known;
      const reading = from.read(place, holder);
      this.claimed.push({ cut, place, holder, range, reading });
      if (reading && cut.inline && this.#isOver(cut, place, reading)) cut.storeLate();
    }
    return true;
  }

  /** The message has changed: reads the objects around its files again. */
  reread(): void {
    for (const claimed of this.claimed) {
      const { start, end } = claimed.range;
      claimed.holder = parseHolder(this.#message.slice(start, end)) ?? claimed.holder;
    }
  }

  /** Judges what has been cut so far by lower limits: those of the tool whose result the message is. */
  async judge(limits: Limits): Promise<void> {
    this.#limits = limits;
    this.account(0);
    for (const { cut, place, reading } of this.claimed) {
      if (!this.failure && reading && cut.inline && this.#isOver(cut, place, reading)) cut.storeLate();
    }
    await this.settle();
    if (this.failure) return;
    if (this.#fileCount > limits.files) this.fail(this.#tooManyFiles());
    for (const cut of this.cuts) {
      const actual = cut.stored?.size ?? 0;
      if (actual <= limits.file || this.#inTexts.has(cut)) continue;
      const facts = { path: cut.path, limit: 'limits.file', allowed: limits.file, actual };
      this.fail(new GatewayError('file_too_large', facts));
    }
  }

  get #fileCount(): number {
    return Math.max(this.#opened, this.#inPlace);
  }

  #tooManyFiles(): GatewayError {
    const { files: allowed } = this.#limits;
    return new GatewayError('too_many_files', { limit: 'limits.files', allowed, actual: this.#fileCount });
  }

  #isOver(cut: Cut, place: SlotPlace, reading: SlotReading): boolean {
    const { size } = cut;
    return size !== undefined && size > inlineLimitOf(cut, place, reading, this.#limits);
  }

  /**
   * Set while the source must wait for the store or for memory. Never rejects, and ends its wait when the message
   * fails.
   */
  settle(): Promise<unknown> | undefined {
    if (this.failure) return undefined;
    const waits: Promise<unknown>[] = [];
    for (const cut of this.cuts) if (cut.pressure) waits.push(cut.pressure);
    if (waits.length === 0) return undefined;
    this.#failing ??= new Promise((resolve) => {
      this.#tellFailure = resolve;
    });
    return Promise.race([Promise.all(waits), this.#failing]);
  }

  /** Fails the message: nothing of it is forwarded, its memory is released and its stored files are removed. */
  fail(error: unknown): void {
    if (this.failure) return;
    this.failure = asGatewayError(error);
    this.#message.discard();
    for (const { nested } of this.texts) nested.drop();
    this.discardFiles();
    this.#tellFailure?.();
  }

  /**
   * Removes, in the background, every file stored for this message that has no record: all of them, or those put back
   * into the message.
   */
  discardFiles(): void {
    for (const cut of this.cuts) cut.drop();
    this.#madeFiles?.discard();
  }

  /** A stored file has got a record, so this message must no longer remove it. */
  recorded(stored: Stored): void {
    this.#madeFiles?.recorded(stored);
  }

  #openFile(
    path: string,
    lease: PartLease | undefined,
    { isNested, isShown }: { isNested: boolean; isShown: boolean },
  ): Ingest {
    const limits = this.#limits;
    if (!isNested) this.#opened += 1;
    if (this.#opened > limits.files) throw this.#tooManyFiles();
    // a string that is put back may be as long as a message; the size of a file is checked when it is known to be one
    const name = isNested && limits.response > limits.file ? 'response' : 'file';
    const limit = { name: `limits.${name}`, bytes: limits[name], path };
    return this.#files.open(limit, lease, isShown);
  }
}

/** Decoded bytes up to which a file stays inline. */
export function inlineLimitOf(cut: Cut, place: SlotPlace, reading: SlotReading, limits: Limits): number {
  if (place.kind === 'resource') return limits.inlineResource;
  // a model reads the base64 of a data: URI in a text, also that of an image
  return reading.inlineLimit === 'image' && !cut.dataUri ? limits.inlineImage : limits.inlineOther;
}

function shown(path: string): string {
  return path.length <= MAX_SHOWN_PATH ? path : `${path.slice(0, MAX_SHOWN_PATH)}…`;
}

/** Whether a cut is a whole string of structuredContent, where its type cannot be seen beside it. */
export function isStructured(cut: Cut): boolean {
  return isInStructure(cut.value) && cut.value.attachment === cut;
}

function parseHolder(bytes: Buffer): JsonObject | undefined {
  const value = parseExactly(bytes.toString('utf8')) as JsonValue;
  return isObject(value) ? value : undefined;
}
