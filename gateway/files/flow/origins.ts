import { GatewayError } from '../../errors.js';
import type { StateStore } from '../../ports/state-store.js';
import type { StateKeys } from '../state-keys.js';

/** How long the bytes of a server's file are recognised: longer than the file itself is kept, because models keep them. */
const LEAST_MS = 7 * 24 * 60 * 60 * 1000;

/** Concurrent notes about one file; each loser of a race reads again. */
const MOST_TRIES = 20;

/**
 * Which servers have given a principal which bytes, by digest. It outlives files and their handles: the same bytes may
 * come back as base64 in an argument, or by an upload.
 */
export class Origins {
  readonly #state: StateStore;
  readonly #keys: StateKeys;
  readonly #ttlMs: number;

  /** @param retentionMs how long files are kept */
  constructor(state: StateStore, keys: StateKeys, retentionMs: number) {
    this.#state = state;
    this.#keys = keys;
    this.#ttlMs = Math.max(LEAST_MS, retentionMs);
  }

  /**
   * A server gives a principal these bytes. Must be known before the principal gets them.
   * @throws GatewayError the state store's errors
   */
  async note(owner: { principal: string; server: string }, digest: string): Promise<void> {
    const key = this.#keys.of('origin', nameOf(owner.principal, digest));
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      if (await this.#state.create(key, JSON.stringify([owner.server]), this.#ttlMs, owner)) return;
      const written = await this.#state.read(key);
      if (written === undefined) continue;
      const servers = JSON.parse(written) as string[];
      if (servers.includes(owner.server)) {
        if (await this.#state.extend(key, this.#ttlMs)) return;
        continue;
      }
      if (await this.#state.replace(key, written, JSON.stringify([...servers, owner.server]), this.#ttlMs)) return;
    }
    throw new GatewayError('state_unavailable', {}, new Error('too many notes about one file at a time'));
  }

  /** The servers that have given a principal these bytes. */
  async of(principal: string, digest: string): Promise<readonly string[]> {
    const found = new Set<string>();
    for (const key of this.#keys.all('origin', nameOf(principal, digest))) {
      const written = await this.#state.read(key);
      if (written !== undefined) for (const server of JSON.parse(written) as string[]) found.add(server);
    }
    return [...found];
  }
}

function nameOf(principal: string, digest: string): string {
  return JSON.stringify([principal, digest]);
}
