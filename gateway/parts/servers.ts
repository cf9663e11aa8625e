import type { AdapterList, UpstreamDeps } from '../config/adapter-list.js';
import type { ServerConfig } from '../config/config.js';
import { transportsToTry } from '../config/transports.js';
import type { Upstream } from '../ports/upstream.js';
import { Server } from '../relay/server.js';
import { relayDeps, type SharedParts } from '../relay-deps.js';

/** Gives a server's requests the credentials that its config names. */
type Authorized = (server: ServerConfig, upstreams: readonly Upstream[]) => Promise<readonly Upstream[]>;

/** Every configured server, by name. None is contacted, and no process is started, before a client asks. */
export async function openServers(
  adapters: AdapterList,
  deps: Omit<UpstreamDeps, 'name'>,
  parts: SharedParts & { authorized: Authorized },
): Promise<ReadonlyMap<string, Server>> {
  const servers = new Map<string, Server>();
  for (const server of parts.config.servers) {
    const { name, limits, settings, transport } = server;
    const upstreamDeps = { ...deps, limits, log: deps.log.child({ server: name }), name };
    const opened = await Promise.all(
      transportsToTry(transport).map((use) => adapters.upstream[use].create(settings, upstreamDeps)),
    );
    servers.set(name, new Server(relayDeps(server, parts), await parts.authorized(server, opened)));
  }
  return servers;
}
