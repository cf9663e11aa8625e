import type { AdapterList, UpstreamDeps } from '../config/adapter-list.js';
import type { ServerConfig } from '../config/config.js';
import { transportsToTry } from '../config/transports.js';
import type { Upstream } from '../ports/upstream.js';
import { ByLimits } from '../relay/by-limits.js';
import { Transports } from '../relay/channels/transports.js';
import { Server } from '../relay/server.js';
import type { MakeServer } from '../reload/running-servers.js';
import { withTraceHeaders } from '../telemetry/trace-headers.js';
import { relayDeps, type SharedParts } from './relay.js';

/** Gives a server's requests the credentials that its config names. */
type Authorized = (server: ServerConfig, upstreams: readonly Upstream[]) => Promise<readonly Upstream[]>;

/** Makes servers that share their parts. None is contacted, and no process is started, before a client asks. */
export function serverMaker(
  adapters: AdapterList,
  deps: Omit<UpstreamDeps, 'name'>,
  parts: SharedParts & { authorized: Authorized },
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
    const transports = new Transports(plain, await parts.authorized(server, traced));
    const byLimits: ByLimits<Server> = new ByLimits(limits, parts.allowances, (other) => {
      const under = relayDeps(server, parts, other);
      return new Server(under, transports.under(under), byLimits);
    });
    return new Server(plain, transports, byLimits);
  };
}
