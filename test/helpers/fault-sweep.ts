import { adapters } from '../../adapters/index.js';
import { UNSHARED } from '../../gateway/budget/ledger.js';
import type { Adapter, AdapterDeps } from '../../gateway/config/adapter-list.js';
import { createSweep, type SweepResult, UNFINISHED_AGE_MS } from '../../gateway/files/retention/sweep.js';
import { DEFAULT_LIMITS, DEFAULT_TIMEOUTS } from '../../gateway/policy/limits.js';
import type { FaultStores } from './fault-stores.js';
import { silentLog } from './silent-log.js';

/** Sweeps as the gateway does, now or when the time of unfinished writes has come. */
export async function sweep(stores: FaultStores, when: 'now' | 'a day later'): Promise<SweepResult> {
  const ahead = when === 'now' ? 0 : UNFINISHED_AGE_MS + 60_000;
  const clock = { now: () => Date.now() + ahead, ticks: () => Date.now() + ahead };
  const deps = {
    limits: DEFAULT_LIMITS,
    timeouts: DEFAULT_TIMEOUTS,
    sharing: UNSHARED,
    log: silentLog,
    clock,
    inheritedEnv: {},
  };
  const objects = await open(adapters.objects, stores.config.objects, deps);
  const state = await open(adapters.state, stores.config.state, deps);
  try {
    return await createSweep({ objects, state, clock, metrics: { count() {}, observe() {}, gauge() {} } })();
  } finally {
    await objects.close();
    await state.close();
  }
}

function open<Port>(
  list: Readonly<Record<string, Adapter<Port, AdapterDeps>>>,
  config: unknown,
  deps: AdapterDeps,
): Promise<Port> {
  const { use, ...settings } = config as { use: string };
  const adapter = list[use];
  if (!adapter) throw new Error(`there is no adapter called ${use}`);
  return adapter.create(adapter.settings.parse(settings), deps);
}
