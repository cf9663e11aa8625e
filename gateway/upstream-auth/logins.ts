import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { asGatewayError, GatewayError } from '../errors.js';
import type { Audit, AuditEntry } from '../ports/audit.js';
import type { Introduction, TokenClient } from '../ports/oauth.js';
import type { StateStore } from '../ports/state-store.js';
import { createUnderAll, removeAll, type StateKeys } from '../secrets/state-keys.js';
import { type GrantTarget, parametersOf } from './grant-target.js';
import { type KeptTokens, placeOfPerson } from './kept-tokens.js';

/** RFC 6749 §4.1.2.1: the code of a person who does not want to, or may not. */
const DECLINED = 'access_denied';

/** From the link to its page, and from there to the end of the login. */
const LOGIN_MS = 10 * 60_000;

/** No link that was made before a mark, or names it, is in use for so long. */
const MARK_MS = 3 * LOGIN_MS;

const RANDOM_BYTES = 32;

/** RFC 6749 §4.1.2.1: codes are short words; anyone who sends a browser back may write others. */
const REFUSAL = /^[\w.-]{1,64}$/;

/** What the audit log calls the steps of a login. */
const STEPS = { begin: 'login begun', finish: 'login finished' } as const;
type Step = keyof typeof STEPS;

/** Where people log in for a server. */
export interface LoginTarget extends GrantTarget {
  client: TokenClient;
  issuer: string;
}

interface Parts {
  state: StateStore;
  keys: StateKeys;
  kept: KeptTokens;
  /** Where people log in for a server of now; undefined where they do not. */
  targetOf: (server: string) => LoginTarget | undefined;
  /** What every address of Wharf begins with. */
  baseUrl: () => string;
  audit: Pick<Audit, 'record' | 'note'>;
}

/** The browser of a person, for the audit log. */
export type Browser = Pick<AuditEntry, 'address' | 'client'>;

/** Who logs in where. */
interface Login {
  principal: string;
  server: string;
}

/** The link of a login. */
interface Link extends Login {
  /** The mark of the login that was finished last when the link was made; absent without one. */
  after?: string;
}

interface Begun extends Link {
  /** Of its target: what comes back counts under no others. */
  settings: string;
  verifier: string;
  /** SHA-256 of the cookie of the browser that has begun it. */
  browser: string;
}

/** How a login ended. */
type LoginEnd =
  | { kind: 'done'; server: string }
  /** A reload has changed how people log in there. */
  | { kind: 'changed'; server: string }
  | { kind: 'unknown' }
  | { kind: 'refused' };

/**
 * Logins of people at the authorization servers of servers (authorization code with PKCE). A link is good for one person
 * and one server, and what comes back must come to the browser that has followed it: otherwise an attacker could have
 * another person's login put to the attacker's name, or the attacker's own to that person's. A login that is finished ends
 * all links of before, its own too: who finds one later could put another login in its place.
 */
export class Logins {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Makes the link at which a person logs in. */
  async begin(principal: string, server: string): Promise<{ url: string; id: string }> {
    const ticket = secret();
    const target = this.#parts.targetOf(server);
    const last = target && (await this.#last(target, principal));
    if (last) await this.#parts.state.extend(last.key, MARK_MS);
    await this.#keep(ticket, { principal, server, ...(last && { after: last.mark }) });
    const id = createHash('sha256').update(ticket).digest('base64url').slice(0, 22);
    return { url: `${this.#parts.baseUrl()}/oauth/login/${ticket}`, id };
  }

  /**
   * A person has opened the link.
   * @param cookie of the browser
   * @returns undefined for a link that does not work
   * @throws GatewayError `upstream_login_failed`, `audit_unavailable`
   */
  async open(ticket: string, cookie: string, browser: Browser): Promise<(Login & { url: string }) | undefined> {
    const link = await this.#read<Link>(ticket);
    const target = link && this.#parts.targetOf(link.server);
    if (!target || (await this.#last(target, link.principal))?.mark !== link.after) {
      this.#noteUnknown('begin', browser);
      return undefined;
    }
    const { principal, server } = link;
    const login = { principal, server };
    return this.#told(login, 'begin', browser, async () => {
      const state = secret();
      const verifier = secret();
      const url = await target.client.authorizationUrl({
        redirect_uri: this.#callback,
        state,
        code_challenge: hashOf(verifier),
        code_challenge_method: 'S256',
        ...parametersOf(target),
      });
      await this.#record(login, 'begin', browser);
      const { settings } = target;
      await this.#keep(state, { ...link, settings, verifier, browser: hashOf(cookie) } satisfies Begun);
      return { ...login, url };
    });
  }

