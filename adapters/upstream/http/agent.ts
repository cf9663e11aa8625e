import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';

/**
 * Node and uvicorn, which most MCP servers run on, close a connection that has been idle for 5 s, and uvicorn does not
 * announce it. A request written at that very moment is lost, so an idle connection is given up before.
 */
const IDLE_MS = 4000;

/** A server that announces its own time (`Keep-Alive: timeout=`) is believed up to this. */
const LONGEST_IDLE_MS = 60_000;

/** How long before the announced time the connection is given up: more than a round trip and a timer's slack. */
const IDLE_MARGIN_MS = 1000;

/** TCP and TLS. The kernel alone would try for two minutes. */
const CONNECT_MS = 10_000;

/** Idle connections kept; more are closed when their request ends. */
const FREE_SOCKETS = 256;

/** What node:http's Agent has beside its declared type: its documented hooks for subclasses. */
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
   * Resolves when it is known of the idle connections which of them the server has closed; undefined when that is
   * clear. A busy event loop reads of it late, and a request written meanwhile would be lost.
   */
  settleIdle(): Promise<void> | undefined;
}

const BYTES_BEFORE = Symbol('bytes before this request');
const IDLE_SINCE = Symbol('when it became idle');

type PooledSocket = Socket & { [BYTES_BEFORE]?: number; [IDLE_SINCE]?: number };

/** A connection that became idle this long ago is not taken before the sockets have been read once more. */
const SURE_MS = 1000;

/** The one pool there is: the name node builds from a dozen options for every request is always the same. */
const ORIGIN = 'upstream';

/** Bytes on an idle connection answer nobody: the next request must not take them for its answer. */
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
    // TCP probes begin after this idle time and find a peer that went away without a word
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
      // the first turn may have begun before the server closed it
      return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    },
    dropIdle() {
      for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
    },
  };
}
