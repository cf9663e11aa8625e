import type { Readable, Writable } from 'node:stream';
import { accessRulesOf } from './config/access.js';
import type { AdapterList } from './config/adapter-list.js';
import type { Config } from './config/config.js';
import { formatAddress } from './config/schema/fields.js';
import { socketsFor } from './descriptors.js';
import { GatewayError } from './errors.js';
import { Expiry } from './files/expiry.js';
import { StateKeys } from './files/state-keys.js';
import { startSweeper } from './files/sweep.js';
import { TempFiles } from './files/temp-files.js';
import { Hosts } from './hosts/hosts.js';
import { Lately } from './http/console/lately.js';
import { guardSettings } from './http/guard.js';
import { listen } from './http/listener.js';
import { createMetrics } from './http/metrics.js';
import { gaugeBuild, gaugeServers, partsBeside } from './http/part-state.js';
import { Refusals } from './http/refusals.js';
import { lateAdminApp, lateApp } from './http/routes/late-apps.js';
import { mcp } from './http/routes/mcp.js';
import {
  createCatalogLedger,
  createDownloadLedger,
  createHeldBudget,
  createPartBudget,
  createQuestionLedger,
  createRequestLedger,
  createSessionLedger,
  gaugeShares,
  sharingOf,
} from './ledgers.js';
import { consoleParts } from './parts/console.js';
import { createFileParts } from './parts/files.js';
import { gaugeParts } from './parts/gauges.js';
import { createPreviews } from './parts/previews.js';
import { createQuotas } from './parts/quotas.js';
import { flowOf, flowRulesOf, scansBy } from './parts/screening.js';
import { serverMaker } from './parts/servers.js';
import { MACHINE_CLOCK, SharedClock } from './parts/shared-clock.js';
import { openStores } from './parts/stores.js';
import { takeOver } from './parts/take-over.js';
import { UpstreamAuth } from './parts/upstream-credentials.js';
import { openWaysIn } from './parts/ways-in.js';
import type { Log } from './ports/log.js';
import { PutOffLinks } from './relay/asking/put-off.js';
import { Questions } from './relay/asking/questions.js';
import { TaskTools } from './relay/results/tool-of-task.js';
import { Sessions } from './relay/session.js';
import { FileTakers } from './relay/tools/file-takers.js';
import { KeptViews } from './relay/tools/kept-views.js';
import { PresentConfig, type Reload, recordConfig } from './reload/present-config.js';
import { type MakeServer, RunningServers } from './reload/running-servers.js';
import type { StdioFace } from './stdio/face.js';
import { faceOver } from './stdio/over-streams.js';
import type { ToolFacts } from './tools/tool.js';

/** How often the drain checks for running exchanges. */
const DRAIN_POLL_MS = 50;

/** A separate limit, so that load on the public port does not lock out the operator. */
const ADMIN_SOCKETS = { limit: 'adminListen', allowed: 100 };

/** How long removals may still take after everything else has ended. */
const LAST_CLEAN_UPS_MS = 1000;

/** A running gateway. */
export interface Gateway {
  urls: { name: string; mcp: string }[];
  /** Empty when there is no admin port, or only a stdio client is served. */
  adminUrl: string;
  /** The stdio face, if there is one; it waits for `run`. */
  stdio: StdioFace | undefined;
  /** Puts another config in the place of the present one, as a whole or not at all. */
  reload(config: Config): Promise<Reload>;
  /** Records that a config was refused. */
  noteRefusedConfig(why: string): void;
  /** Refuses new exchanges, lets running ones finish up to `timeouts.drain`, then ends everything that was started. */
  drain(): Promise<void>;
}

export interface StartOptions {
  /**
   * A client that speaks MCP over these streams with the first server. Then the only port is for links, not for MCP.
   */
  stdio?: { input: Readable; output: Writable };
  /** Wharf's version, for the console. */
  version?: string;
}

