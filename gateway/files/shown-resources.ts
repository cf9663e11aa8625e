import { createHash } from 'node:crypto';
import type { Owner } from '../ports/owner.js';
import type { StateStore } from '../ports/state-store.js';

/** A resource of a server's, as one caller was shown it. */
export interface ShownResource {
  principal: string;
  server: string;
  uri: string;
}

/** Which file has the content of a resource that stood in a result (its id, under `shown:<hash>`): the last one does. */
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
    // of two results at a time either may be the last
    if (old !== undefined) await this.#state.replace(key, old, file, this.#keptMs);
  }

  find(resource: ShownResource): Promise<string | undefined> {
    return this.#state.read(keyOf(resource));
  }
}

/** A URI is as long as its server likes, and says what a dump of the state should not. */
function keyOf({ principal, server, uri }: ShownResource): string {
  return `shown:${createHash('sha256')
    .update(JSON.stringify([principal, server, uri]))
    .digest('base64url')}`;
}

function ownerOf({ principal, server }: ShownResource): Owner {
  return { principal, server };
}
