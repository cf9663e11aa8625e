import type { PartBudget } from '../budget/parts.js';
import type { Config } from '../config/config.js';
import type { Scans } from '../files/antivirus/scans.js';
import type { CleanUps } from '../files/retention/clean-ups.js';
import type { SeveralGauges } from '../http/metrics.js';
import type { Ledgers } from '../ledgers.js';
import type { Metrics } from '../ports/metrics.js';
import type { Server } from '../relay/server.js';
import type { Sessions } from '../relay/session.js';

interface Measured {
  budget: PartBudget;
  antivirus: Scans | undefined;
  cleanUps: CleanUps;
  sessions: Sessions;
  ledgers: Pick<Ledgers, 'questions'>;
  open: { count: number };
  servers: ReadonlyMap<string, Server>;
  /** The config of now. */
  present: { readonly config: Pick<Config, 'servers'>; readonly whyRefused: string | undefined };
}

/** Reports what is going on at this moment. */
export function gaugeParts(metrics: Metrics & SeveralGauges, measured: Measured): void {
  const { budget, antivirus, cleanUps, sessions, ledgers, open, servers, present } = measured;
  metrics.gauge('wharf_queue_length', () => budget.queued);
  // without an antivirus too: a dashboard tells "none waits" from "not known"
  metrics.gauge('wharf_waiting_scans', () => antivirus?.waiting ?? 0);
  metrics.gauge('wharf_clean_ups', () => cleanUps.size);
  metrics.gauge('wharf_sessions', () => sessions.size);
  metrics.gauge('wharf_waiting_calls', () => ledgers.questions.used);
  metrics.gauge('wharf_open_exchanges', () => open.count);
  metrics.gauge('wharf_config_refused', () => (present.whyRefused === undefined ? 0 : 1));
  metrics.gauges('wharf_processes', async () =>
    present.config.servers
      .filter(({ transport }) => transport === 'stdio')
      .map(({ name: server }) => ({ labels: { server }, value: servers.get(server)?.channels ?? 0 })),
  );
  metrics.gauge('wharf_upstream_connections', () =>
    [...servers.values()].reduce((all, { channels }) => all + channels, 0),
  );
}
