import type { Clock } from '../../../gateway/ports/clock.js';
import type { Log } from '../../../gateway/ports/log.js';
import type { Issuer, IssuerKeysFound } from '../../../gateway/ports/oauth.js';
import { discover, endpointIn } from './discovery.js';
import { faultIn, type HttpJson } from './http-json.js';

/** An unknown key may be a new one, or made up: a flood of made-up ones asks the issuer twice a minute. */
const LEAST_BETWEEN_MS = 30_000;

/** Within this time the issuer is asked at most twice, for any reason. */
const TWICE_WITHIN_MS = 60_000;

/** Keys that are as old as this are asked for again, beside the requests. */
const FRESH_MS = 10 * 60_000;

/** How long keys are used of an issuer that does not answer. */
const LONGEST_MS = 24 * 60 * 60_000;

const MOST_KEYS = 100;

/** One answer of the issuer. It is replaced as a whole. */
export interface KeySet {
  readonly keys: readonly Readonly<Record<string, unknown>>[];
  /** Changes only with the keys. */
  readonly text: string;
}

interface Parts {
  http: HttpJson;
  clock: Clock;
  log: Log;
}

/** The keys of one issuer, as long as they may be used. */
export class IssuerKeys {
  readonly issuer: Issuer;
  readonly #parts: Parts;
  #set: KeySet | undefined;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  /** The time before that. */
  #triedBeforeAt = Number.NEGATIVE_INFINITY;
  /** When it was last asked because of a token that no known key has signed. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | undefined;

  constructor(issuer: Issuer, parts: Parts) {
    this.issuer = issuer;
    this.#parts = parts;
  }

  /** The keys as last seen, if that is not too long ago. Asks anew beside the request when they are old. */
  get current(): KeySet | undefined {
    // a clock may be set back
    const age = Math.abs(this.#parts.clock.now() - this.#fetchedAt);
    if (age > FRESH_MS) void this.refresh();
    return age > LONGEST_MS ? undefined : this.#set;
  }

  /** Asks the issuer, at most once in 30 seconds however many want it. Never rejects. */
  async refresh(): Promise<void> {
    await (this.#running ?? this.#ask(this.#triedAt));
  }

  /**
   * Asks the issuer because of a token that no known key has signed. Its keys may have been replaced since a moment ago, when
   * they were asked for at a start or because of their age: such a question does not hold this one up. Never rejects.
   */
  async lookForNew(): Promise<void> {
    if (this.#running) return this.#running;
    const asked = this.#ask(this.#lookedAt);
    if (asked) this.#lookedAt = this.#triedAt;
    await asked;
  }

  /** @param last when it was last asked for this reason */
  #ask(last: number): Promise<void> | undefined {
    const now = this.#parts.clock.now();
    // a clock may be set back
    const isWithin = (ms: number, at: number) => Math.abs(now - at) < ms;
    if (isWithin(LEAST_BETWEEN_MS, last) || isWithin(TWICE_WITHIN_MS, this.#triedBeforeAt)) return undefined;
    this.#triedBeforeAt = this.#triedAt;
    this.#triedAt = now;
    this.#running = this.#fetch().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #fetch(): Promise<void> {
    const { http, clock, log } = this.#parts;
    try {
      const { url, keys } = await keysOf(this.issuer, http);
      const text = JSON.stringify(keys);
      if (text !== this.#set?.text) this.#set = keys.length > 0 ? { keys, text } : undefined;
      this.#fetchedAt = clock.now();
      // it may have taken all of them back, so none of before is used; its callers need not log in anew for it
      if (keys.length === 0) throw noneIn(url);
    } catch (error) {
      const { issuer } = this.issuer;
      log.warn({ issuer, err: error, known: this.#set !== undefined }, 'the keys of an issuer could not be fetched');
    }
  }
}

/** What an issuer shows now. @throws Error */
export async function keysNow(issuer: Issuer, http: HttpJson): Promise<IssuerKeysFound> {
  const { url, keys, date } = await keysOf(issuer, http);
  if (keys.length === 0) throw noneIn(url);
  return { count: keys.length, date };
}

function noneIn(url: string): Error {
  return new Error(`${url}: no key in its list can verify a token`);
}

interface Shown {
  /** Where they are. */
  url: string;
  /** Those that can verify a token. */
  keys: KeySet['keys'];
  date: number | undefined;
}

/** @throws Error */
async function keysOf({ issuer, jwksUri }: Issuer, http: HttpJson): Promise<Shown> {
  const url = jwksUri ?? endpointIn(await discover(issuer, http), 'jwks_uri');
  const { status, body, date } = await http.get(url).catch((error: unknown) => {
    throw new Error(`${url}: ${faultIn(error)}`, { cause: error });
  });
  const all: unknown = body?.keys;
  if (status !== 200 || !Array.isArray(all)) throw new Error(`${url}: HTTP ${status} without a list of keys`);
  if (all.length > MOST_KEYS) throw new Error(`${url}: ${all.length} keys; at most ${MOST_KEYS} are taken`);
  return { url, keys: all.map(keyIn).filter((key) => key !== undefined), date };
}

/** The members of a key of any kind that jose reads (RFC 7517 §4, RFC 7518 §6, RFC 8037 §2, RFC 9964). */
const TEXTS = ['kty', 'use', 'alg', 'kid', 'crv', 'n', 'e', 'x', 'y', 'pub'];

/** Members of which each makes a key one that can also sign: what is in a public document is not a secret. */
const SECRETS = ['k', 'd', 'priv'];

/**
 * A key that can only verify, without what else stands beside it: jose copies a key as deeply as it goes, for every token
 * while that fails.
 */
function keyIn(value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const all = value as Readonly<Record<string, unknown>>;
  if (typeof all.kty !== 'string' || SECRETS.some((name) => all[name] !== undefined)) return undefined;
  const { key_ops: uses } = all;
  const texts = TEXTS.filter((name) => all[name] !== undefined);
  if (!texts.every((name) => typeof all[name] === 'string') || !(uses === undefined || isTexts(uses))) return undefined;
  const known = uses === undefined ? texts : [...texts, 'key_ops'];
  return Object.fromEntries(known.map((name) => [name, all[name]]));
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
