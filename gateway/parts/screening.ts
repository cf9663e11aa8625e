import type { Config } from '../config/config.js';
import { Scans, type ScansDeps } from '../files/antivirus/scans.js';
import { Consents } from '../files/flow/consents.js';
import { Flow } from '../files/flow/flow.js';
import { Origins } from '../files/flow/origins.js';
import { createScanLedger } from '../ledgers.js';
import { type FlowRule, rulesOfHandoff } from '../policy/flow.js';
import type { Scanner } from '../ports/antivirus.js';
import type { Sharing } from '../ports/owner.js';
import type { StateStore } from '../ports/state-store.js';
import type { StateKeys } from '../secrets/state-keys.js';

/** The rules of a config about which file may go to which server. */
export function flowRulesOf({ flow, handoff }: Pick<Config, 'flow' | 'handoff'>): FlowRule[] {
  return [...flow, ...rulesOfHandoff(handoff)];
}

/** Decides which file may go to which server. */
export function flowOf(config: Config, { state, keys }: { state: StateStore; keys: StateKeys }): Flow {
  const kept = [state, keys, config.retention] as const;
  return new Flow(flowRulesOf(config), new Origins(...kept), new Consents(...kept));
}

/** Scans every file that comes in; absent where no antivirus is configured. */
export function scansBy(
  scanner: Scanner | undefined,
  deps: Omit<ScansDeps, 'scanner' | 'ledger'> & { sharing: Sharing },
): Scans | undefined {
  const { sharing, ...rest } = deps;
  return scanner && new Scans({ scanner, ledger: createScanLedger(scanner.scans, sharing), ...rest });
}
