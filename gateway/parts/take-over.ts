import { allowanceRulesOf } from '../config/access.js';
import type { Config } from '../config/config.js';
import type { Flow } from '../files/flow/flow.js';
import { type Counted, resizeTotals, sharingOf } from '../ledgers.js';
import type { Sharing } from '../ports/owner.js';
import type { Allowances } from '../quotas/allowances.js';
import { flowRulesOf } from './screening.js';

interface Lasting extends Counted {
  /** Read by all ledgers whenever they count. */
  sharing: Sharing;
  /** Read by parts of the process whenever they need one. */
  limits: Config['limits'];
  allowances: Allowances;
  flow: Flow;
}

/** Gives the numbers and rules of another config to the parts that live as long as the process. */
export function takeOver({ sharing, limits, allowances, flow, ...counted }: Lasting): (next: Config) => void {
  return (next) => {
    Object.assign(sharing, sharingOf(next));
    Object.assign(limits, next.limits);
    resizeTotals(counted, next);
    allowances.put(allowanceRulesOf(next));
    flow.put(flowRulesOf(next));
  };
}
