import type { AdapterList, UpstreamAdapterDeps } from '../config/adapter-list.js';
import type { ServerConfig } from '../config/config.js';
import { transportsToTry } from '../config/transports.js';
import type { Upstream } from '../ports/upstream.js';
import { ByLimits } from '../relay/by-limits.js';
import { Transports } from '../relay/channels/transports.js';
import { Server } from '../relay/server.js';
import type { MakeServer } from '../reload/running-servers.js';
import { withTraceHeaders } from '../telemetry/trace-headers.js';
import type { SharedParts } from './relay/shared-parts.js';
import { relayDeps } from './relay.js';
import type { Authorized } from './upstream-credentials.js';

/** Gives a server's requests the credentials that its config names. */
type Authorize = (server: ServerConfig, upstreams: readonly Upstream[]) => Promise<Authorized>;

/** Makes servers that share their parts. None is contacted, and no process is started, before a client asks. */
export function serverMaker(
  adapters: AdapterList,
  deps: Omit<UpstreamAdapterDeps, 'name'>,
  parts: SharedParts & { authorize: Authorize },
): MakeServer {
  return async (server) => {
    const { name, limits, settings, transport } = server;
    const upstreamDeps = { ...deps, limits, log: deps.log.child({ server: name }), name };
    const opened = await Promise.all(
      transportsToTry(transport).map((use) => adapters.upstream[use].create(settings, upstreamDeps)),
    );
    const { tracer } = parts;
    const traced = tracer ? opened.map((upstream) => withTraceHeaders(upstream, tracer)) : opened;
    const plain = relayDeps(server, parts);
    const { upstreams, login } = await parts.authorize(server, traced);
    const transports = new Transports(plain, upstreams);
    const byLimits: ByLimits<Server> = new ByLimits(limits, parts.allowances, (other) => {
      const under = relayDeps(server, parts, other);
      return new Server(under, transports.under(under), byLimits);
    });
    return { server: new Server(plain, transports, byLimits), login };
  };
}
