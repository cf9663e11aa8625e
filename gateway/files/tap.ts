import type { Owner } from '../ports/owner.js';

/**
 * Reads a file's bytes on their way into the store, beside it. Of an upload in several requests, each request has a tap
 * of its own, which reads the bytes of that request.
 */
export interface Tap {
  /**
   * The next bytes, which are valid during this call only. A tap that keeps some copies them, and counts the copy.
   * @returns a wait, when it can take no more at present: the source stops until then
   * @throws GatewayError when the file is refused; a wait may reject with one
   */
  take(bytes: Buffer): Promise<void> | undefined;
  /**
   * All bytes have been taken. The file becomes known only after this has resolved.
   * @param digest their sha-256 as base64url; of a file that goes on from an earlier request, that of all of it
   * @throws GatewayError when the file is refused: nothing of it stays in the store
   */
  end(digest: string): Promise<void>;
  /**
   * Of an upload in several requests, the first bytes of this request stay in the store, whatever becomes of the rest.
   * @param size how many of the bytes taken so far
   * @throws GatewayError when they may not stay
   */
  keep?(size: number): Promise<Kept>;
  /** The file is given up. Ends the wait that `take` returned; `end` does not follow, or has failed already. */
  abort(): void;
  /** The file is refused after `end` was called, by another reader or by the store: what `end` has done is taken back. */
  undo?(): void;
  /** Of an upload in several requests, `end` was called before its last byte, and what has come until then is noted. */
  noted?(): Promise<void>;
}

/** Bytes of an upload in several requests that a later one goes on behind. */
export interface Kept {
  /** That they are kept is noted. Does not fail. */
  noted(): Promise<void>;
  /** It is not, and never will be: takes back what keeping them has done. Does not fail. */
  undo(): Promise<void>;
}

/** What a tap is told before the first bytes. */
export interface TappedFile {
  /** Id of the future file. */
  id: string;
  /** Key of its object. */
  key: string;
  owner: Owner;
  /** Of a file that goes on from an earlier request: how many of its first bytes that one has brought, and counted. */
  continued?: number | undefined;
  /** Since when all bytes of the file count, where that is not the end of this request. */
  countedAt?: number | undefined;
  /** How many bytes will be taken, where that is known before. Others are refused. */
  expected?: number | undefined;
  /** Aborts with the exchange that the bytes come in. */
  signal: AbortSignal;
}

/** Opens a tap; called with the first bytes of each file. Undefined for a file that it does not read. */
export type OpenTap = (file: TappedFile) => Tap | undefined;

/** The taps of one file, as one. */
export class Taps {
  readonly #taps: Tap[] = [];
  #isEnded = false;

  constructor(open: readonly OpenTap[], file: TappedFile) {
    for (const one of open) {
      const tap = one(file);
      if (tap) this.#taps.push(tap);
    }
  }

  /** @returns the wait for the slowest of them */
  take(bytes: Buffer): Promise<unknown> | undefined {
    let waits: Promise<void>[] | undefined;
    try {
      for (const tap of this.#taps) {
        const wait = tap.take(bytes);
        if (wait) waits = [...(waits ?? []), wait];
      }
    } catch (error) {
      // nothing awaits the others then, and one that refuses the file too would end the process
      for (const wait of waits ?? []) wait.catch(() => undefined);
      throw error;
    }
    return waits && Promise.all(waits);
  }

  /** Bytes stay in the store. */
  async keep(size: number): Promise<Kept> {
    const kept = await Promise.all(this.#taps.map((tap) => tap.keep?.(size)));
    const all = async (ends: 'noted' | 'undo') => {
      await Promise.all(kept.map((one) => one?.[ends]()));
    };
    return { noted: () => all('noted'), undo: () => all('undo') };
  }

  async noted(): Promise<void> {
    await Promise.all(this.#taps.map((tap) => tap.noted?.()));
  }

  /** The file does not come about, although all its bytes have been taken. */
  undo(): void {
    for (const tap of this.#taps) tap.undo?.();
  }

  async end(digest: string): Promise<void> {
    await Promise.all(this.#taps.map((tap) => tap.end(digest)));
    this.#isEnded = true;
  }

  abort(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    for (const tap of this.#taps) tap.abort();
  }
}
