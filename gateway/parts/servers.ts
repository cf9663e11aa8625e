import type { AdapterList, UpstreamDeps } from '../config/adapter-list.js';
import type { ServerConfig } from '../config/config.js';
import { transportsToTry } from '../config/transports.js';
import type { Upstream } from '../ports/upstream.js';
import { Server } from '../relay/server.js';
import { relayDeps, type SharedParts } from '../relay-deps.js';
import type { MakeServer } from '../reload/running-servers.js';

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
    return new Server(relayDeps(server, parts), await parts.authorized(server, opened));
  };
}
