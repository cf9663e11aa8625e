import type { AccessRules } from '../policy/access.js';
import { type AllowanceRules, OWN_AMOUNTS } from '../policy/allowance.js';
import { TYPE_LIMITS } from '../policy/message-limits.js';
import type { ApiKey, Config } from './config.js';

/** The API keys, where callers may have some. */
export function keysOf(auth: Config['auth']): readonly ApiKey[] {
  return auth.use === 'apiKeys' || auth.use === 'both' ? auth.keys : [];
}

const NAMES = new WeakMap<Config['auth'], ReadonlySet<string>>();

/** The names of the API keys, which every rule about callers is compared with. */
export function keyNamesOf(auth: Config['auth']): ReadonlySet<string> {
  let names = NAMES.get(auth);
  if (!names) {
    names = new Set(keysOf(auth).map(({ name }) => name));
    NAMES.set(auth, names);
  }
  return names;
}

/** Who may use which server and tool. */
export function accessRulesOf({ servers, auth }: Pick<Config, 'servers' | 'auth'>): AccessRules {
  const keys = keysOf(auth);
  return {
    allow: new Map(servers.flatMap(({ name, allow }) => (allow ? [[name, allow] as const] : []))),
    keys: new Map(
      keys.flatMap(({ name, servers: reached, tools }) =>
        reached || tools ? [[name, { servers: reached, tools }] as const] : [],
      ),
    ),
  };
}

/** What each caller may use. */
export function allowanceRulesOf({
  limits,
  callers,
  ceiling,
  auth,
}: Pick<Config, 'limits' | 'callers' | 'ceiling' | 'auth'>): AllowanceRules {
  // those of each message are limits of every server too, which count for all callers
  const own = [...OWN_AMOUNTS, ...TYPE_LIMITS].filter((name) => limits[name] !== undefined);
  const keys = keysOf(auth);
  return {
    ceiling,
    base: Object.fromEntries(own.map((name) => [name, limits[name]])),
    callers,
    // also those without limits of their own: `callers` may mean them
    keys: new Map(keys.map(({ name, limits = {} }) => [name, limits])),
  };
}