/** Puts the parts together and opens the ports. When it throws, nothing is listening. */
export async function start(
  config: Config,
  adapters: AdapterList,
  log: Log,
  options: StartOptions = {},
): Promise<Gateway> {
  const { timeouts, inheritedEnv } = config;
  // a reload writes others into it
  const limits = { ...config.limits };
  const clock = new SharedClock();
  const metrics = createMetrics();
  const sharing = { ...sharingOf(config) };
  const deps = { limits, timeouts, sharing, log, clock, inheritedEnv };
  const closers: (() => Promise<void>)[] = [];
  const openPart = async <Part extends { close(): Promise<void> }>(
    list: Readonly<Record<string, { create(settings: Config['objects']['settings'], d: typeof deps): Promise<Part> }>>,
    choice: Config['objects'],
  ): Promise<Part> => {
    const adapter = list[choice.use];
    if (!adapter) throw new Error(`there is no adapter called ${choice.use}`);
    const part = await adapter.create(choice.settings, deps);
    closers.unshift(() => part.close());
    return part;
  };
  const closeParts = () => Promise.allSettled(closers.map((close) => close()));
  try {
    const stores = await openStores(openPart, adapters, config, { metrics, clock });
    const { tracer, objects, state, previewer, scanner } = stores;
    closers.unshift(await clock.follow(state, { log, metrics }));
    const audit = await openPart(adapters.audit, config.audit);
    await recordConfig(audit, 'started', config);
    const { dialects } = adapters;

    const draining = { now: false };
    const publicUrl = { base: config.publicUrl ?? '' };
    const keys = new StateKeys(config.secrets);
    const lastingMs = config.links.lasting ? config.retention : undefined;
    const expiry = new Expiry({ objects, state, clock, log, metrics, retentionMs: config.retention });
    const publicBase = () => publicUrl.base;
    const ttlMs = Math.min(config.links.ttl, config.retention);
    const held = createHeldBudget(config, sharing);
    const budget = createPartBudget(config, sharing, objects.partSize);
    const flow = flowOf(config, { state, keys });
    const antivirus = scansBy(scanner, { sharing, queueMs: timeouts.queue, objects, audit, log, metrics });
    const { allowances, quotas, ...accounts } = createQuotas(config, { state, clock, log });
    const { tickets, library, ingest, uploads, resumable, several, cleanUps, control } = createFileParts({
      objects,
      state,
      keys,
      held,
      budget,
      clock,
      log,
      expiry,
      antivirus,
      audit,
      flow,
      ...accounts,
      readLazy: async (lazy, signal) => {
        const server = running.byName.get(lazy.server);
        if (!server) throw new GatewayError('server_unknown', { server: lazy.server });
        return server.readLazy(lazy, signal);
      },
      settings: {
        gatewayId: config.gatewayId,
        publicUrl: publicBase,
        links: { style: config.links.style, ttlMs, ...(lastingMs !== undefined && { lastingMs }) },
        retentionMs: config.retention,
        fileLimit: () => limits.file,
        uploadMs: timeouts.upload,
        // without auth all callers are one
        asksCodes:
          config.elicitation.identity === 'code' ||
          (config.elicitation.identity === 'auto' && config.auth.use !== 'none'),
      },
    });
    const opened = createSessionLedger(config, sharing);
    const sessions = new Sessions({
      state,
      keys,
      clock,
      log,
      ttlMs: timeouts.session,
      metrics,
      ended: stores.ended,
      ledger: opened,
    });
    const waiting = createQuestionLedger(config, sharing);
    const taskTools = new TaskTools({ state, keys, log, keptMs: config.retention });
    const previews = createPreviews(config, { objects, previewer, sharing, log, metrics });
    const transfer = await openPart(adapters.transfer, { use: 'https', settings: {} });
    const tempFiles = new TempFiles({ log });
    await tempFiles.removeLeftOvers();
    const catalogLedger = createCatalogLedger(config, sharing);
    const ownPorts: number[] = [];
    const keptTools = new KeptViews<ToolFacts>(catalogLedger, clock);
    const parts = {
      ownPorts: () => ownPorts,
      keptTools,
      ingest,
      library,
      uploads,
      held,
      tempFiles,
      transfer,
      sessions,
      quotas,
      allowances,
      taskTools,
      questions: new Questions({ state, keys }),
      putOff: new PutOffLinks({ state, keys, clock }),
      waiting,
      seal: keys.seal,
      isDraining: () => draining.now,
      previews,
      audit,
      tracer,
      dialects,
      clock,
      log,
      metrics,
    };

    const openOAuth = () => openPart(adapters.oauth, { use: 'jose', settings: {} });
    const upstreamAuth = new UpstreamAuth({ state, keys, clock, publicBase, publicUrl: config.publicUrl, openOAuth });
    const openWays = (of: Config) =>
      openWaysIn(of, { openOAuth: () => upstreamAuth.oauth(), baseUrl: publicBase, clock: MACHINE_CLOCK, keys });
    const waysIn = await openWays(config);
    /** Makes the servers of a config, which share its rules. */
    const makerFor = (of: Config): MakeServer =>
      serverMaker(adapters, deps, {
        ...parts,
        config: of,
        flow: flowRulesOf(of).length > 0 ? flow : undefined,
        access: accessRulesOf(of),
        takers: new FileTakers(of.servers.map(({ tools }) => tools)),
        hosts: new Hosts(adapters.hosts, of.clients),
        ...waysIn.checks,
        authorized: (server, opened) => upstreamAuth.authorized(server, opened, waysIn.passed),
      });
    const running = new RunningServers((name) => keptTools.forgetServer(name));
    closers.unshift(() => running.close());
    (await running.prepare(config.servers, makerFor(config), true))();
    const servers = running.byName;
    const streams = createDownloadLedger(config, sharing);
    const totals = { held, budget, opened, streams, waiting, catalog: catalogLedger, partSize: objects.partSize };
    const put = takeOver({ sharing, limits, allowances, flow, ...totals });
    const present = new PresentConfig(config, { running, makerFor, waysIn, openWays, put, audit });

    const open = { count: 0, getStreams: new Set<{ end(): void }>() };
    gaugeParts(metrics, { budget, antivirus, cleanUps, sessions, waiting, open, servers, present });

    const { authenticate } = present;
    const refusals = new Refusals({ log, metrics, clock });
    const refused: Refusals['note'] = (error, request) => refusals.note(error, request);
    const sockets = socketsFor(limits.sockets, log);
    const requests = createRequestLedger(sockets.allowed, sharing);
    gaugeShares(metrics, { held, budget, requests, streams, catalog: catalogLedger });
    const lately = new Lately(clock);
    const exchanges = {
      authenticate,
      shown: waysIn.shown,
      quotas,
      held,
      requests,
      timeouts,
      clock,
      log,
      metrics,
      audit,
      open,
      lately,
      refused,
    };
    const direct = options.stdio ? {} : { direct: mcp({ servers, ...exchanges }) };
    const app = lateApp({
      ...{ refused, resources: waysIn.resources, wayCheck: { keys, clock } },
      logins: upstreamAuth.logins && { logins: upstreamAuth.logins, baseUrl: publicBase, log },
      ...(!options.stdio && {
        connect: { servers: () => [...servers.keys()], asksKey: config.auth.use !== 'none', baseUrl: publicBase },
      }),
      downloads: {
        resolveTicket: async (ticket) => {
          const redeemed = await tickets.redeemDownload(ticket);
          if (redeemed.kind !== 'ok') return redeemed;
          const record = await library.find(redeemed.fileId);
          if (!record) return { kind: 'gone' };
          await library.touch(record.id);
          return { kind: 'ok', record: { ...record, ...redeemed.as }, expiresAt: redeemed.expiresAt };
        },
        objects,
        streams,
        redirect: objects.presign !== undefined,
        idleMs: timeouts.idle,
        audit,
        clock,
        log,
        metrics,
        refused,
      },
      uploads: {
        ...exchanges,
        uploads,
        isSecure: () => publicUrl.base.startsWith('https:'),
        resumable,
        several,
        library,
        withdraw: (record) => library.withdraw(record),
        limits,
      },
    });
    const checks = new Map<string, () => Promise<void>>([
      ['objects', () => objects.check()],
      ['state', () => state.check()],
      ...(scanner ? [['antivirus', () => scanner.check()] as const] : []),
    ]);
    if (audit.isOn) checks.set('audit', () => audit.check());
    const beside = partsBeside(previewer, servers, clock);
    gaugeServers(metrics, beside);
    gaugeBuild(metrics, options.version);
    const isDraining = () => draining.now;
    const now = { present: () => present.config, publicUrl: publicBase, version: options.version ?? '' };
    const used = { sessions, control, audit, lately, metrics, held, budget, waiting, open };
    const pages = consoleParts({ config, keys, clock, ...now, ...used });
    const adminApp = lateAdminApp({ control, checks, beside, isDraining, metrics, refused, ...pages });
    const guard = guardSettings(config);
    const idleMs = timeouts.idle;
    const face = await listen({ ...config.listen, app, ...direct, guard, isDraining, sockets, idleMs, refused });
    closers.unshift(async () => face.closeAll());
    metrics.gauge('wharf_client_connections', () => face.connections);
    ownPorts.push(face.port);
    publicUrl.base ||= `http://${formatAddress({ ...config.listen, port: face.port })}`;
    // readiness is still reported while draining
    const adminAddress = options.stdio ? undefined : config.adminListen;
    const adminFace =
      adminAddress &&
      (await listen({
        ...adminAddress,
        app: adminApp,
        guard: { ...guard, answersToAddresses: true },
        isDraining: () => false,
        sockets: ADMIN_SOCKETS,
        idleMs,
        refused,
      }));
    closers.unshift(async () => adminFace?.closeAll());
    if (adminFace) ownPorts.push(adminFace.port);
    expiry.start();
    closers.unshift(() => expiry.stop());
    const sweeper = startSweeper({ objects, state, clock, log, metrics });
    closers.unshift(() => sweeper.stop());

    const names = [...servers.keys()];
    const paths = names.length === 1 ? ['/mcp'] : names.map((name) => `/${name}/mcp`);
    return {
      urls: names.map((name, index) => ({ name, mcp: `${publicUrl.base}${paths[index]}` })),
      adminUrl: adminAddress && adminFace ? `http://${formatAddress({ ...adminAddress, port: adminFace.port })}` : '',
      reload: (next) => present.replace(next),
      noteRefusedConfig: (why) => audit.note({ what: 'config', subject: why, allowed: false }),
      stdio: options.stdio && faceOver(servers, options.stdio, { held, timeouts, clock, log, metrics, audit }),
      drain: async () => {
        draining.now = true;
        void face.close();
        void adminFace?.close();
        for (const stream of open.getStreams) stream.end();
        resumable?.stop();
        const until = clock.now() + timeouts.drain;
        while (open.count > 0 && clock.now() < until)
          await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
        // removals need the store for a little longer
        await cleanUps.settled(Math.max(LAST_CLEAN_UPS_MS, until - clock.now()));
        await closeParts();
      },
    };
  } catch (error) {
    await closeParts();
    throw error;
  }
}
