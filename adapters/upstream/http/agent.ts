import { type ClientRequest, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { isIP, type Socket } from 'node:net';

/**
 * Node and uvicorn, on which most MCP servers run, close a connection after 5 s idle, and uvicorn does not announce it.
 * A request written at that very moment is lost, so Wharf closes an idle connection earlier.
 */
const IDLE_MS = 4000;

/** Limit on the idle time that a server announces itself (`Keep-Alive: timeout=`). */
const LONGEST_IDLE_MS = 60_000;

/** How long before the announced time the connection is closed: more than a round trip and a timer's slack. */
const IDLE_MARGIN_MS = 1000;

/** How often idle connections are looked at: one timer for all of them, where node sets one with each answer. */
const LOOK_MS = 500;

/** For TCP and TLS. The kernel alone would try for two minutes. */
const CONNECT_MS = 10_000;

/** Most idle connections kept; further ones are closed when their request ends. */
const FREE_SOCKETS = 256;

/** TCP probes begin after this idle time and detect a peer that vanished. */
const PROBE_MS = 1000;

/** A connection idle for this long is not reused before the sockets have been read once more. */
const SURE_MS = 1000;

/** By this name node's agent keeps TLS sessions, so that later connections begin without a full handshake. */
const ORIGIN = 'upstream';

/** What node's agent does to connect, which node:http's types do not declare. */
interface Connecting {
  createConnection(options: object): Socket;
}

/** What node:http asks of an agent: the properties that it reads, and a connection for each request. */
interface AgentOfRequests {
  readonly protocol: string;
  readonly defaultPort: number;
  readonly keepAlive: true;
  readonly maxSockets: number;
  addRequest(request: ClientRequest, options: object): void;
}

const BYTES_BEFORE = Symbol('bytes before this request');
const IDLE_SINCE = Symbol('when it became idle');

interface PooledSocket extends Socket {
  [BYTES_BEFORE]: number;
  /** Undefined while a request has it. */
  [IDLE_SINCE]: number | undefined;
  /** The request that has it, for node:http. */
  _httpMessage: ClientRequest | null;
}

/**
 * The kept connections to one origin, in the place of node's Agent. That one is made for many origins, queues and
 * listeners of others, which took 6 of the 80 µs that a short message costs in all of node:http's client; here Slots
 * bounds the connections, so each request gets the one used last or a new one.
 */
export class UpstreamAgent implements AgentOfRequests {
  readonly protocol: string;
  readonly defaultPort: number;
  readonly keepAlive = true;
  readonly maxSockets: number;
  readonly #secure: boolean;
  readonly #connecting: Connecting;
  /** The one used last comes last. */
  readonly #idle: PooledSocket[] = [];
  readonly #open = new Set<PooledSocket>();
  readonly #mostIdle: number;
  readonly #freed: (this: Socket) => void;
  readonly #closed: (this: Socket) => void;
  #look: NodeJS.Timeout | undefined;
  #idleMs = IDLE_MS;
  #lastHeader: string | string[] | undefined;

  /** @param connections the most that Slots lets be open */
  constructor(secure: boolean, connections: number) {
    this.#secure = secure;
    this.protocol = secure ? 'https:' : 'http:';
    this.defaultPort = secure ? 443 : 80;
    this.maxSockets = connections;
    this.#mostIdle = Math.min(connections, FREE_SOCKETS);
    this.#connecting = (secure ? new HttpsAgent() : new HttpAgent()) as unknown as Connecting;
    const free = (socket: Socket) => this.#keep(socket as PooledSocket);
    const forget = (socket: Socket) => this.#forget(socket as PooledSocket);
    this.#freed = function () {
      free(this);
    };
    this.#closed = function () {
      forget(this);
    };
  }

  /** Called by node:http for each request. */
  addRequest(request: ClientRequest, options: { host: string }): void {
    const socket = this.#reused();
    if (socket === undefined) {
      request.onSocket(this.#connect(options));
      return;
    }
    request.reusedSocket = true;
    request.onSocket(socket);
  }

  /** Bytes that had arrived on this socket before the request that now uses it. */
  bytesBefore(socket: Socket): number {
    return (socket as PooledSocket)[BYTES_BEFORE];
  }

  /** Learns how long the server keeps idle connections, from the `Keep-Alive` header of an answer. */
  learnIdle(header: string | string[] | undefined): void {
    if (header === this.#lastHeader) return;
    this.#lastHeader = header;
    const seconds = /\btimeout=(\d{1,6})\b/.exec(String(header ?? ''))?.[1];
    this.#idleMs = seconds === undefined ? IDLE_MS : Math.min(Number(seconds) * 1000 - IDLE_MARGIN_MS, LONGEST_IDLE_MS);
  }

  /**
   * Resolves when it is known which idle connections the server has closed; undefined when that is known already. A
   * busy event loop learns it late, and a request written meanwhile would be lost.
   */
  settleIdle(): Promise<void> | undefined {
    const next = this.#idle.at(-1);
    if (!next || performance.now() - (next[IDLE_SINCE] ?? 0) < SURE_MS) return undefined;
    // the first turn may have begun before the server closed the connection
    return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  }

  /** Closes the idle connections. */
  dropIdle(): void {
    for (const socket of this.#idle.splice(0)) socket.destroy();
  }

  /** Closes all connections. */
  destroy(): void {
    clearInterval(this.#look);
    for (const socket of this.#open) socket.destroy();
  }

  #reused(): PooledSocket | undefined {
    for (;;) {
      const socket = this.#idle.pop();
      if (socket === undefined) return undefined;
      const since = socket[IDLE_SINCE] ?? 0;
      socket[IDLE_SINCE] = undefined;
      if (socket.destroyed || !socket.writable) continue;
      if (performance.now() - since >= this.#idleMs) {
        socket.destroy();
        continue;
      }
      socket[BYTES_BEFORE] = socket.bytesRead;
      socket.ref();
      return socket;
    }
  }

  #connect(options: { host: string }): PooledSocket {
    const { host } = options;
    // an SNI name must not be an address (RFC 6066 §3)
    const servername = isIP(host) === 0 ? host : '';
    const kind = this.#secure ? { servername, ALPNProtocols: ['http/1.1'], _agentKey: ORIGIN } : PLAIN;
    const tcp = { noDelay: true, keepAlive: true, keepAliveInitialDelay: PROBE_MS };
    // a path would be that of a Unix socket
    const socket = this.#connecting.createConnection({ ...options, ...kind, ...tcp, path: undefined }) as PooledSocket;
    socket[BYTES_BEFORE] = 0;
    socket[IDLE_SINCE] = undefined;
    this.#open.add(socket);
    boundConnect(socket, this.#secure ? 'secureConnect' : 'connect');
    socket.on('data', dropDirty);
    socket.on('error', ignore);
    socket.on('free', this.#freed);
    socket.on('close', this.#closed);
    return socket;
  }

  /** Its request is over, and all of the answer has been read. */
  #keep(socket: PooledSocket): void {
    const isUsable = !socket.destroyed && socket.writable && socket.readableLength === 0;
    if (!isUsable || this.#idleMs <= 0 || this.#idle.length >= this.#mostIdle) {
      socket.destroy();
      return;
    }
    socket[IDLE_SINCE] = performance.now();
    // otherwise it would keep the last request and its answer in memory
    socket._httpMessage = null;
    socket.unref();
    this.#idle.push(socket);
    this.#look ??= setInterval(() => this.#closeOld(), LOOK_MS).unref();
  }

  /** The ones idle longest come first. */
  #closeOld(): void {
    const now = performance.now();
    let old = 0;
    while (old < this.#idle.length && now - ((this.#idle[old] as PooledSocket)[IDLE_SINCE] ?? 0) >= this.#idleMs)
      old += 1;
    for (const socket of this.#idle.splice(0, old)) socket.destroy();
    if (this.#idle.length > 0) return;
    clearInterval(this.#look);
    this.#look = undefined;
  }

  #forget(socket: PooledSocket): void {
    this.#open.delete(socket);
    if (socket[IDLE_SINCE] === undefined) return;
    const at = this.#idle.lastIndexOf(socket);
    if (at >= 0) this.#idle.splice(at, 1);
  }
}

/**
 * How plain connections are read: all of them into the same memory, because node's parser copies bodies out of it before
 * the next read. Node of itself takes 64 KiB anew for each read, and holds another of them for each body that waits for
 * its reader: a quarter of the memory of 256 long answers. TLS reads while it writes too, so one read could begin inside
 * another there.
 */
const PLAIN = {
  // of a body that waits for its reader nothing is read ahead
  readableHighWaterMark: 0,
  onread: { buffer: Buffer.allocUnsafeSlow(64 * 1024), callback: passOn },
};

function passOn(this: Socket, length: number, memory: Buffer): boolean {
  this.emit('data', memory.subarray(0, length));
  return true;
}

/** Bytes on an idle connection answer no request; the next request must not read them as its answer. */
function dropDirty(this: Socket): void {
  if ((this as PooledSocket)[IDLE_SINCE] !== undefined) this.destroy();
}

/** A request has a listener of its own; on an idle connection an error means only that it is closed. */
function ignore(): void {}

function boundConnect(socket: Socket, event: 'connect' | 'secureConnect'): void {
  const timer = setTimeout(() => socket.destroy(new Error(`not connected after ${CONNECT_MS} ms`)), CONNECT_MS);
  const done = (): void => clearTimeout(timer);
  socket.once(event, done);
  socket.once('close', done);
}
