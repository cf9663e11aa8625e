import type { HeldBudget } from '../../budget/held.js';
import type { Ledger } from '../../budget/ledger.js';
import type { Config, ServerConfig } from '../../config/config.js';
import type { FewLines } from '../../few-lines.js';
import type { TempFiles } from '../../files/encode/temp-files.js';
import type { Flow } from '../../files/flow/flow.js';
import type { IngestDeps } from '../../files/ingest/ingest.js';
import type { Library } from '../../files/library.js';
import type { RecentUses } from '../../files/retention/recent-uses.js';
import type { ShortFiles } from '../../files/stored/short-files.js';
import type { Uploads } from '../../files/uploads/upload.js';
import type { UploadLinks } from '../../files/uploads/upload-links.js';
import type { Hosts } from '../../hosts/hosts.js';
import type { AccessRules } from '../../policy/access.js';
import type { ExchangeLimits } from '../../policy/message-limits.js';
import type { Audit } from '../../ports/audit.js';
import type { Clock, Stopwatch } from '../../ports/clock.js';
import type { Dialect } from '../../ports/dialect.js';
import type { Identity } from '../../ports/identity.js';
import type { Log } from '../../ports/log.js';
import type { BoundMetrics } from '../../ports/metrics.js';
import type { Tracer } from '../../ports/telemetry.js';
import type { Transfer } from '../../ports/transfer.js';
import type { Allowances } from '../../quotas/allowances.js';
import type { RequestQuotas } from '../../quotas/requests.js';
import type { PutOffLinks } from '../../relay/asking/put-off.js';
import type { Questions } from '../../relay/asking/questions.js';
import type { TaskQuestions } from '../../relay/asking/tasks/task-questions.js';
import type { TaskTools } from '../../relay/results/tool/tool-of-task.js';
import type { Sessions } from '../../relay/session.js';
import type { FileTakers } from '../../relay/tools/file-takers.js';
import type { KeptViews } from '../../relay/tools/kept-views.js';
import type { Seal } from '../../secrets/seal.js';
import type { ToolFacts } from '../../tools/tool.js';
import type { Previews } from '../previews.js';

/** What all servers share. */
export interface SharedParts {
  config: Config;
  /** Who may use which server and tool. */
  access: AccessRules;
  ingest: IngestDeps;
  library: Library;
  shortFiles: ShortFiles;
  uses: RecentUses;
  uploads: Uploads;
  uploadLinks: UploadLinks;
  takers: FileTakers;
  /** What is kept about the servers' tools. */
  keptTools: KeptViews<ToolFacts>;
  held: HeldBudget;
  tempFiles: TempFiles;
  transfer: Transfer;
  sessions: Sessions;
  /** What each caller may send and have. */
  quotas: RequestQuotas;
  /** What each caller may use. */
  allowances: Allowances;
  taskTools: TaskTools;
  questions: Questions;
  putOff: PutOffLinks;
  taskQuestions: TaskQuestions;
  /** Absent: every file may go to every server. */
  flow: Flow | undefined;
  /** Counts the calls that wait for a person. */
  waiting: Ledger;
  seal: Seal;
  isDraining: () => boolean;
  previews: Previews;
  audit: Audit;
  /** Absent: no spans are recorded. */
  tracer: Tracer | undefined;
  dialects: readonly Dialect[];
  /** What is known about clients that they do not declare. */
  hosts: Hosts;
  /** Ports at which Wharf listens, once it does. */
  ownPorts: () => readonly number[];
  /** Refuses a call for which the caller lacks an OAuth scope. */
  checkTool: ((identity: Identity, server: string, tool: string) => void) | undefined;
  /** Whether the server has let a caller in; absent where Wharf itself does. */
  isAccepted: ((identity: Identity) => boolean) | undefined;
  clock: Clock & Stopwatch;
  log: Log;
  fewLines: FewLines;
  metrics: BoundMetrics;
}

/** One server, as exchanges under some limits see it. */
export interface ServerParts {
  server: ServerConfig;
  parts: SharedParts;
  limits: ExchangeLimits;
}
