import { allowanceRulesOf } from './config/access.js';
import type { Config } from './config/config.js';
import type { OpenTap } from './files/ingest/tap.js';
import { isUnlimited } from './policy/allowance.js';
import type { Clock } from './ports/clock.js';
import type { Log } from './ports/log.js';
import type { StateStore } from './ports/state-store.js';
import { Allowances } from './quotas/allowances.js';
import { RequestQuotas } from './quotas/requests.js';
import { StoredQuotas } from './quotas/stored.js';

export interface QuotaParts {
  /** What each caller may send. */
  quotas?: RequestQuotas;
  /** What each caller may store. */
  account?: StoredQuotas;
  taps: OpenTap[];
}

/** What counts the use of each caller; nothing where the config limits none. */
export function createQuotas(config: Config, deps: { state: StateStore; clock: Clock; log: Log }): QuotaParts {
  const rules = allowanceRulesOf(config);
  if (isUnlimited(rules)) return { taps: [] };
  const allowances = new Allowances(rules, deps);
  const account = new StoredQuotas({ ...deps, allowances, retentionMs: config.retention });
  return { quotas: new RequestQuotas({ ...deps, allowances }), account, taps: [(file) => account.open(file)] };
}
