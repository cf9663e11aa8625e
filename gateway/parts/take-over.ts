import { allowanceRulesOf } from '../config/access.js';
import type { Config } from '../config/config.js';
import type { Flow } from '../files/flow/flow.js';
import { type Counted, resizeTotals, sharingOf } from '../ledgers.js';
import type { Sharing } from '../ports/owner.js';
import type { Allowances } from '../quotas/allowances.js';
import type { FileTakers } from '../relay/tools/file-takers.js';
import { flowRulesOf } from './screening.js';

interface Lasting extends Counted {
  /** Read by all ledgers whenever they count. */
  sharing: Sharing;
  /** Read by parts of the process whenever they need one. */
  limits: Config['limits'];
  allowances: Allowances;
  flow: Flow;
  takers: Pick<FileTakers, 'put'>;
}

/** @param changed names of servers that were added, removed or made anew */
type TakeOver = (next: Config, changed: readonly string[]) => void;

/** Gives the numbers and rules of another config to the parts that live as long as the process. */
export function takeOver({ sharing, limits, allowances, flow, takers, ...counted }: Lasting): TakeOver {
  return (next, changed) => {
    Object.assign(sharing, sharingOf(next));
    Object.assign(limits, next.limits);
    resizeTotals(counted, next);
    allowances.put(allowanceRulesOf(next));
    flow.put(flowRulesOf(next));
    takers.put(next.servers, changed);
  };
}
