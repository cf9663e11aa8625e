import { UNSHARED } from '../budget/ledger.js';
import type { AdapterDeps } from '../config/adapter-list.js';
import type { Config } from '../config/config.js';
import { createLog } from '../log.js';

/** What a part needs that is contacted without a gateway. */
export function contactDeps({ limits, timeouts, inheritedEnv, withheldEnv }: Config): AdapterDeps {
  const clock = { now: () => Date.now(), ticks: () => performance.now() };
  return { limits, timeouts, sharing: UNSHARED, inheritedEnv, withheldEnv, clock, log: createLog('error') };
}

/** A second signal ends the process at once, as without a handler. */
export function interruptSignal(): AbortSignal {
  const interrupt = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => interrupt.abort(new Error('interrupted')));
  return interrupt.signal;
}
