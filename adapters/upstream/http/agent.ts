import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';

/**
 * Node and uvicorn, on which most MCP servers run, close a connection after 5 s idle, and uvicorn does not announce it.
 * A request written at that very moment is lost, so Wharf closes an idle connection earlier.
 */
const IDLE_MS = 4000;

/** Limit on the idle time that a server announces itself (`Keep-Alive: timeout=`). */
const LONGEST_IDLE_MS = 60_000;

/** How long before the announced time the connection is closed: more than a round trip and a timer's slack. */
const IDLE_MARGIN_MS = 1000;

/** For TCP and TLS. The kernel alone would try for two minutes. */
const CONNECT_MS = 10_000;

/** Most idle connections kept; further ones are closed when their request ends. */
const FREE_SOCKETS = 256;

/** The Agent's documented hooks for subclasses, which node:http's types do not declare. */
interface AgentHooks {
  createConnection(options: object, callback?: (error: Error | null, socket: Socket) => void): Socket | undefined;
  keepSocketAlive(socket: Socket): boolean;
  reuseSocket(socket: Socket, request: object): void;
  getName(options?: object): string;
}

export interface UpstreamAgent {
  readonly agent: HttpAgent;
  /** Bytes that had arrived on this socket before the request that now uses it. */
  bytesBefore(socket: Socket): number;
  /** Learns how long the server keeps idle connections, from the `Keep-Alive` header of an answer. */
  learnIdle(header: string | string[] | undefined): void;
  /** Closes the idle connections. */
  dropIdle(): void;
  /**
   * Resolves when it is known which idle connections the server has closed; undefined when that is known already. A
   * busy event loop learns it late, and a request written meanwhile would be lost.
   */
  settleIdle(): Promise<void> | undefined;
}

const BYTES_BEFORE = Symbol('bytes before this request');
const IDLE_SINCE = Symbol('when it became idle');

type PooledSocket = Socket & { [BYTES_BEFORE]?: number; [IDLE_SINCE]?: number };

/** A connection idle for this long is not reused before the sockets have been read once more. */
const SURE_MS = 1000;

/** The only pool: the name that node builds from a dozen options for every request would always be the same. */
const ORIGIN = 'upstream';

/** Bytes on an idle connection answer no request; the next request must not read them as its answer. */
function dropDirty(this: Socket): void {
  this.destroy();
}

function boundConnect(socket: Socket, event: 'connect' | 'secureConnect'): void {
  const timer = setTimeout(() => socket.destroy(new Error(`not connected after ${CONNECT_MS} ms`)), CONNECT_MS);
  const done = (): void => clearTimeout(timer);
  socket.once(event, done);
  socket.once('close', done);
}

/** A keep-alive Agent for one origin. `connections` is the most it opens; Slots keeps its queue empty. */
export function createAgent(secure: boolean, connections: number): UpstreamAgent {
  const options = {
    keepAlive: true,
    // TCP probes begin after this idle time and detect a peer that vanished
    keepAliveMsecs: 1000,
    noDelay: true,
    maxSockets: connections,
    maxFreeSockets: Math.min(connections, FREE_SOCKETS),
  };
  const agent = secure ? new HttpsAgent(options) : new HttpAgent(options);
  const hooks = agent as unknown as AgentHooks;
  let idleMs = IDLE_MS;
  let lastHeader: string | string[] | undefined;

  const connect = hooks.createConnection;
  hooks.createConnection = (target, callback) => {
    const socket = connect.call(agent, target, callback);
    if (socket !== undefined) boundConnect(socket, secure ? 'secureConnect' : 'connect');
    return socket;
  };
  hooks.getName = () => ORIGIN;
  hooks.keepSocketAlive = (socket: PooledSocket) => {
    if (idleMs <= 0 || socket.readableLength > 0) return false;
    if (socket.timeout !== idleMs) socket.setTimeout(idleMs);
    socket.on('data', dropDirty);
    socket[IDLE_SINCE] = performance.now();
    socket.unref();
    return true;
  };
  const reuse = hooks.reuseSocket;
  hooks.reuseSocket = (socket: PooledSocket, request) => {
    socket.off('data', dropDirty);
    socket[BYTES_BEFORE] = socket.bytesRead;
    reuse.call(agent, socket, request);
  };

  return {
    agent,
    bytesBefore: (socket: PooledSocket) => socket[BYTES_BEFORE] ?? 0,
    learnIdle(header) {
      if (header === lastHeader) return;
      lastHeader = header;
      const seconds = /\btimeout=(\d{1,6})\b/.exec(String(header ?? ''))?.[1];
      idleMs = seconds === undefined ? IDLE_MS : Math.min(Number(seconds) * 1000 - IDLE_MARGIN_MS, LONGEST_IDLE_MS);
    },
    settleIdle() {
      const next: PooledSocket | undefined = agent.freeSockets[ORIGIN]?.at(-1);
      if (!next || performance.now() - (next[IDLE_SINCE] ?? 0) < SURE_MS) return undefined;
      // the first turn may have begun before the server closed the connection
      return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    },
    dropIdle() {
      for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
    },
  };
}
