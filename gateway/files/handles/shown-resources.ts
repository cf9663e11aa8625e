import { createHash } from 'node:crypto';
import type { Owner } from '../../ports/owner.js';
import type { StateStore } from '../../ports/state-store.js';

/** A server's resource as one caller was shown it. */
export interface ShownResource {
  principal: string;
  server: string;
  uri: string;
}

/**
 * Remembers which file has the content of a resource in a result (its id, under `shown:<hash>`). The latest one counts.
 */
export class ShownResources {
  readonly #state: StateStore;
  readonly #keptMs: number;

  constructor(state: StateStore, retentionMs: number) {
    this.#state = state;
    this.#keptMs = retentionMs;
  }

  async note(resource: ShownResource, file: string): Promise<void> {
    const key = keyOf(resource);
    if (await this.#state.create(key, file, this.#keptMs, ownerOf(resource))) return;
    const old = await this.#state.read(key);
    // of two concurrent results either may be the latest
    if (old !== undefined) await this.#state.replace(key, old, file, this.#keptMs);
  }

  find(resource: ShownResource): Promise<string | undefined> {
    return this.#state.read(keyOf(resource));
  }
}

/** Hashed: a URI may be of any length, and a dump of the state should not reveal it. */
function keyOf({ principal, server, uri }: ShownResource): string {
  return `shown:${createHash('sha256')
    .update(JSON.stringify([principal, server, uri]))
    .digest('base64url')}`;
}

function ownerOf({ principal, server }: ShownResource): Owner {
  return { principal, server };
}
