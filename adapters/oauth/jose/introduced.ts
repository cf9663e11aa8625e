import type { Clock } from '../../../gateway/ports/clock.js';
import type { Introduction, Registered } from '../../../gateway/ports/oauth.js';
import { endpointIn, type ServerMetadata } from './discovery.js';
import { codeOf } from './error-code.js';
import type { HttpJson } from './http-json.js';

/** Characters of a name or a secret that an authorization server may give. */
const LONGEST = 4096;

/** RFC 6749 appendix A: what both may consist of. */
const VISIBLE = /^[\x20-\x7e]+$/;

/** An authorization server has not registered Wharf; the message says why, in words for people. */
export class NotRegistered extends Error {
  override readonly name = 'NotRegistered';
}

/** How an authorization server knows Wharf without the operator: by its document, or by a registration. */
export class Introduced {
  readonly #introduction: Introduction;
  readonly #http: HttpJson;
  readonly #clock: Clock;
  #registered: Registered | undefined;

  constructor(introduction: Introduction, http: HttpJson, clock: Clock) {
    this.#introduction = introduction;
    this.#http = http;
    this.#clock = clock;
  }

  /** Whether it can be known by either. */
  canBeKnown(metadata: ServerMetadata): boolean {
    return typeof metadata.registration_endpoint === 'string' || this.#isReadBy(metadata);
  }

  /** @throws NotRegistered, UnusableMetadata, or Error where it does not answer */
  async as(metadata: ServerMetadata): Promise<Registered> {
    const { document, registrations } = this.#introduction;
    if (this.#isReadBy(metadata)) return { clientId: document.client_id };
    this.#registered = await registrations.get(() => this.#register(metadata));
    return this.#registered;
  }

  /** It has said that it does not know Wharf. */
  async unknown(): Promise<void> {
    const registered = this.#registered;
    this.#registered = undefined;
    if (registered) await this.#introduction.registrations.forget(registered);
  }

  /** Only https addresses can be names (draft-ietf-oauth-client-id-metadata-document §2). */
  #isReadBy({ client_id_metadata_document_supported: isSupported }: ServerMetadata): boolean {
    return isSupported === true && this.#introduction.document.client_id.startsWith('https:');
  }

  async #register(metadata: ServerMetadata): Promise<Registered> {
    const { client_id: _, ...about } = this.#introduction.document;
    const offered = metadata.token_endpoint_auth_methods_supported;
    const methods: unknown[] = Array.isArray(offered) ? offered : ['client_secret_basic'];
    const method = ['none', 'client_secret_basic', 'client_secret_post'].find((one) => methods.includes(one));
    const url = endpointIn(metadata, 'registration_endpoint');
    const asked = { ...about, ...(method !== undefined && { token_endpoint_auth_method: method }) };
    const answer = await this.#http.postJson(url, asked);
    const { status, body } = answer;
    const { client_id: id, client_secret: secret, client_secret_expires_at: until } = body ?? {};
    if (status < 200 || status > 299) throw new NotRegistered(`does not register Wharf: ${codeOf(answer)}`);
    if (!isText(id)) throw new NotRegistered('registers Wharf without a client_id that can be sent');
    // null is what some write for what they do not give
    const hasSecret = secret !== undefined && secret !== null;
    if (hasSecret && !isText(secret))
      throw new NotRegistered('registers Wharf with a client_secret that cannot be sent');
    // what it has registered may differ from what it was asked for (RFC 7591 §3.2.1)
    const given = body?.token_endpoint_auth_method ?? method;
    if (given === 'none' || !hasSecret) return { clientId: id };
    const expiresAt = typeof until === 'number' && until > 0 ? until * 1000 : undefined;
    // it would be registered anew for each step of a login, whose code is for the client that began it
    if (expiresAt !== undefined && expiresAt <= this.#clock.now())
      throw new NotRegistered('registers Wharf with a client_secret that has ended');
    return {
      clientId: id,
      clientSecret: secret,
      secretBy: given === 'client_secret_post' ? 'body' : 'basic',
      expiresAt,
    };
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= LONGEST && VISIBLE.test(value);
}
