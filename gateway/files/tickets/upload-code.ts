import { createHash, randomInt, timingSafeEqual } from 'node:crypto';
import { LateCache } from '../../budget/collections/late-cache.js';
import { GatewayError } from '../../errors.js';
import type { Clock } from '../../ports/clock.js';
import type { Owner } from '../../ports/owner.js';
import type { StateStore } from '../../ports/state-store.js';
import { createUnderAll, removeAll, type StateKeys } from '../../secrets/state-keys.js';

/** No two of them look alike: 0, O, 1, I, L and U are left out. */
const SIGNS = '23456789ABCDEFGHJKMNPQRSTVWXYZ';
const LENGTH = 6;
/** With 30 characters, three tries find one code in 243 million. */
const TRIES = 3;
/** Links whose right code this process has seen. */
const MOST_PROVEN = 10_000;
/** After the end of its link, like the ticket itself. */
const REMEMBERED_MS = 60 * 60 * 1000;

/** A file that may be uploaded only by a user who knows its code. */
interface Guarded {
  fileId: string;
  /** What a ticket keeps of its code: an HMAC under the operator's secret. */
  codeSeal: string;
  /** Milliseconds since the Unix epoch. */
  expiresAt: number;
  owner: Owner;
}

/** How a request proves that it may use a link: by the code, or the pass that was given for it. */
export interface Proof {
  code?: string | undefined;
  pass?: string | undefined;
}

/**
 * The short codes that upload pages ask for, because a link may be forwarded, logged or guessed from a screen. A code is
 * not kept; its HMAC is. Wrong tries are counted in the state store, so the limit holds over all replicas.
 */
export class UploadCodes {
  readonly #state: StateStore;
  readonly #keys: StateKeys;
  readonly #clock: Clock;
  /** Right codes that were given here, and codes that are being compared, as hashes with their file's id. */
  readonly #proven = new LateCache<true>({ max: MOST_PROVEN });
  readonly #comparing = new Map<string, Promise<void>>();

  constructor(state: StateStore, keys: StateKeys, clock: Clock) {
    this.#state = state;
    this.#keys = keys;
    this.#clock = clock;
  }

  /** A new code, as people read it, and its HMAC. */
  make(fileId: string): { code: string; seal: string } {
    const signs = Array.from({ length: LENGTH }, () => SIGNS[randomInt(SIGNS.length)]).join('');
    const [seal] = this.#keys.seals('code', `${fileId}:${signs}`);
    const code = `${signs.slice(0, LENGTH / 2)}-${signs.slice(LENGTH / 2)}`;
    return { code, seal: seal.toString('base64url') };
  }

  /** Whether all tries were used up. */
  async isLocked(fileId: string): Promise<boolean> {
    for (const key of this.#keys.all('code', tryOf(fileId, TRIES)))
      if ((await this.#state.read(key)) !== undefined) return true;
    return false;
  }

  /**
   * A code that comes in many requests at once is one try, and the right code is compared once: programs send it with
   * each request.
   * @throws GatewayError `upload_code_wrong`, `upload_locked`
   */
  async check(guarded: Guarded, code: string): Promise<void> {
    const signs = signsOf(code);
    const name = createHash('sha256').update(`${guarded.fileId}:${signs}`).digest('base64url');
    if (this.#proven.has(name)) return;
    let comparing = this.#comparing.get(name);
    if (!comparing) {
      comparing = this.#compare(guarded, signs).finally(() => this.#comparing.delete(name));
      this.#comparing.set(name, comparing);
    }
    await comparing;
    this.#proven.set(name, true);
  }

  /**
   * Each try takes one of the places in the store before the code is compared, so that simultaneous tries
   * cannot exceed the limit; the right code gives its place back.
   */
  async #compare({ fileId, codeSeal, expiresAt, owner }: Guarded, signs: string): Promise<void> {
    const ttlMs = Math.max(0, expiresAt - this.#clock.now()) + REMEMBERED_MS;
    for (let number = 1; number <= TRIES; number++) {
      const places = this.#keys.all('code', tryOf(fileId, number));
      if (!(await createUnderAll(this.#state, places, { value: 'tried', ttlMs, owner }))) continue;
      if (this.#isRight(fileId, codeSeal, signs)) return removeAll(this.#state, places);
      if (number === TRIES) break;
      throw new GatewayError('upload_code_wrong', { left: TRIES - number });
    }
    throw new GatewayError('upload_locked');
  }

  /** What a browser keeps once its person has given the code: it reveals nothing of the code. */
  pass(fileId: string): string {
    const [seal] = this.#keys.seals('pass', fileId);
    return seal.toString('base64url');
  }

  isPass(fileId: string, pass: string): boolean {
    return this.#keys.seals('pass', fileId).some((seal) => isSame(seal, pass));
  }

  #isRight(fileId: string, codeSeal: string, signs: string): boolean {
    return this.#keys.seals('code', `${fileId}:${signs}`).some((seal) => isSame(seal, codeSeal));
  }
}

/**
 * The characters of a code, however a person writes them: full-width ones, and any dash, blank, quote or full stop that was
 * copied with them.
 */
function signsOf(code: string): string {
  return code
    .normalize('NFKC')
    .toUpperCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}

function tryOf(fileId: string, number: number): string {
  return `${fileId}:${number}`;
}

function isSame(seal: Buffer, text: string): boolean {
  const given = Buffer.from(text, 'base64url');
  return given.length === seal.length && timingSafeEqual(given, seal);
}
