import { randomUUID } from 'node:crypto';
import { importPKCS8, SignJWT } from 'jose';
import { GatewayError } from '../../../gateway/errors.js';
import type { Clock } from '../../../gateway/ports/clock.js';
import type { ClientSettings, Registered, TokenClient, Tokens } from '../../../gateway/ports/oauth.js';
import { discover, endpointIn, type ServerMetadata, UnusableMetadata } from './discovery.js';
import { codeOf } from './error-code.js';
import { type HttpJson, isOfTime, type JsonAnswer, UnusableAnswer } from './http-json.js';
import { type Introduced, NotRegistered } from './introduced.js';

/** RFC 7523 §2.2 */
const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** How long an assertion of Wharf's is good. */
const ASSERTION_SECONDS = 60;

/** How long the metadata of an authorization server is kept. */
const METADATA_MS = 10 * 60_000;

/** RFC 6749 §5.2: codes that a request has in common with every later one like it. Others may be tried again. */
const FINAL = new Set(['invalid_grant', 'invalid_client', 'unauthorized_client', 'invalid_scope', 'access_denied']);

/** A longer life, of some three hundred years, has no end that a clock could tell. */
const MOST_SECONDS = 1e10;

/** Bytes of a token that a header can hold; one for refreshing is kept with it, and need not be longer. */
const LONGEST_TOKEN = 16 * 1024;

interface Parts {
  http: HttpJson;
  clock: Clock;
  server: string;
  /** Where `clientId` is not set. */
  introduced: Introduced | undefined;
}

/** Wharf as a client of one authorization server: gets tokens for the servers behind Wharf. */
export class JoseClient implements TokenClient {
  readonly #settings: ClientSettings;
  readonly #parts: Parts;
  #metadata: { value: ServerMetadata; at: number } | undefined;

  constructor(settings: ClientSettings, parts: Parts) {
    this.#settings = settings;
    this.#parts = parts;
  }

