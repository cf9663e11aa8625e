import { LRUCache } from 'lru-cache';
import { isObject } from '../json/value.js';
import type { Clock } from '../ports/clock.js';
import type { JsonObject, JsonValue } from '../ports/json.js';
import type { ExchangeUpstream } from '../ports/upstream.js';
import { parseJson } from '../wire/json/parse.js';
import { weigh } from '../wire/json/weigh.js';

/** Anyone may ask for them, so the server is asked seldom. */
const KEPT_MS = 60_000;

/** Paths: those that clients may ask for, and the one that the server has named. */
const MOST_KEPT = 10;

/** A document that is not there may be there soon: the server may just be starting. */
const MISSED_MS = 5000;

const WAIT_MS = 5000;
const MOST_BYTES = 64 * 1024;

/** It is written again, and JSON.stringify ends in a full stack some thousand levels deep. */
const LIGHT = { depth: 100, values: 20_000 };

/** Public JSON documents at a server's own origin. Its redirects are not followed. */
export class ServerDocuments {
  readonly #upstream: ExchangeUpstream;
  readonly #kept: LRUCache<string, { document: Promise<JsonObject | undefined> }>;

  constructor(upstream: ExchangeUpstream, clock: Clock) {
    this.#upstream = upstream;
    this.#kept = new LRUCache({ max: MOST_KEPT, ttl: KEPT_MS, perf: clock, ttlResolution: 0 });
  }

  /** The document at a path; undefined without one, and while the server cannot be asked. */
  at(path: string): Promise<JsonObject | undefined> {
    const kept = this.#kept.get(path);
    if (kept) return kept.document;
    const document = this.#ask(path).catch(() => undefined);
    this.#kept.set(path, { document });
    void document.then((found) => {
      const isKept = this.#kept.get(path)?.document === document;
      if (!found && isKept) this.#kept.set(path, { document }, { ttl: MISSED_MS });
    });
    return document;
  }

  /** Asks anew for what is wanted next. */
  forget(): void {
    this.#kept.clear();
  }

  async #ask(path: string): Promise<JsonObject | undefined> {
    const request = { method: 'GET', path, headers: { accept: 'application/json' }, redirects: 'answer' } as const;
    const { status, kind, body } = await this.#upstream.open(request, AbortSignal.timeout(WAIT_MS));
    if (status !== 200 || kind !== 'json') {
      body.destroy();
      return undefined;
    }
    const pieces: Buffer[] = [];
    let length = 0;
    for await (const piece of body as AsyncIterable<Buffer>) {
      length += piece.length;
      // leaving the loop destroys the answer
      if (length > MOST_BYTES) return undefined;
      pieces.push(piece);
    }
    const text = Buffer.concat(pieces);
    if (weigh(text, LIGHT) !== 'light') return undefined;
    const value = parseJson(text.toString('utf8')) as JsonValue;
    return isObject(value) ? value : undefined;
  }
}
