import { needsAnotherFile, refusalText } from './fits.js';
import { type Answer, Lost } from './request.js';
import type { Closed } from './texts.js';
import { CLOSED, TEXTS } from './texts.js';

/** One way to send a file's bytes to this page's ticket. */
export interface Wire {
  /** True when bytes that have arrived stay, so that stopping is only a pause. */
  readonly keeps: boolean;
  /** Begins, or asks how far an earlier attempt came. @returns the byte to continue from, unless the file is stored */
  begin(file: File, signal: AbortSignal): Promise<{ from: number; isStored: boolean }>;
  /**
   * Sends everything from there on. Resolves when the file is stored. @throws Refused, Lost, or the reason of `signal`
   */
  send(file: File, from: number, onSent: (bytes: number) => void, signal: AbortSignal): Promise<void>;
  /** Drops the bytes that have arrived, as far as the server can be told. */
  drop(): Promise<void>;
}

/** The server refuses the file; `closed` when it no longer accepts anything here, `isFinal` when never this file. */
export class Refused extends Error {
  readonly closed: Closed | undefined;
  readonly isFinal: boolean;

  constructor(message: string, { closed, isFinal = false }: { closed?: Closed; isFinal?: boolean } = {}) {
    super(message);
    this.closed = closed;
    this.isFinal = isFinal;
  }
}

/** The server cannot accept it now, but may later; the message says why, to the person who waits. */
export class Later extends Error {
  readonly afterMs: number | undefined;

  constructor({ why = TEXTS.notNow, afterMs }: { why?: string; afterMs?: number | undefined } = {}) {
    super(why);
    this.afterMs = afterMs;
  }
}

/** Error codes after which nothing can be uploaded at this address. */
const CLOSING: Readonly<Record<string, Closed>> = {
  link_unknown: 'unknown',
  link_expired: 'expired',
  upload_done: 'done',
  upload_cancelled: 'cancelled',
  upload_locked: 'locked',
};

/** Statuses about the moment instead of the file. */
const MOMENTARY = new Set([408, 423, 425, 429, 502, 503, 504]);

/** Error codes of a body that did not come, or came too slowly. */
const OF_LINE: ReadonlySet<string | undefined> = new Set(['body_too_slow', 'idle_timeout', 'upload_timeout']);

/** A person waits for no longer than this before a page that counts down, and wants to know why instead. */
const LONGEST_WAIT_S = 60;

/** How the server tells programs what the page does by itself. */
const TRY_AGAIN = / Try again(?: later)?\.$/;

/** What an answer says of its error. */
interface Said {
  code?: string;
  message?: string;
  actual: unknown;
  accept: unknown;
  signature: unknown;
}

/** The meaning of an unsuccessful answer. */
export function failure({ status, header, text }: Answer): Refused | Later | Lost {
  const said = errorIn(text);
  const closed = said?.code === undefined ? undefined : CLOSING[said.code];
  if (closed !== undefined) return new Refused(CLOSED[closed].text, { closed });
  if (said?.code === 'upload_code_needed') return new Refused(TEXTS.code.gone);
  if (OF_LINE.has(said?.code)) return new Lost(said?.code);
  const seconds = Number(header('retry-after'));
  if (MOMENTARY.has(status) && !(seconds > LONGEST_WAIT_S)) {
    const why = said?.message?.replace(TRY_AGAIN, '');
    return new Later({ ...(why !== undefined && { why }), afterMs: seconds > 0 ? seconds * 1000 : undefined });
  }
  const why = said?.message === undefined ? TEXTS.refused : refusalText({ ...said, message: said.message });
  return new Refused(why, { isFinal: needsAnotherFile(said?.code) });
}

function errorIn(text: string): Said | undefined {
  try {
    const { error } = JSON.parse(text) as {
      error?: Record<'code' | 'message' | 'actual' | 'accept' | 'signature', unknown>;
    };
    return {
      ...(typeof error?.code === 'string' && { code: error.code }),
      ...(typeof error?.message === 'string' && { message: error.message }),
      actual: error?.actual,
      accept: error?.accept,
      signature: error?.signature,
    };
  } catch {
    return undefined;
  }
}
