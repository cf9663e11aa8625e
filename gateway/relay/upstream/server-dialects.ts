import { LRUCache } from 'lru-cache';
import { isObject } from '../../json/value.js';
import type { Ask } from '../../mcp/inquire.js';
import type { Dialect, JsonObject } from '../../ports/dialect.js';

/** Most views of a server that are remembered. */
const MAX_VIEWS = 1000;
const VIEW_TTL_MS = 5 * 60 * 1000;

/** What a session keeps of the result of `initialize`. */
export function spokenBy(result: JsonObject, dialects: readonly Dialect[]): { speaks?: string[] } {
  const speaks = dialectsOf(result, dialects);
  return speaks.length === 0 ? {} : { speaks };
}

/** Which dialects a server without sessions speaks: asked occasionally, per principal and version. */
export class ServerDialects {
  readonly #dialects: readonly Dialect[];
  readonly #views = new LRUCache<string, string[]>({ max: MAX_VIEWS, ttl: VIEW_TTL_MS });

  constructor(dialects: readonly Dialect[]) {
    this.#dialects = dialects;
  }

  async of(view: string, ask: Ask): Promise<readonly string[]> {
    const known = this.#views.get(view);
    if (known) return known;
    // a server that does not answer counts as speaking none, until this entry expires
    const speaks = dialectsOf((await ask('server/discover', {})) ?? {}, this.#dialects);
    this.#views.set(view, speaks);
    return speaks;
  }
}

function dialectsOf({ capabilities }: JsonObject, dialects: readonly Dialect[]): string[] {
  if (!isObject(capabilities)) return [];
  return dialects.filter(({ streaming }) => streaming?.givenBy(capabilities)).map(({ name }) => name);
}
