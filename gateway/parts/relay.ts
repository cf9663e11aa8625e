import type { HeldBudget } from '../budget/held.js';
import type { Ledger } from '../budget/ledger.js';
import type { Config, ServerConfig } from '../config/config.js';
import type { RecentUses } from '../files/control/recent-uses.js';
import type { Flow } from '../files/flow/flow.js';
import type { IngestDeps } from '../files/ingest/ingest.js';
import type { Library } from '../files/library.js';
import type { Seal } from '../files/seal.js';
import type { ShortFiles } from '../files/short-files.js';
import { storeFile } from '../files/store-file.js';
import type { TempFiles } from '../files/temp-files.js';
import type { Uploads } from '../files/upload.js';
import type { Hosts } from '../hosts/hosts.js';
import { acceptedByAll } from '../policy/accept.js';
import type { AccessRules } from '../policy/access.js';
import { ToolLimits } from '../policy/tool-limits.js';
import type { Audit } from '../ports/audit.js';
import type { Clock, Stopwatch } from '../ports/clock.js';
import type { Dialect } from '../ports/dialect.js';
import type { Identity } from '../ports/identity.js';
import type { Log } from '../ports/log.js';
import type { BoundMetrics } from '../ports/metrics.js';
import type { Tracer } from '../ports/telemetry.js';
import type { Transfer } from '../ports/transfer.js';
import type { Allowances } from '../quotas/allowances.js';
import type { RequestQuotas } from '../quotas/requests.js';
import { incomingFetch } from '../relay/arguments/incoming-fetch.js';
import { elicitationFor } from '../relay/asking/declared.js';
import type { PutOffLinks } from '../relay/asking/put-off.js';
import type { Questions } from '../relay/asking/questions.js';
import { NOTED_FROM, places, slotMin, TO_CLIENT_TREES } from '../relay/cut/places.js';
import type { RelayDeps } from '../relay/deps.js';
import { LocalMethods } from '../relay/local/local-methods.js';
import { LocalTools } from '../relay/local/local-tools.js';
import { OwnResources } from '../relay/local/own-resources.js';
import { offerOf } from '../relay/local/upload-steps.js';
import { uploadTools } from '../relay/local/upload-tools.js';
import type { TaskTools } from '../relay/results/tool/tool-of-task.js';
import type { Sessions } from '../relay/session.js';
import { Catalog } from '../relay/tools/catalog.js';
import type { FileTakers } from '../relay/tools/file-takers.js';
import type { KeptViews } from '../relay/tools/kept-views.js';
import { maxSizeOf } from '../relay/tools/max-size.js';
import { OfferedTools } from '../relay/tools/offered-tools.js';
import { deliverUpload } from '../relay/upstream/deliver-upload.js';
import { RemoteMethods } from '../relay/upstream/unknown-methods.js';
import { viewOf } from '../relay/upstream/view.js';
import { TracedExchanges } from '../telemetry/exchange-watch.js';
import { measuredExchanges } from '../telemetry/measured-exchanges.js';
import type { ToolFacts } from '../tools/tool.js';
import type { Previews } from './previews.js';

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
  metrics: BoundMetrics;
}

