import type { AccessRules } from '../policy/access.js';
import type { Config } from './config.js';

/** Who may use which server and tool. */
export function accessRulesOf({ servers, auth }: Pick<Config, 'servers' | 'auth'>): AccessRules {
  const keys = auth.use === 'apiKeys' || auth.use === 'both' ? auth.keys : [];
  return {
    allow: new Map(servers.flatMap(({ name, allow }) => (allow ? [[name, allow] as const] : []))),
    keys: new Map(
      keys.flatMap(({ name, servers: reached, tools }) =>
        reached || tools ? [[name, { servers: reached, tools }] as const] : [],
      ),
    ),
  };
}
