import type { Child } from './children.js';
import { OWN_SERVERS } from './paths.js';
import { processTree } from './proc.js';

/** The servers that stand behind a gateway: the name is the first segment of the path. */
export type ServerName = 'sse' | 'json' | 'chunked' | 'files' | 'legacy' | 'stdio' | 'sdk';

/** Something that is measured: the upstream itself, a proxy, a peer, or the gateway. */
export interface Target<Server extends string = ServerName> {
  readonly name: string;
  /** The MCP endpoint that leads to the server. */
  url(server: Server): string;
  /** The processes that are its own, without the MCP servers it has started. */
  pids(): number[];
  /** A fresh process. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** A target made of one process that `start` brings up. */
export function processTarget<Server extends string = ServerName>(
  name: string,
  url: Target<Server>['url'],
  start: () => Promise<Child>,
): Target<Server> {
  let child: Child | undefined;
  const stop = async () => {
    await child?.stop();
    child = undefined;
  };
  return {
    name,
    url,
    stop,
    pids: () => (child ? processTree(child.pid, OWN_SERVERS) : []),
    restart: async () => {
      await stop();
      child = await start();
    },
  };
}
