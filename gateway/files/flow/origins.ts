import { textsIn } from '../../errors/kept.js';
import { GatewayError } from '../../errors.js';
import { ANY_TYPE } from '../../policy/flow.js';
import type { StateStore } from '../../ports/state-store.js';
import type { StateKeys } from '../../secrets/state-keys.js';

/** How long the bytes of a server's file are recognised: longer than the file itself is kept, because models keep them. */
const LEAST_MS = 7 * 24 * 60 * 60 * 1000;

/** Concurrent notes about one file; each loser of a race reads again. */
const MOST_TRIES = 20;

/** Types under which one server has given the same bytes. */
const MOST_TYPES = 8;

/** A server that has given a principal some bytes. */
interface Giver {
  readonly principal: string;
  readonly server: string;
  /** The type under which it gives them, if it says one. */
  readonly mimeType?: string | undefined;
}

/**
 * Which servers have given a principal which bytes, by digest, and as what. What is written is a list of names, and of a name
 * with a type behind a blank: `["hr","hr text/csv"]`. It outlives files and their handles: the same bytes may
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
  async note({ principal, server, mimeType }: Giver, digest: string): Promise<void> {
    const key = this.#keys.of('origin', nameOf(principal, digest));
    const about = { principal, server };
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      if (await this.#state.create(key, JSON.stringify(withGiver([], server, mimeType)), this.#ttlMs, about)) return;
      const written = await this.#state.read(key);
      if (written === undefined) continue;
      const before = textsIn(written);
      const after = withGiver(before, server, mimeType);
      if (after.length === before.length) {
        if (await this.#state.extend(key, this.#ttlMs)) return;
        continue;
      }
      if (await this.#state.replace(key, written, JSON.stringify(after), this.#ttlMs)) return;
    }
    throw new GatewayError('state_unavailable', {}, new Error('too many notes about one file at a time'));
  }

  /** The servers that have given a principal these bytes, and the types under which each has, as far as it said one. */
  async of(principal: string, digest: string): Promise<ReadonlyMap<string, readonly string[]>> {
    const found = new Map<string, string[]>();
    for (const key of this.#keys.all('origin', nameOf(principal, digest))) {
      const written = await this.#state.read(key);
      for (const entry of written === undefined ? [] : textsIn(written)) {
        const [server = '', type] = entry.split(' ');
        found.set(server, [...(found.get(server) ?? []), ...(type === undefined ? [] : [type])]);
      }
    }
    return found;
  }
}

/** Adds a giver to a list that does not have it. Of one server it keeps MOST_TYPES types, and one entry for all others. */
function withGiver(entries: readonly string[], server: string, mimeType: string | undefined): readonly string[] {
  const isKnown = entries.includes(server);
  const named = isKnown ? entries : [...entries, server];
  // before types were written a server's name stood alone: then nothing is known of the type, as where it says none
  const types = entries.filter((entry) => entry.startsWith(`${server} `));
  const entry = `${server} ${types.length < MOST_TYPES ? mimeType : ANY_TYPE}`;
  return mimeType === undefined || types.includes(`${server} ${mimeType}`) || types.includes(entry)
    ? named
    : [...named, entry];
}

function nameOf(principal: string, digest: string): string {
  return JSON.stringify([principal, digest]);
}
