import { Ledger, UNSHARED } from '../../gateway/budget/ledger.js';
import { DEFAULT_LIMITS, DEFAULT_TIMEOUTS } from '../../gateway/policy/limits.js';
import type { CatalogOptions } from '../../gateway/relay/tools/catalog.js';
import { KeptViews } from '../../gateway/relay/tools/kept-views.js';

const TEST_STOPWATCH = { ticks: () => performance.now() };

/** What a catalog has beside its settings, for a server that is alone. */
export function catalogOptions(options: Partial<CatalogOptions> = {}): CatalogOptions {
  const ledger = new Ledger({ limit: 'limits.catalog', total: DEFAULT_LIMITS.catalog, sharing: UNSHARED });
  return {
    server: 'up',
    kept: new KeptViews(ledger, TEST_STOPWATCH),
    limits: DEFAULT_LIMITS,
    timeouts: DEFAULT_TIMEOUTS,
    clock: TEST_STOPWATCH,
    ...options,
  };
}