/** Everything that exchanges with one server need. @param limits of the exchanges */
export function relayDeps(server: ServerConfig, parts: SharedParts, limits = server.limits): RelayDeps {
  const { config, ingest, library, uploads, held, transfer, dialects, metrics, previews } = parts;
  const { name, accepts, tools } = server;
  const { checkTool, isAccepted } = parts;
  const { timeouts } = config;
  const pace = { idleMs: timeouts.idle, leastRate: limits.leastRate, graceMs: timeouts.grace };
  const log = parts.log.child({ server: name });
  const { allowedHosts } = config.fetch;
  const catalog = new Catalog(tools, dialects, {
    server: name,
    kept: parts.keptTools,
    limits,
    timeouts,
    takers: parts.takers,
    clock: parts.clock,
    log,
  });
  const offered = new OfferedTools(name, parts.access, tools);
  const toolLimits = new ToolLimits(name, tools);
  const least = toolLimits.least(limits);
  const address = addressOf(server);
  const { tracer, clock } = parts;
  const traced = tracer && new TracedExchanges(tracer, clock, { name, url: address.upstreamUrl });
  const { fetchOrigins, copies } = server;
  const { ownPorts } = parts;
  // each file is judged, however short
  const areJudged = parts.flow !== undefined || limits.acceptResults !== undefined || toolLimits.limitsResults;
  const fileMin = areJudged ? NOTED_FROM : undefined;
  const delivery = { server: name, library, transfer, limits, timeouts, ...address, fetchOrigins, ownPorts, log };
  return {
    server: name,
    checkTool: checkTool && ((identity, tool) => checkTool(identity, name, tool)),
    isAccepted,
    limits,
    toolLimits,
    accepts,
    timeouts,
    pace,
    cut: {
      ingest,
      library,
      limits,
      held,
      previewAhead: previews.ahead,
      places: places(dialects),
      tree: TO_CLIENT_TREES.of(dialects, fileMin),
      fileMin,
      slotMin: slotMin(least, ingest.antivirus !== undefined || areJudged),
      ...(least.inlineOther < limits.inlineOther && { nestedFrom: least.inlineOther }),
    },
    files: { library, previewOf: previews.of, audit: parts.audit },
    dialects,
    settings: tools,
    hosts: parts.hosts,
    incoming: {
      library,
      shortFiles: parts.shortFiles,
      uses: parts.uses,
      flow: parts.flow,
      antivirus: ingest.antivirus,
      audit: parts.audit,
      accept: limits.accept,
      fetch: incomingFetch({ ingest, library, transfer, timeouts, pace, allowedHosts, fileLimit: limits.file }),
    },
    tempFiles: copies === undefined ? parts.tempFiles : parts.tempFiles.in(copies),
    storeInline: (file, principal, signal) =>
      storeFile(
        {
          bytes: file.read(),
          claims: { mimeType: file.mimeType, ...(file.hasName && { name: file.name }) },
          principal,
          subject: 'file',
          limit: { name: 'limits.file', bytes: limits.file, path: 'the argument' },
        },
        { ingest, library },
        signal,
      ),
    transfer,
    remoteMethods: new RemoteMethods(),
    ...address,
    fetchOrigins,
    ownPorts,
    uploads,
    elicitation: (client) => elicitationFor(client, { order: config.elicitation.order, dialects, limits }),
    resources: new OwnResources({ library, previewOf: previews.of, limits }),
    methods: new LocalMethods({ dialects, library, uploads, server: name }),
    tools: new LocalTools(
      uploadTools(server.uploadTool, {
        server: name,
        fileLimit: limits.file,
        uploads,
        library,
        slots: (identity, { protocolVersion }) => {
          const { principal } = identity;
          const owner = { principal, server: name };
          const shown = offered.shownTo(identity);
          return catalog.slots(viewOf(protocolVersion, principal)).flatMap(({ tool, slot }) => {
            const known = shown ? shown(tool) : tool;
            if (known === undefined) return [];
            const own = toolLimits.lower(limits, [tool]);
            const accept = acceptedByAll([slot.accept, ...(own.accept ?? []).map(({ types }) => types)]);
            const taking = { ...slot, ...(accept && { accept }) };
            const { bytes: maxSize, ...maxSizeBy } = maxSizeOf(slot, { limits: own, accepts, owner });
            return [{ tool: known, slot: taking, maxSize, maxSizeBy }];
          });
        },
      }),
      server.uploadTool,
      !config.links.lasting,
    ),
    asking: {
      server: name,
      accepts,
      held,
      deliver: (one, signal) => deliverUpload(one, delivery, signal),
      order: config.elicitation.order,
      rounds: config.elicitation.rounds,
      dialects,
      limits,
      timeouts,
      uploads,
      library,
      questions: parts.questions,
      sessions: parts.sessions,
      putOff: parts.putOff,
      flow: parts.flow,
      steps: (offered, then) => offerOf(offered, undefined, then).steps,
      waiting: parts.waiting,
      seal: parts.seal,
      isDraining: parts.isDraining,
      clock: parts.clock,
      log,
      metrics,
    },
    sessions: parts.sessions,
    callers: parts.quotas,
    audit: parts.audit,
    watch: measuredExchanges(name, parts, traced),
    catalog,
    offered,
    takers: parts.takers,
    taskTools: parts.taskTools,
    clock: parts.clock,
    log,
    metrics,
  };
}

function addressOf({ settings }: ServerConfig): Pick<RelayDeps, 'upstreamOrigin' | 'upstreamUrl' | 'upstreamHeaders'> {
  const { url, headers } = settings;
  const upstreamHeaders = { ...(headers as Record<string, string> | undefined) };
  if (typeof url !== 'string' && !(url instanceof URL)) {
    return { upstreamOrigin: undefined, upstreamUrl: undefined, upstreamHeaders };
  }
  const { origin, href } = new URL(url);
  return { upstreamOrigin: origin, upstreamUrl: href, upstreamHeaders };
}
