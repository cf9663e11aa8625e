import { allowanceRulesOf } from '../config/access.js';
import type { Config } from '../config/config.js';
import type { OpenTap } from '../files/tap.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { StateStore } from '../ports/state-store.js';
import { Allowances } from '../quotas/allowances.js';
import { RequestQuotas } from '../quotas/requests.js';
import { StoredQuotas } from '../quotas/stored.js';

interface QuotaParts {
  /** What each caller may use, by the rules of now. */
  allowances: Allowances;
  /** What each caller may send and have. */
  quotas: RequestQuotas;
  /** What each caller may store. */
  account: StoredQuotas;
  taps: OpenTap[];
}

/** What counts the use of each caller. Where the config limits none it is there, but counts nothing. */
export function createQuotas(config: Config, deps: { state: StateStore; clock: Clock; log: Log }): QuotaParts {
  const allowances = new Allowances(allowanceRulesOf(config), deps);
  const account = new StoredQuotas({ ...deps, allowances, retentionMs: config.retention });
  const quotas = new RequestQuotas({ ...deps, allowances });
  return { allowances, quotas, account, taps: [(file) => account.open(file)] };
}
