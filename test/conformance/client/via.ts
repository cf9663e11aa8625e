import { startGateway } from '../../helpers/gateway-process.js';

/** How the client reaches the suite's server. */
export const VIAS = ['direct', 'rewrite', 'verbatim'] as const;
export type Via = (typeof VIAS)[number];

export interface Place {
  /** What the client is given. */
  url: URL;
  fetch: typeof fetch;
  stop(): Promise<unknown>;
}

/**
 * Puts Wharf in front of a server, if it should be there. With `verbatim` it has the server's name, and what is not MCP
 * goes past it, as a balancer sends it.
 */
export async function reach(server: string, via: Via): Promise<Place> {
  const url = new URL(server);
  if (via === 'direct') return { url, fetch, stop: async () => undefined };
  const gateway = await startGateway({
    config: {
      servers: { suite: { url: server } },
      auth: { use: 'passthrough', passthrough: { resource: via } },
      ...(via === 'verbatim' && { publicUrl: url.origin }),
    },
  });
  const own = new URL(gateway.mcp());
  if (via === 'rewrite') return { url: own, fetch, stop: gateway.stop };
  const balanced: typeof fetch = (input, init) => {
    const asked = new URL(input instanceof Request ? input.url : input);
    const isMcp = asked.origin === url.origin && asked.pathname === url.pathname;
    return fetch(isMcp ? own : input, init);
  };
  return { url, fetch: balanced, stop: gateway.stop };
}
