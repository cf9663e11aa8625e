import { createHash, timingSafeEqual } from 'node:crypto';
import { LateCache } from '../../budget/collections/late-cache.js';
import { GatewayError } from '../../errors.js';
import type { Audit } from '../../ports/audit.js';
import type { Clock, Stopwatch } from '../../ports/clock.js';
import type { ConsoleUser } from '../../ports/console.js';
import type { Seal } from '../../secrets/seal.js';

/** How long a login lasts. */
const LOGIN_MS = 8 * 60 * 60 * 1000;

/**
 * Different wrong keys that one address may try in a window, and how many addresses are remembered. The same one again
 * guesses nothing: a program with an old key must not lock out the people behind its address.
 */
const TRIES = 10;
const WINDOW_MS = 60_000;
const ADDRESSES = 1000;

/**
 * Keys of at least 128 random bits, as `openssl rand` prints them in hex and base64. No number of tries finds one, so one
 * that is right is taken however many wrong ones come from its address: that of an office, or of a proxy.
 */
const RANDOM_HEX = /^(?=.*[0-9])(?=.*[a-f])[0-9a-f]{32,512}$/i;
const RANDOM_BASE64 = /^(?=.*[0-9])(?=.*[a-z])(?=.*[A-Z])[\w+/-]{32,512}={0,2}$/;

const COOKIE = 'wharf-console';

/** What the audit log says of a login. */
const LOGIN = { what: 'login', subject: 'console' } as const;

/** The place that the sealed text belongs to; it opens nowhere else. */
const PLACE = 'console login';

/** The scheme is case-insensitive (RFC 9110 §11.1). */
const BEARER = /^bearer +([\x21-\x7e]{1,512})$/i;

interface Sealed {
  name: string;
  /** Digest of the user's key: a new key ends the logins of the old one. */
  digest: string;
  until: number;
}

interface ConsoleLoginsDeps {
  seal: Seal;
  clock: Clock & Stopwatch;
  audit: Pick<Audit, 'record' | 'note'>;
}

/** Who may look at the console: each user's key in a form, or as a bearer for programs. */
export class ConsoleLogins {
  readonly #users: readonly ConsoleUser[];
  readonly #seal: Seal;
  readonly #clock: Clock & Stopwatch;
  readonly #audit: Pick<Audit, 'record' | 'note'>;
  readonly #wrong = new LateCache<{ since: number; keys: ReadonlySet<string> }>({ max: ADDRESSES });

  constructor(users: readonly ConsoleUser[], { seal, clock, audit }: ConsoleLoginsDeps) {
    this.#users = users;
    this.#seal = seal;
    this.#clock = clock;
    this.#audit = audit;
  }

  /**
   * The user of a key. Every key is compared, in constant time.
   * @param address of the peer, which may guess only so often: after that only a key that cannot be guessed is taken
   * @throws GatewayError `console_login`, `console_tries`
   */
  userOf(key: string, address: string): ConsoleUser {
    const now = this.#clock.ticks();
    const tries = this.#wrong.get(address);
    const isOpen = tries !== undefined && now - tries.since < WINDOW_MS;
    const isLocked = isOpen && tries.keys.size >= TRIES;
    const digest = createHash('sha256').update(key).digest();
    let found: ConsoleUser | undefined;
    if (!isLocked || isRandom(key))
      for (const user of this.#users) if (timingSafeEqual(user.digest, digest)) found = user;
    if (found) return found;
    if (isLocked)
      throw new GatewayError('console_tries', { retryAfter: Math.ceil((tries.since + WINDOW_MS - now) / 1000) });
    const before = isOpen ? tries : { since: now, keys: [] };
    this.#wrong.set(address, { since: before.since, keys: new Set([...before.keys, digest.toString('base64url')]) });
    const error = new GatewayError('console_login');
    this.#audit.note({ ...LOGIN, address, allowed: false, code: error.code });
    throw error;
  }

  /** Logs a person in, which is recorded. @returns the cookie @throws GatewayError as `userOf`, and `audit_unavailable` */
  async logIn(key: string, address: string): Promise<string> {
    const user = this.userOf(key, address);
    await this.#audit.record({ ...LOGIN, actor: user.name, address, allowed: true });
    return this.#cookieOf(user);
  }

  /** Refuses a viewer what only an operator may do, which is noted. @throws GatewayError `console_role` */
  checkRole({ name, role }: ConsoleUser, address: string, path: string): void {
    if (role === 'operator') return;
    const error = new GatewayError('console_role', { role });
    const refused = { allowed: false, rule: `console.users, ${name}: role`, code: error.code };
    this.#audit.note({ what: 'control', ...refused, actor: name, address, subject: path });
    throw error;
  }

  /** `Set-Cookie` of a login: no request that another site causes has it, but every port of this host gets it. */
  #cookieOf(user: ConsoleUser): string {
    const sealed: Sealed = {
      name: user.name,
      digest: user.digest.toString('base64url'),
      until: this.#clock.now() + LOGIN_MS,
    };
    return `${COOKIE}=${this.#seal.close(PLACE, JSON.stringify(sealed))}; ${ATTRIBUTES}; Max-Age=${LOGIN_MS / 1000}`;
  }

  /** The user of a request: by its cookie, or by a bearer. @throws GatewayError `console_login`, `console_tries` */
  find(headers: { cookie?: string | undefined; authorization?: string | undefined }, address: string): ConsoleUser {
    const key = BEARER.exec(headers.authorization ?? '')?.[1];
    if (key !== undefined) return this.userOf(key, address);
    const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
    const sealed = pairs.find((pair) => pair.startsWith(`${COOKIE}=`))?.slice(COOKIE.length + 1);
    const text = sealed === undefined ? undefined : this.#seal.open(PLACE, sealed);
    const login = text === undefined ? undefined : (JSON.parse(text) as Sealed);
    const user = login && this.#users.find(({ name, digest }) => matches(login, name, digest));
    if (!user || login.until <= this.#clock.now()) throw new GatewayError('console_login');
    return user;
  }
}

const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Strict';

/** `Set-Cookie` that ends a login in the browser. */
export const NO_COOKIE = `${COOKIE}=; ${ATTRIBUTES}; Max-Age=0`;

function matches(login: Sealed, name: string, digest: Buffer): boolean {
  return login.name === name && login.digest === digest.toString('base64url');
}

function isRandom(key: string): boolean {
  return RANDOM_HEX.test(key) || RANDOM_BASE64.test(key);
}
