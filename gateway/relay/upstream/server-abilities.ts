import { LateCache } from '../../budget/collections/late-cache.js';
import { isObject } from '../../json/value.js';
import type { Ask } from '../../mcp/inquire.js';
import type { Dialect, JsonObject } from '../../ports/dialect.js';

/** Most views of a server that are remembered. */
const MAX_VIEWS = 1000;
const VIEW_TTL_MS = 5 * 60 * 1000;

/** What a server has declared, as far as it changes what Wharf does. */
interface Abilities {
  /** Names of the dialects whose methods it has declared. */
  speaks?: string[];
  /** It has no resources, so it knows none of their methods. */
  lacksResources?: true;
}

/** What a session keeps of the result of `initialize`. */
export function abilitiesIn({ capabilities }: JsonObject, dialects: readonly Dialect[]): Abilities {
  if (!isObject(capabilities)) return {};
  const speaks = dialects.filter(({ streaming }) => streaming?.givenBy(capabilities)).map(({ name }) => name);
  return { ...(speaks.length > 0 && { speaks }), ...(!hasResources(capabilities) && { lacksResources: true }) };
}

/** Whether a server has declared resources. */
export function hasResources({ resources }: JsonObject): boolean {
  return isObject(resources);
}

/** The abilities of a server without sessions: asked occasionally, per principal and version. */
export class ServerAbilities {
  readonly #dialects: readonly Dialect[];
  readonly #views = new LateCache<Abilities>({ max: MAX_VIEWS, ttl: VIEW_TTL_MS });

  constructor(dialects: readonly Dialect[]) {
    this.#dialects = dialects;
  }

  async of(view: string, ask: Ask): Promise<Abilities> {
    const known = this.#views.get(view);
    if (known) return known;
    // a server that does not answer counts as having said nothing, until this entry expires
    const abilities = abilitiesIn((await ask('server/discover', {})) ?? {}, this.#dialects);
    this.#views.set(view, abilities);
    return abilities;
  }
}
