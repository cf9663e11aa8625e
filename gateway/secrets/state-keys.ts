import { createHmac, randomBytes } from 'node:crypto';
import type { Owner } from '../ports/owner.js';
import type { StateStore } from '../ports/state-store.js';
import { Seal, type Secrets } from './seal.js';

/** What a secret name gives access to. */
type Kind =
  | 'ticket'
  | 'session'
  | 'token'
  | 'login'
  | 'task'
  | 'input'
  | 'link'
  | 'question'
  | 'offer'
  | 'call'
  | 'cancelled'
  | 'owed'
  | 'taken'
  | 'code'
  | 'pass'
  | 'origin'
  | 'consent'
  | 'caller'
  | 'check';

/**
 * Keys of the state store for names that only their holder may know: tickets, session ids, tasks. The store sees only
 * an HMAC of each under the operator's secret, so neither a dump of the store nor write access to it opens a link or a
 * session. Of several secrets the first one signs and all are accepted, so that a secret can be replaced.
 */
export class StateKeys {
  readonly #secrets: Secrets;
  /** For confidential parts of values. */
  readonly seal: Seal;

  /** @param secrets if empty, a random one is made, for state that ends with the process */
  constructor(secrets: readonly string[]) {
    const [newest = randomBytes(32), ...older] = secrets;
    this.#secrets = [newest, ...older];
    this.seal = new Seal(this.#secrets);
  }

  /** The key for a new one. */
  of(kind: Kind, bearer: string): string {
    return this.#under(this.#secrets[0], kind, bearer);
  }

  /** The keys under which one may be stored: by the newest secret, or by an older one. */
  all(kind: Kind, bearer: string): string[] {
    return this.#secrets.map((secret) => this.#under(secret, kind, bearer));
  }

  /** HMACs of a text that only Wharf can make, the newest secret's first. */
  seals(kind: Kind, text: string): [Buffer, ...Buffer[]] {
    const seal = (secret: string | Buffer) => createHmac('sha256', secret).update(`${kind}:${text}`).digest();
    const [newest, ...older] = this.#secrets;
    return [seal(newest), ...older.map(seal)];
  }

  #under(secret: string | Buffer, kind: Kind, bearer: string): string {
    // the kind is hashed too, so a session id can never be found as a ticket
    return `${kind}:${createHmac('sha256', secret).update(`${kind}:${bearer}`).digest('base64url')}`;
  }
}

/**
 * Creates one thing under each of its keys, in an order that does not depend on that of the secrets, or under none: while a
 * secret is replaced, replicas agree on some of the keys, and not on which is the first.
 * @param keys as `StateKeys.all` gives them
 * @returns false when it is there under one of them
 */
export async function createUnderAll(
  state: Pick<StateStore, 'create' | 'remove'>,
  keys: readonly string[],
  { value, ttlMs, owner }: { value: string; ttlMs: number; owner: Owner },
): Promise<boolean> {
  const created: string[] = [];
  for (const key of keys.toSorted()) {
    if (await state.create(key, value, ttlMs, owner)) {
      created.push(key);
      continue;
    }
    await removeAll(state, created);
    return false;
  }
  return true;
}

/** Removes what stands under several keys. */
export async function removeAll(state: Pick<StateStore, 'remove'>, keys: readonly string[]): Promise<void> {
  for (const key of keys) await state.remove(key);
}