  /**
   * The browser comes back from the authorization server.
   * @throws GatewayError `upstream_login_failed`, `audit_unavailable`
   */
  async finish(params: URLSearchParams, cookie: string | undefined, browser: Browser): Promise<LoginEnd> {
    const begun = await this.#take(params.get('state') ?? '');
    if (!begun) {
      this.#noteUnknown('finish', browser);
      return { kind: 'unknown' };
    }
    const about = this.#about(begun, 'finish', browser);
    if (cookie === undefined || !isSame(hashOf(cookie), begun.browser)) {
      this.#refuse(about, 'it came back to another browser');
      return { kind: 'unknown' };
    }
    const { server, principal, settings } = begun;
    const target = this.#parts.targetOf(server);
    // a code of one authorization server is not for another one to see, nor its token for what it was not asked for
    if (target?.settings !== settings) {
      this.#refuse(about, 'a reload has changed how people log in there');
      return { kind: 'changed', server };
    }
    return this.#told(begun, 'finish', browser, async () => {
      const issuer = params.get('iss');
      // RFC 9207 §2.4: the answer of another authorization server, or one that hides where it comes from
      const isOthers = issuer === null ? await target.client.namesItself() : issuer !== target.issuer;
      if (isOthers) {
        this.#refuse(about, 'it came from another authorization server');
        return { kind: 'unknown' };
      }
      const refusal = params.get('error') ?? DECLINED;
      if (refusal !== DECLINED) {
        const said = REFUSAL.test(refusal) ? `says ${refusal}` : 'refuses the login';
        const reason = `its authorization server ${said}`;
        throw new GatewayError('upstream_login_failed', { server, reason, isFinal: true });
      }
      const code = params.has('error') ? '' : (params.get('code') ?? '');
      if (code === '') {
        this.#refuse(about, 'the authorization server gave no code: the person declined, or may not');
        return { kind: 'refused' };
      }
      const tokens = await target.client.request({
        grant_type: 'authorization_code',
        code,
        redirect_uri: this.#callback,
        code_verifier: begun.verifier,
        ...(target.resource !== undefined && { resource: target.resource }),
      });
      if (!(await this.#isFirst(target, begun))) {
        this.#refuse(about, 'another login was finished since its link was made');
        return { kind: 'unknown' };
      }
      await this.#record(begun, 'finish', browser);
      await this.#parts.kept.put(placeOfPerson(target, principal), tokens);
      return { kind: 'done', server };
    });
  }

  #about({ principal, server }: Login, subject: Step, browser: Browser) {
    return { what: 'consent', subject: STEPS[subject], principal, server, ...browser } as const;
  }

  async #record(login: Login, step: Step, browser: Browser): Promise<void> {
    await this.#parts.audit.record({ ...this.#about(login, step, browser), allowed: true });
  }

  #refuse(about: Omit<AuditEntry, 'allowed'>, reason: string): void {
    this.#parts.audit.note({ ...about, allowed: false, reason });
  }

  /** A link or an answer that was never begun, or that is used up. */
  #noteUnknown(step: Step, browser: Browser): void {
    const about = { what: 'consent', subject: STEPS[step], ...browser } as const;
    this.#refuse(about, 'it was never begun, is used up, or took too long');
  }

  /** Does a step of a login; if that fails, the audit log says so. */
  async #told<Value>(login: Login, step: Step, browser: Browser, run: () => Promise<Value>): Promise<Value> {
    try {
      return await run();
    } catch (thrown) {
      const { code } = asGatewayError(thrown);
      this.#parts.audit.note({ ...this.#about(login, step, browser), allowed: false, code });
      throw thrown;
    }
  }

  get #callback(): string {
    return callbackOf(this.#parts.baseUrl());
  }

  /** The mark of the login of a person that was finished last, for as long as links of before may be in use. */
  async #last(target: LoginTarget, principal: string): Promise<{ key: string; mark: string } | undefined> {
    const { state, keys } = this.#parts;
    for (const token of keys.all('token', placeOfPerson(target, principal).name)) {
      const key = markOf(token);
      const mark = await state.read(key);
      if (mark !== undefined) return { key, mark };
    }
    return undefined;
  }

  /** Of all logins whose links were made after the same one, exactly one counts, on any replica. */
  async #isFirst(target: LoginTarget, { principal, after }: Begun): Promise<boolean> {
    const { state, keys } = this.#parts;
    const last = await this.#last(target, principal);
    if (last?.mark !== after) return false;
    const mark = secret();
    if (last) return state.replace(last.key, last.mark, mark, MARK_MS);
    const { name, owner } = placeOfPerson(target, principal);
    const marks = keys.all('token', name).map(markOf);
    if (!(await createUnderAll(state, marks, { value: mark, ttlMs: MARK_MS, owner }))) return false;
    // from now on it is replaced where it is
    const own = markOf(keys.of('token', name));
    await removeAll(
      state,
      marks.filter((one) => one !== own),
    );
    return true;
  }

  async #keep(name: string, value: Link | Begun): Promise<void> {
    const { state, keys } = this.#parts;
    const key = keys.of('login', name);
    const { principal, server } = value;
    await state.create(key, keys.seal.close(key, JSON.stringify(value)), LOGIN_MS, { principal, server });
  }

  async #read<Value>(name: string): Promise<Value | undefined> {
    for (const key of this.#parts.keys.all('login', name)) {
      const opened = this.#opened<Value>(key, await this.#parts.state.read(key));
      if (opened) return opened;
    }
    return undefined;
  }

  /** Each answer of an authorization server counts once. */
  async #take(name: string): Promise<Begun | undefined> {
    for (const key of this.#parts.keys.all('login', name)) {
      const opened = this.#opened<Begun>(key, await this.#parts.state.take(key));
      // the ticket of a link does not answer
      if (opened?.verifier !== undefined) return opened;
    }
    return undefined;
  }

  #opened<Value>(key: string, sealed: string | undefined): Value | undefined {
    const text = sealed === undefined ? undefined : this.#parts.keys.seal.open(key, sealed);
    return text === undefined ? undefined : (JSON.parse(text) as Value);
  }
}

/** Beside the token. What a browser brings is looked for among links alone, so that no address takes a mark away. */
function markOf(token: string): string {
  return `${token}:login`;
}

/** Where authorization servers send browsers back. */
function callbackOf(baseUrl: string): string {
  return `${baseUrl}/oauth/callback`;
}

/** Who Wharf is to authorization servers that it was not registered with. */
export function clientDocument(baseUrl: string): Introduction['document'] {
  return {
    client_id: clientIdOf(baseUrl),
    client_name: 'Wharf',
    client_uri: baseUrl,
    redirect_uris: [callbackOf(baseUrl)],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
}

function clientIdOf(baseUrl: string): string {
  return `${baseUrl}/.well-known/wharf-client.json`;
}

function secret(): string {
  return randomBytes(RANDOM_BYTES).toString('base64url');
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
