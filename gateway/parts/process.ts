import { HeldBudget } from '../budget/held.js';
import { PartBudget } from '../budget/parts.js';
import type { AdapterList } from '../config/adapter-list.js';
import type { Config } from '../config/config.js';
import { FewLines } from '../few-lines.js';
import { createMetrics } from '../http/metrics.js';
import { createLedgers, createWindowLedger, sharingOf } from '../ledgers.js';
import type { Log } from '../ports/log.js';
import { recordConfig } from '../reload/present-config.js';
import { StateKeys } from '../secrets/state-keys.js';
import type { Closers } from './closers.js';
import { SharedClock } from './shared-clock.js';
import { type OpenPart, openStores } from './stores.js';

/** What every part of a gateway shares. */
export type ProcessParts = Awaited<ReturnType<typeof openProcess>>;

/** Opens the stores and the audit log, and makes what counts for the whole process. */
export async function openProcess(config: Config, adapters: AdapterList, log: Log, closers: Closers) {
  const { timeouts, inheritedEnv, withheldEnv } = config;
  // a reload writes others into these two
  const limits = { ...config.limits };
  const sharing = { ...sharingOf(config) };
  const clock = new SharedClock();
  const metrics = createMetrics();
  const adapterDeps = { limits, timeouts, sharing, log, clock, inheritedEnv, withheldEnv };
  const open: OpenPart = async (list, choice) => {
    const adapter = list[choice.use];
    if (!adapter) throw new Error(`there is no adapter called ${choice.use}`);
    const part = await adapter.create(choice.settings, adapterDeps);
    closers.addPart(() => part.close());
    return part;
  };
  const stores = await openStores(open, adapters, config, { metrics, clock, log });
  closers.add(await clock.follow(stores.state, { log, metrics }));
  const audit = await open(adapters.audit, config.audit);
  await recordConfig(audit, 'started', config);
  const ledgers = createLedgers({ ...config, partSize: stores.objects.partSize }, sharing);
  const publicUrl = { base: config.publicUrl ?? '' };
  return {
    /** At the start; `Serving.present` has the one of now. */
    config,
    adapters,
    adapterDeps,
    open,
    closers,
    limits,
    timeouts,
    sharing,
    clock,
    log,
    fewLines: new FewLines(clock),
    metrics,
    ...stores,
    audit,
    keys: new StateKeys(config.secrets),
    ledgers,
    held: new HeldBudget(ledgers.held),
    windows: createWindowLedger(limits, sharing),
    budget: new PartBudget(ledgers.partMemory, timeouts.queue),
    draining: { now: false, isOver: false },
    /** What every address of Wharf begins with. Where the config does not say it, it is known once a port is open. */
    publicUrl,
    publicBase: () => publicUrl.base,
  };
}
