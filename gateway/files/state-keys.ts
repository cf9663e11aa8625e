import { createHmac, randomBytes } from 'node:crypto';
import { Seal } from './seal.js';

/** What a bearer is good for. */
type Kind = 'ticket' | 'session' | 'task' | 'link';

/**
 * Keys of the state store for what only its holder may know: tickets, session ids, tasks. The store sees an HMAC of each
 * under the operator's secret, so neither a dump of the store nor write access to it alone opens a link or a session.
 * Of several secrets the first one signs and all are accepted, so that a new one can be put in front.
 */
export class StateKeys {
  readonly #secrets: readonly (string | Buffer)[];
  /** For what stands in values and is nobody else's to read. */
  readonly seal: Seal;

  /** @param secrets none: a random one, for state that does not outlive the process anyway */
  constructor(secrets: readonly string[]) {
    this.#secrets = secrets.length > 0 ? secrets : [randomBytes(32)];
    this.seal = new Seal(this.#secrets);
  }

  /** Where a new one is kept. */
  of(kind: Kind, bearer: string): string {
    return this.#under(this.#secrets[0] as string | Buffer, kind, bearer);
  }

  /** Where one may be kept: under the newest secret, or an older one. */
  all(kind: Kind, bearer: string): string[] {
    return this.#secrets.map((secret) => this.#under(secret, kind, bearer));
  }

  /** What only Wharf can make of a text: the newest secret's first. */
  seals(kind: Kind, text: string): Buffer[] {
    return this.#secrets.map((secret) => createHmac('sha256', secret).update(`${kind}:${text}`).digest());
  }

  #under(secret: string | Buffer, kind: Kind, bearer: string): string {
    // the kind is hashed too: a session id can never be found as a ticket
    return `${kind}:${createHmac('sha256', secret).update(`${kind}:${bearer}`).digest('base64url')}`;
  }
}
