import type { Ledger } from '../budget/ledger.js';
import type { PartBudget } from '../budget/parts.js';
import { allowanceRulesOf } from '../config/access.js';
import type { Config } from '../config/config.js';
import type { Flow } from '../files/flow/flow.js';
import { type Ledgers, resizeLedgers, resizeWindowLedger, sharingOf } from '../ledgers.js';
import type { Sharing } from '../ports/owner.js';
import type { Allowances } from '../quotas/allowances.js';
import type { FileTakers } from '../relay/tools/file-takers.js';
import { flowRulesOf } from './screening.js';

/** What a reload finds and leaves in place. */
interface Lasting {
  ledgers: Ledgers;
  /** Of the decoders of servers' answers. */
  windows: Ledger;
  /** Reservations of `limits.partMemory`, which may wait for a larger total. */
  budget: Pick<PartBudget, 'lookAgain'>;
  /** Bytes of a part in the object store. */
  partSize: number;
  /** Read by all ledgers whenever they count. */
  sharing: Sharing;
  /** Read by parts of the process whenever they need one. */
  limits: Config['limits'];
  allowances: Pick<Allowances, 'put'>;
  flow: Pick<Flow, 'put'>;
  takers: Pick<FileTakers, 'put'>;
}

/** @param changed names of servers that were added, removed or made anew */
type PutRules = (next: Config, changed: readonly string[]) => void;

/** @returns puts the numbers and rules of another config into the parts that live as long as the process */
export function rulesInto(lasting: Lasting): PutRules {
  const { ledgers, windows, budget, partSize, sharing, limits, allowances, flow, takers } = lasting;
  return (next, changed) => {
    Object.assign(sharing, sharingOf(next));
    Object.assign(limits, next.limits);
    resizeLedgers(ledgers, { ...next, partSize });
    resizeWindowLedger(windows, next.limits);
    budget.lookAgain();
    allowances.put(allowanceRulesOf(next));
    flow.put(flowRulesOf(next));
    takers.put(next.servers, changed);
  };
}