  async request(grant: Readonly<Record<string, string>>): Promise<Tokens> {
    const { http, clock } = this.#parts;
    const asked = clock.now();
    let answer: JsonAnswer;
    try {
      const url = this.#settings.tokenUrl ?? (await this.#endpoint('token_endpoint'));
      const form = new URLSearchParams(grant);
      answer = await http.post(url, form, await this.#identify(form, url));
    } catch (error) {
      throw this.#unreached(error);
    }
    const { status, body } = answer;
    const { access_token: token, token_type: type, expires_in: life, refresh_token: refresh, error } = body ?? {};
    if (status === 200 && typeof token !== 'string' && error === undefined) {
      const what = body ? 'answers without a token' : 'answers with something that is not JSON';
      throw this.#failed(`its authorization server ${what}`, { isFinal: false });
    }
    if (status !== 200 || typeof token !== 'string') {
      const code = codeOf(answer);
      if (code === 'invalid_client') await this.#parts.introduced?.unknown();
      throw this.#failed(`its authorization server says ${code}`, { isFinal: this.#isFinal(code) });
    }
    if (typeof type !== 'string' || type.toLowerCase() !== 'bearer')
      throw this.#failed('its authorization server gives tokens of another type than Bearer', { isFinal: true });
    // it becomes a part of a header
    if (token.length > LONGEST_TOKEN || !/^[\x21-\x7e]+$/.test(token))
      throw this.#failed('its authorization server gives a token that no header can hold', { isFinal: true });
    // RFC 6749 §A.17: printable characters
    const isKept = typeof refresh === 'string' && refresh !== '';
    if (isKept && (refresh.length > LONGEST_TOKEN || !/^[\x20-\x7e]+$/.test(refresh)))
      throw this.#failed('its authorization server gives a refresh token that cannot be kept', { isFinal: true });
    const seconds = secondsOf(life);
    return {
      accessToken: token,
      ...(seconds !== undefined && { expiresAt: asked + seconds * 1000, givenAt: asked }),
      ...(isKept && { refreshToken: refresh }),
    };
  }

  async authorizationUrl(params: Readonly<Record<string, string>>): Promise<string> {
    try {
      const url = new URL(await this.#endpoint('authorization_endpoint'));
      const all = { response_type: 'code', client_id: (await this.#who()).clientId, ...params };
      for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value);
      return url.href;
    } catch (error) {
      throw this.#unreached(error);
    }
  }

  async namesItself(): Promise<boolean> {
    try {
      return (await this.#about()).authorization_response_iss_parameter_supported === true;
    } catch (error) {
      throw this.#unreached(error);
    }
  }

  /**
   * A secret of the operator's that is refused may just be replaced, and the logins that were made with it go on. What a
   * forgotten registration was given is over.
   */
  #isFinal(code: string): boolean {
    return FINAL.has(code) && (code !== 'invalid_client' || this.#parts.introduced !== undefined);
  }

  /** @throws Error */
  async #endpoint(name: string): Promise<string> {
    return endpointIn(await this.#about(), name);
  }

  /** @throws Error */
  async #about(): Promise<ServerMetadata> {
    const { http, clock } = this.#parts;
    const { issuer = '' } = this.#settings;
    if (!this.#metadata || clock.now() - this.#metadata.at > METADATA_MS)
      this.#metadata = { value: await discover(issuer, http), at: clock.now() };
    return this.#metadata.value;
  }

  /** As whom the authorization server knows Wharf. @throws Error */
  async #who(): Promise<Registered> {
    const { clientId, clientSecret, secretBy } = this.#settings;
    if (clientId !== undefined) return { clientId, clientSecret, secretBy };
    const { introduced } = this.#parts;
    const metadata = await this.#about();
    if (introduced?.canBeKnown(metadata)) return introduced.as(metadata);
    const reason = 'set clientId, because its authorization server registers no clients';
    throw this.#failed(reason, { isFinal: false });
  }

  /** Adds who asks: to the form, or as the headers that it returns. */
  async #identify(form: URLSearchParams, url: string): Promise<Record<string, string>> {
    const { privateKey, algorithm = 'ES256' } = this.#settings;
    const { clientId, clientSecret, secretBy } = await this.#who();
    if (privateKey !== undefined) {
      form.set('client_id', clientId);
      form.set('client_assertion_type', ASSERTION);
      const now = Math.floor(this.#parts.clock.now() / 1000);
      const assertion = new SignJWT({
        iss: clientId,
        sub: clientId,
        aud: this.#settings.issuer ?? url,
        jti: randomUUID(),
      })
        .setProtectedHeader({ alg: algorithm })
        .setIssuedAt(now)
        .setExpirationTime(now + ASSERTION_SECONDS);
      form.set('client_assertion', await assertion.sign(await importPKCS8(privateKey, algorithm)));
      return {};
    }
    if (clientSecret === undefined || secretBy === 'body') {
      form.set('client_id', clientId);
      if (clientSecret !== undefined) form.set('client_secret', clientSecret);
      return {};
    }
    // RFC 6749 §2.3.1: both are form-encoded first
    const encoded = [clientId, clientSecret].map((text) => new URLSearchParams({ x: text }).toString().slice(2));
    return { authorization: `Basic ${Buffer.from(encoded.join(':')).toString('base64')}` };
  }

  #unreached(error: unknown): GatewayError {
    if (error instanceof GatewayError) return error;
    return this.#failed(reasonOf(error), { isFinal: false }, error);
  }

  #failed(reason: string, facts: { isFinal: boolean }, cause?: unknown): GatewayError {
    return new GatewayError('upstream_login_failed', { server: this.#parts.server, reason, ...facts }, cause);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof UnusableMetadata) return 'the metadata of its authorization server cannot be used';
  if (error instanceof UnusableAnswer) return 'the answer of its authorization server cannot be read';
  if (error instanceof NotRegistered) return `its authorization server ${error.message}`;
  const isSlow = isOfTime(error) || (error instanceof Error && isOfTime(error.cause));
  return `its authorization server ${isSlow ? 'does not answer in time' : 'cannot be reached'}`;
}

/** RFC 6749 §5.1: a number of seconds, which some servers write as a text. */
function secondsOf(value: unknown): number | undefined {
  const seconds = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  return typeof seconds === 'number' && seconds > 0 && seconds < MOST_SECONDS ? seconds : undefined;
}
