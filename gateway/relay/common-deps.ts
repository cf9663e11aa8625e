import type { PaceLimits } from '../budget/pace.js';
import type { FewLines } from '../few-lines.js';
import type { TempFiles } from '../files/encode/temp-files.js';
import type { Hosts } from '../hosts/hosts.js';
import type { Timeouts } from '../policy/limits.js';
import type { ExchangeLimits } from '../policy/message-limits.js';
import type { ToolLimits } from '../policy/tool-limits.js';
import type { Audit } from '../ports/audit.js';
import type { Clock, Stopwatch } from '../ports/clock.js';
import type { Dialect } from '../ports/dialect.js';
import type { ToolSettings } from '../ports/file-slot.js';
import type { Log } from '../ports/log.js';
import type { Metrics } from '../ports/metrics.js';
import type { Transfer } from '../ports/transfer.js';
import type { RequestQuotas } from '../quotas/requests.js';
import type { WatchTree } from '../wire/json/watch-tree.js';
import type { CutDeps } from './cut/message-cuts.js';
import type { Sessions } from './session.js';
import type { ExchangeWatch } from './watch.js';

/** What every room needs, for one server. */
export interface CommonDeps {
  server: string;
  limits: ExchangeLimits;
  /** What single tools lower of them. */
  toolLimits: ToolLimits;
  /** Largest message that this upstream accepts, bytes. */
  accepts: number;
  timeouts: Timeouts;
  /** The slowest rate at which the server may send. */
  pace: PaceLimits;
  cut: CutDeps & { tree: WatchTree; slotMin: number };
  dialects: readonly Dialect[];
  /** The operator's settings for each tool, by name. */
  settings: Readonly<Record<string, ToolSettings>>;
  /** What is known about clients that they do not declare. */
  hosts: Hosts;
  tempFiles: TempFiles;
  transfer: Transfer;
  /** For an HTTP server: addresses that it names there may be private. */
  upstreamOrigin: string | undefined;
  /** `servers.X.fetch.origins` */
  fetchOrigins: readonly string[];
  /** Ports at which Wharf listens. */
  ownPorts: () => readonly number[];
  /** For an HTTP server, as the operator wrote it. */
  upstreamUrl: string | undefined;
  /** The operator's own, which are only for this server's origin. */
  upstreamHeaders: Readonly<Record<string, string>>;
  sessions: Sessions;
  /** What each caller may have at one time. */
  callers: Pick<RequestQuotas, 'beginProcess' | 'beginCalls' | 'beginFurther' | 'mostSessions'>;
  audit: Audit;
  watch?: ExchangeWatch | undefined;
  clock: Clock & Stopwatch;
  log: Log;
  /** Of all servers: what is asked of it names the server. */
  fewLines: FewLines;
  metrics: Metrics;
}
