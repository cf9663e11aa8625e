import { isNotWritten, keptIn, type Shape } from '../../errors/kept.js';
import type { Clock } from '../../ports/clock.js';
import type { StateStore } from '../../ports/state-store.js';

const KEY = 'sweep';

/** A gateway may run once a day only, or once a week. */
const KEPT_MS = 7 * 24 * 3_600_000;

/** Most objects of one note, which then has 50 kB. Those left out are noted by a later sweep. */
const MOST = 5_000;

/** Last characters of an object's key, which are random: 60 bits tell any two objects apart. */
const TAIL = 10;

interface Note {
  /** When the sweep had ended: all its objects were seen before. */
  at: number;
  /** Their tails, one behind the other. */
  seen: string;
}

const NOTE: Shape<Note> = { at: 'number', seen: 'text' };

interface SightingsDeps {
  state: Pick<StateStore, 'create' | 'read' | 'replace'>;
  clock: Clock;
  /** How old a note must be before others go by it, and before another takes its place. */
  afterMs: number;
}

/** What a note tells a sweep. */
interface Seen {
  at: number;
  has(key: string): boolean;
}

/**
 * What sweeps have seen, noted for those of other processes: one that ends before its second sweep would remove nothing. A
 * note stays until it is old enough to be used, however many sweeps there are meanwhile.
 */
export class Sightings {
  readonly #deps: SightingsDeps;

  constructor(deps: SightingsDeps) {
    this.#deps = deps;
  }

  /**
   * Whether a sweep is due: the last note is old. Without one, a note of no objects begins the time.
   * @throws GatewayError `state_unavailable`
   */
  async isDue(): Promise<boolean> {
    const { text, note } = await this.#read();
    if (text === undefined) await this.note([]);
    return text !== undefined && this.#isOld(note);
  }

  /** Objects that an earlier sweep has seen without a record; undefined where no note is old enough. */
  async seen(): Promise<Seen | undefined> {
    const { note } = await this.#read();
    if (!note || !this.#isOld(note)) return undefined;
    const tails = new Set<string>();
    for (let at = 0; at < note.seen.length; at += TAIL) tails.add(note.seen.slice(at, at + TAIL));
    return { at: note.at, has: (key) => tails.has(key.slice(-TAIL)) };
  }

  /** Notes objects that have been seen without a record. Of sweeps that end at the same time one does. */
  async note(keys: Iterable<string>): Promise<void> {
    const { state, clock } = this.#deps;
    const { text, note } = await this.#read();
    if (!this.#isOld(note)) return;
    let seen = '';
    for (const key of keys) if (seen.length < MOST * TAIL) seen += key.slice(-TAIL);
    const next = JSON.stringify({ at: clock.now(), seen } satisfies Note);
    if (text === undefined) await state.create(KEY, next, KEPT_MS);
    else await state.replace(KEY, text, next, KEPT_MS);
  }

  #isOld(note: Note | undefined): boolean {
    return note === undefined || this.#deps.clock.now() - note.at >= this.#deps.afterMs;
  }

  async #read(): Promise<{ text?: string; note?: Note }> {
    const text = await this.#deps.state.read(KEY);
    if (text === undefined) return {};
    try {
      return { text, note: keptIn(text, NOTE) };
    } catch (error) {
      if (isNotWritten(error)) return { text };
      throw error;
    }
  }
}
