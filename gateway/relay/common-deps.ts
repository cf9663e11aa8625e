import type { PaceLimits } from '../budget/pace.js';
import type { TempFiles } from '../files/temp-files.js';
import type { Limits, Timeouts } from '../policy/limits.js';
import type { Clock } from '../ports/clock.js';
import type { Dialect } from '../ports/dialect.js';
import type { ClientProfile, ToolSettings } from '../ports/file-slot.js';
import type { Log } from '../ports/log.js';
import type { Metrics } from '../ports/metrics.js';
import type { Transfer } from '../ports/transfer.js';
import type { WatchTree } from '../wire/json/watch-tree.js';
import type { CutDeps } from './cut/message-cuts.js';
import type { Sessions } from './session.js';

/** What every room works with, of one server. */
export interface CommonDeps {
  server: string;
  limits: Limits;
  /** Largest message this upstream takes, bytes. */
  accepts: number;
  timeouts: Timeouts;
  /** How slowly the server may send. */
  pace: PaceLimits;
  cut: CutDeps & { tree: WatchTree; slotMin: number };
  dialects: readonly Dialect[];
  /** What the operator says of each tool, by its name. */
  settings: Readonly<Record<string, ToolSettings>>;
  /** Clients that speak a dialect without declaring it. */
  profiles: readonly ClientProfile[];
  tempFiles: TempFiles;
  transfer: Transfer;
  /** Of an HTTP server: what it names there may be as private as itself. */
  upstreamOrigin: string | undefined;
  /** `servers.X.fetch.origins` */
  fetchOrigins: readonly string[];
  /** Ports at which Wharf listens. */
  ownPorts: () => readonly number[];
  /** Of an HTTP server, as the operator wrote it. */
  upstreamUrl: string | undefined;
  /** The operator's own, which are for this server's origin only. */
  upstreamHeaders: Readonly<Record<string, string>>;
  sessions: Sessions;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}
