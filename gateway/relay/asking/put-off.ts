import type { Authorization } from '../../files/uploads/upload-links.js';
import type { Clock } from '../../ports/clock.js';
import type { JsonValue } from '../../ports/json.js';
import type { StateStore } from '../../ports/state-store.js';
import type { StateKeys } from '../../secrets/state-keys.js';
import type { PendingRequest } from '../pending-request.js';
import { argumentsDigest, canonical } from './sealed-state.js';

/** What a link was made for: the same call of the same caller, and the same field of the same question in it. */
export interface PutOffFor {
  principal: string;
  server: string;
  call: Pick<PendingRequest, 'method' | 'subject' | 'params' | 'heavyArguments'>;
  message: string;
  field: string;
}

interface PutOffDeps {
  state: StateStore;
  keys: StateKeys;
  clock: Clock;
}

/**
 * Links whose page was not opened in time, where a server asked by itself: such a call has no argument for a handle, so
 * the same call, made again, is given the same link, or the file that was uploaded to it meanwhile.
 */
export class PutOffLinks {
  readonly #deps: PutOffDeps;

  constructor(deps: PutOffDeps) {
    this.#deps = deps;
  }

  async keep(about: PutOffFor, offered: Authorization): Promise<void> {
    const { state, keys, clock } = this.#deps;
    const key = keys.of('offer', await nameOf(about));
    const ttlMs = Math.max(1, Date.parse(offered.expiresAt) - clock.now());
    const { principal, server } = about;
    await state.create(key, keys.seal.close(key, JSON.stringify(offered)), ttlMs, { principal, server });
  }

  /** The link that was kept, for one call only. */
  async take(about: PutOffFor): Promise<Authorization | undefined> {
    const { state, keys } = this.#deps;
    for (const key of keys.all('offer', await nameOf(about))) {
      const sealed = await state.take(key);
      const text = sealed === undefined ? undefined : keys.seal.open(key, sealed);
      if (text !== undefined) return JSON.parse(text) as Authorization;
    }
    return undefined;
  }
}

async function nameOf({ principal, server, call, message, field }: PutOffFor): Promise<string> {
  const { method, subject = '', params, heavyArguments: heavy } = call;
  const args: JsonValue = heavy
    ? await argumentsDigest(heavy, { principal, server })
    : canonical(params.arguments ?? null);
  return JSON.stringify([principal, server, method, subject, args, message, field]);
}
