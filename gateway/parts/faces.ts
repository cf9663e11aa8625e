import { formatAddress } from '../config/schema/fields.js';
import { fitting, logFitting } from '../descriptors.js';
import type { GatewayError } from '../errors.js';
import { Lately } from '../http/console/lately.js';
import { listen } from '../http/listener.js';
import { OpenStreams } from '../http/open-streams.js';
import { guardSettings } from '../http/origin/guard.js';
import { Refusals } from '../http/refusals.js';
import { lateApp } from '../http/routes/late-apps.js';
import { mcp } from '../http/routes/mcp.js';
import { createRequestLedger, gaugeShares } from '../ledgers.js';
import { Heartbeats } from '../relay/client/heartbeats.js';
import { reportError } from '../relay/exchange-log.js';
import { TracedUploads } from '../telemetry/traced-uploads.js';
import { openAdminFace } from './admin-face.js';
import { downloadParts } from './downloads.js';
import type { Filing } from './filing.js';
import { gaugeParts } from './gauges.js';
import type { ProcessParts } from './process.js';
import type { Serving } from './serving.js';

/** How each `auth` lets callers in, as people read it. */
const ENTRIES = { none: 'open', apiKeys: 'keys', jwt: 'login', passthrough: 'login', both: 'login or keys' } as const;

/**
 * Opens both ports.
 * @param hasMcp whether clients speak MCP on the public port. Otherwise that port serves links, and the admin port stays closed
 * @param version for the console and the metrics
 */
export async function openFaces(
  shared: ProcessParts,
  filing: Filing,
  serving: Serving,
  { hasMcp, version }: { hasMcp: boolean; version: string | undefined },
) {
  const { config, closers, keys, clock, log, fewLines, metrics, audit, held, publicUrl, publicBase, timeouts } = shared;
  const { library, uploadLinks, uploads, resumable, several } = filing;
  const { servers, present, waysIn } = serving;
  const open = { count: 0, streams: new OpenStreams(), heartbeats: new Heartbeats() };
  gaugeParts(metrics, { ...shared, ...filing, ...serving, open });

  const refusals = new Refusals({ log, metrics, clock });
  const refused: Refusals['note'] = (error, request) => refusals.note(error, request);
  const fits = fitting(config);
  logFitting(log, fits, config);
  const sockets = { limit: 'limits.sockets', allowed: fits.sockets };
  const requests = createRequestLedger(sockets.allowed, shared.sharing);
  gaugeShares(metrics, { ledgers: shared.ledgers, requests });
  const lately = new Lately(clock);
  const exchanges = {
    ...{ authenticate: present.authenticate, shown: waysIn.now.shown, quotas: filing.quotas },
    ...{ held, requests, timeouts, clock, log, fewLines, metrics, audit, open, lately, refused },
  };
  const faultOf = (what: string) => (error: GatewayError) => reportError({ log, fewLines, metrics }, error, what);
  const app = lateApp({
    ...{ refused, fault: faultOf('a request failed'), resources: waysIn.resources, wayCheck: { keys, clock } },
    logins: { ...serving.logins, baseUrl: publicBase, log },
    ...(hasMcp && {
      connect: { servers: () => [...servers.keys()], entry: ENTRIES[config.auth.use], baseUrl: publicBase },
    }),
    downloads: downloadParts(shared, filing, { openDownloads: shared.ledgers.downloads, refused, open }),
    uploads: {
      ...exchanges,
      ...{ uploadLinks, uploads, resumable, several, library, limits: shared.limits },
      traced: shared.tracer && new TracedUploads(shared.tracer),
      isSecure: () => publicUrl.base.startsWith('https:'),
      withdraw: (record) => library.withdraw(record),
    },
  });
  const isDraining = () => shared.draining.now;
  // Where the port has closed, a late request is the last one of a connection that a balancer keeps, and does not send again
  // elsewhere: its answer closes the connection.
  const refusesLate = () => shared.draining.now && (config.state.use === 'memory' || shared.draining.isOver);
  const guard = guardSettings(config);
  const face = await listen({
    ...config.listen,
    ...{ app, guard, isDraining, refusesLate, sockets, limits: shared.limits, idleMs: timeouts.idle, refused },
    ...(hasMcp && { direct: mcp({ servers, ...exchanges, isDraining: refusesLate }) }),
  });
  closers.add(() => face.closeAll());
  metrics.gauge('wharf_client_connections', () => face.connections);
  serving.ownPorts.push(face.port);
  publicUrl.base ||= `http://${formatAddress({ ...config.listen, port: face.port })}`;

  const adminUrl = await openAdminFace(shared, filing, serving, {
    address: hasMcp ? config.adminListen : undefined,
    ...{ version, exchanges, guard, isDraining, refused },
    fault: faultOf('a request of an operator failed'),
  });
  serving.sessions.listening = () => open.streams.sessions();
  serving.sessions.endStreams = (id) => open.streams.endOf(id);
  serving.running.endStreams = (server, are) => open.streams.endAt(server, are, log);
  return {
    open,
    /** Ends the streams of callers that the config of now lets in no longer. */
    endStrangers: () => open.streams.endStrangers({ authenticate: waysIn.authenticate, servers }, log),
    /** Empty when there is no admin port. */
    adminUrl,
    /** Resolves when all requests of clients have begun that have come by now. */
    serveAll: () => face.serveAll(),
    /** Clients get no new connection. Operators still do: they ask what a drain waits for. */
    close: () => void face.close(),
    /** As `close`, and leaves the connections that clients and balancers keep. */
    refuseConnections: () => face.refuseConnections(),
    /** Whether clients or balancers keep any. */
    hasConnections: () => face.connections > 0,
    /** Ends what clients still wait for, and resolves when all of that has learned why. */
    cutOff: () => face.closeAll(),
  };
}
