import { accessRulesOf } from '../config/access.js';
import type { Config } from '../config/config.js';
import { fitting } from '../descriptors.js';
import { TempFiles } from '../files/encode/temp-files.js';
import { Hosts } from '../hosts/hosts.js';
import { PutOffLinks } from '../relay/asking/put-off.js';
import { Questions } from '../relay/asking/questions.js';
import { TaskQuestions } from '../relay/asking/tasks/task-questions.js';
import { CancelledElsewhere } from '../relay/cancelled-elsewhere.js';
import { TaskTools } from '../relay/results/tool/tool-of-task.js';
import { Sessions } from '../relay/session.js';
import { FileTakers } from '../relay/tools/file-takers.js';
import { KeptViews } from '../relay/tools/kept-views.js';
import { PresentConfig } from '../reload/present-config.js';
import { type MakeServer, RunningServers } from '../reload/running-servers.js';
import type { ToolFacts } from '../tools/tool.js';
import type { Filing } from './filing.js';
import { PresentWays } from './present-ways.js';
import { createPreviews } from './previews.js';
import type { ProcessParts } from './process.js';
import { flowRulesOf } from './screening.js';
import { serverMaker } from './servers.js';
import { MACHINE_CLOCK } from './shared-clock.js';
import { rulesInto } from './take-over.js';
import { UpstreamAuth } from './upstream-credentials.js';
import { openWaysIn } from './ways-in.js';

/** The servers, who may use them, and the config that decides both. */
export type Serving = Awaited<ReturnType<typeof openServing>>;

/** Makes the servers of the config. None is contacted before a client asks. */
export async function openServing(shared: ProcessParts, filing: Filing) {
  const { config, adapters, adapterDeps, open, closers, state, keys, clock, audit, publicBase } = shared;
  const { flow } = filing;
  const ownPorts: number[] = [];
  const lasting = await lastingParts(shared, filing, ownPorts);
  const { sessions, takers, keptTools } = lasting;
  const upstreamAuth = new UpstreamAuth({
    ...{ state, keys, clock, publicBase, publicUrl: config.publicUrl, audit },
    openOAuth: () => open(adapters.oauth, { use: 'jose', settings: {} }),
    targetOf: (server) => running.loginAt(server),
  });
  const openWays = (of: Config) =>
    openWaysIn(of, { openOAuth: () => upstreamAuth.oauth(), baseUrl: publicBase, clock: MACHINE_CLOCK, keys });
  const waysIn = new PresentWays(await openWays(config), config.auth);
  const processesThatFit = () => fitting(present.config).processes;
  const upstreamDeps = { ...adapterDeps, processesThatFit, windows: shared.windows };
  /** Makes the servers of a config, which share its rules. */
  const makerFor = (of: Config): MakeServer =>
    serverMaker(adapters, upstreamDeps, {
      ...lasting,
      config: of,
      flow: flowRulesOf(of).length > 0 ? flow : undefined,
      access: accessRulesOf(of),
      hosts: new Hosts(adapters.hosts, of.clients),
      ...waysIn.checks,
      authorize: (server, upstreams) => upstreamAuth.authorize(server, upstreams, waysIn.now.passed),
    });
  const running = new RunningServers((name) => keptTools.forgetServer(name));
  closers.add(() => running.close());
  (await running.prepare(config.servers, makerFor(config), 'changed')).put();
  const putRules = rulesInto({
    ...shared,
    ...{ flow, takers },
    allowances: filing.allowances,
    partSize: shared.objects.partSize,
  });
  const present = new PresentConfig(config, { running, makerFor, waysIn, openWays, putRules, audit });
  return {
    servers: running.byName,
    running,
    present,
    sessions,
    waysIn,
    /** People's own logins, and whether any server of now asks for them. */
    logins: { logins: upstreamAuth.logins, areUsed: () => running.logins.size > 0 },
    /** Ports at which Wharf listens: to be filled. */
    ownPorts,
  };
}

/** What servers share, and a reload leaves as it is. */
async function lastingParts(shared: ProcessParts, filing: Filing, ownPorts: readonly number[]) {
  const { config, adapters, state, keys, clock, log, fewLines, metrics, timeouts, audit, held, ledgers } = shared;
  // with state in memory all of a session comes here, and each call with a file would ask in vain
  const cancelledElsewhere = config.state.use === 'memory' ? undefined : new CancelledElsewhere(state, keys);
  const takers = new FileTakers();
  takers.put(config.servers, []);
  return {
    ...filing,
    ...{ held, audit, clock, log, fewLines, metrics, takers },
    ownPorts: () => ownPorts,
    keptTools: new KeptViews<ToolFacts>(ledgers.catalog, clock),
    tempFiles: await openTempFiles(shared),
    transfer: await shared.open(adapters.transfer, { use: 'https', settings: {} }),
    sessions: new Sessions({ ...shared, ttlMs: timeouts.session, ledger: ledgers.sessions, cancelledElsewhere }),
    taskTools: new TaskTools({ state, keys, log, keptMs: config.retention }),
    questions: new Questions({ state, keys, isShared: config.state.use !== 'memory' }),
    putOff: new PutOffLinks({ state, keys, clock }),
    taskQuestions: new TaskQuestions({ state, keys, clock }),
    waiting: ledgers.questions,
    seal: keys.seal,
    isDraining: () => shared.draining.now,
    previews: createPreviews({ ...shared, stored: filing.library.stored }),
    tracer: shared.tracer,
    dialects: adapters.dialects,
  };
}

/** Temporary files, without those that an earlier process has left. */
async function openTempFiles({ config, log }: ProcessParts): Promise<TempFiles> {
  const tempFiles = new TempFiles({ log });
  await tempFiles.removeLeftOvers();
  for (const place of new Set(config.servers.map(({ copies }) => copies))) {
    if (place !== undefined) await tempFiles.in(place).removeLeftOvers();
  }
  return tempFiles;
}
