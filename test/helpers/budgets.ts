import { HeldBudget } from '../../gateway/budget/held.js';
import { Ledger, UNSHARED } from '../../gateway/budget/ledger.js';
import { PartBudget } from '../../gateway/budget/parts.js';
import type { Sharing } from '../../gateway/ports/owner.js';

/** A count of held messages, for one owner unless `sharing` says otherwise. */
export function heldBudget(total: number, sharing: Sharing = UNSHARED): HeldBudget {
  return new HeldBudget(new Ledger({ limit: 'limits.held', total, sharing }));
}

/** What counts short files, of which as many are kept as fit into so many bytes. */
export function shortLedger(total: number): Ledger {
  return new Ledger({ limit: 'limits.shortFiles', total, sharing: UNSHARED });
}

/** What counts objects that are compared with their digest. */
export function comparisonLedger(total = 8, sharing: Sharing = UNSHARED): Ledger {
  return new Ledger({ limit: 'limits.comparisons', total, sharing });
}

/** A budget of part buffers, for one owner unless `sharing` says otherwise. */
export function partBudget(total: number, waitMs: number, sharing: Sharing = UNSHARED): PartBudget {
  return new PartBudget(new Ledger({ limit: 'limits.partMemory', total, sharing }), waitMs);
}
