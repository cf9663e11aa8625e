import { Agent } from 'node:https';
import { connect, isIP, type Socket } from 'node:net';
import { Connection, type Keeper } from './connection.js';

/**
 * For servers. Node and uvicorn, on which most MCP servers run, close a connection after 5 s idle, and uvicorn does not
 * announce it. A request written at that very moment is lost, so Wharf closes an idle connection earlier.
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

/**
 * Most idle connections that all pools keep; beyond them, and OWN_IDLE of each pool, a connection is closed when its request
 * ends. The answers to 512 callers may come in few turns of the loop, so that hundreds of their connections are idle at one moment:
 * each that is closed then costs the next request a new one.
 */
const MOST_IDLE = 1024;

/** Each pool keeps so many even when all together have reached MOST_IDLE. */
const OWN_IDLE = 64;

let idleInAll = 0;

/** TCP probes begin after this idle time and detect a peer that vanished. */
const PROBE_MS = 1000;

/** A connection idle for this long is not reused before the sockets have been read once more. */
const SURE_MS = 1000;

/** By this name node's agent keeps TLS sessions, so that later connections begin without a full handshake. */
const ORIGIN = 'origin';

/** What node's agent does to connect, which node:https's types do not declare. */
interface Connecting {
  createConnection(options: object): Socket;
}

/** Where connections go: the parts of a URL. */
export type Origin = Pick<URL, 'protocol' | 'hostname' | 'port'>;

interface PoolOptions {
  /** The most that are open at one time: its user sees to that. */
  connections: number;
  /** Milliseconds for TCP. With TLS a connection has CONNECT_MS in all. */
  connectMs?: number;
  /** Milliseconds for which an idle connection is kept, unless the server announces a time. */
  idleMs?: number;
}

/** The kept connections to one origin. Its user bounds how many there are, so each request gets the one used last or a new one. */
export class Pool implements Keeper {
  readonly #host: string;
  readonly #port: number;
  /** Keeps TLS sessions. */
  readonly #tls: Connecting | undefined;
  /** The one used last comes last. */
  readonly #idle: Connection[] = [];
  readonly #open = new Set<Connection>();
  readonly #most: number;
  #look: NodeJS.Timeout | undefined;
  readonly #connectMs: number;
  readonly #usualIdleMs: number;
  #idleMs: number;
  #lastHeader: string | string[] | undefined;

  constructor({ protocol, hostname, port }: Origin, options: PoolOptions) {
    const { connections, connectMs = CONNECT_MS, idleMs = IDLE_MS } = options;
    this.#connectMs = connectMs;
    this.#usualIdleMs = idleMs;
    this.#idleMs = idleMs;
    const isSecure = protocol === 'https:';
    this.#host = hostname.replace(/^\[|\]$/g, '');
    this.#port = Number(port) || (isSecure ? 443 : 80);
    this.#tls = isSecure ? (new Agent() as unknown as Connecting) : undefined;
    this.#most = connections;
  }

  take(): Connection {
    return this.#reused() ?? this.#connect();
  }

  /** Learns how long the server keeps idle connections, from the `Keep-Alive` header of an answer. */
  learnIdle(header: string | string[] | undefined): void {
    if (header === this.#lastHeader) return;
    this.#lastHeader = header;
    const seconds = /\btimeout=(\d{1,6})\b/.exec(String(header ?? ''))?.[1];
    this.#idleMs =
      seconds === undefined ? this.#usualIdleMs : Math.min(Number(seconds) * 1000 - IDLE_MARGIN_MS, LONGEST_IDLE_MS);
  }

  /**
   * Resolves when it is known which idle connections the server has closed; undefined when that is known already. A
   * busy event loop learns it late, and a request written meanwhile would be lost.
   */
  settleIdle(): Promise<void> | undefined {
    const next = this.#idle.at(-1);
    if (!next || performance.now() - (next.idleSince ?? 0) < SURE_MS) return undefined;
    // the first turn may have begun before the server closed the connection
    return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  }

  /** Closes the idle connections. */
  dropIdle(): void {
    this.#closeFirst(this.#idle.length);
  }

  /** Closes all connections. */
  destroy(): void {
    clearInterval(this.#look);
    for (const { socket } of this.#open) socket.destroy();
  }

  /** Its request is over, and all of the answer has come. */
  keep(connection: Connection): void {
    if (this.#idleMs <= 0 || !this.#hasRoom()) {
      connection.socket.destroy();
      return;
    }
    connection.idleSince = performance.now();
    connection.socket.unref();
    this.#idle.push(connection);
    idleInAll += 1;
    this.#look ??= setInterval(() => this.#closeOld(), LOOK_MS).unref();
  }

  #hasRoom(): boolean {
    const { length } = this.#idle;
    return length < this.#most && (length < OWN_IDLE || idleInAll < MOST_IDLE);
  }

  #reused(): Connection | undefined {
    for (;;) {
      const connection = this.#idle.pop();
      if (connection === undefined) return undefined;
      idleInAll -= 1;
      const since = connection.idleSince ?? 0;
      connection.idleSince = undefined;
      if (!connection.isUsable) continue;
      if (performance.now() - since >= this.#idleMs) {
        connection.socket.destroy();
        continue;
      }
      connection.isReused = true;
      connection.socket.ref();
      return connection;
    }
  }

  #connect(): Connection {
    // half open, because a connection shows a reset after its end only while this end is open
    const tcp = { noDelay: true, keepAlive: true, keepAliveInitialDelay: PROBE_MS, allowHalfOpen: true };
    const at = { host: this.#host, port: this.#port, ...tcp };
    const socket = this.#tls
      ? this.#connectTls(this.#tls, at)
      : connect({ ...at, onread: { buffer: MEMORY, callback: (length, memory) => connection.takeOf(memory, length) } });
    const connection = new Connection(socket, this);
    if (this.#tls) socket.on('data', (bytes) => connection.take(bytes));
    this.#open.add(connection);
    boundConnect(socket, 'connect', this.#connectMs);
    if (this.#tls) boundConnect(socket, 'secureConnect', CONNECT_MS);
    return connection;
  }

  #connectTls(agent: Connecting, at: { host: string; port: number }): Socket {
    // an SNI name must not be an address (RFC 6066 §3)
    const servername = isIP(at.host) === 0 ? at.host : '';
    const socket = agent.createConnection({ ...at, servername, ALPNProtocols: ['http/1.1'], _agentKey: ORIGIN });
    // `tls.connect` of Node 22 and the first 24 does not pass these on
    socket.once('secureConnect', () => socket.setNoDelay(true).setKeepAlive(true, PROBE_MS));
    return socket;
  }

  /** The ones idle longest come first. */
  #closeOld(): void {
    const now = performance.now();
    let old = 0;
    while (old < this.#idle.length && now - (this.#idle[old]?.idleSince ?? 0) >= this.#idleMs) old += 1;
    this.#closeFirst(old);
    if (this.#idle.length > 0) return;
    clearInterval(this.#look);
    this.#look = undefined;
  }

  #closeFirst(count: number): void {
    idleInAll -= count;
    for (const { socket } of this.#idle.splice(0, count)) socket.destroy();
  }

  forget(connection: Connection): void {
    this.#open.delete(connection);
    if (connection.idleSince === undefined) return;
    const at = this.#idle.lastIndexOf(connection);
    if (at === -1) return;
    this.#idle.splice(at, 1);
    idleInAll -= 1;
  }
}

/**
 * Plain connections are all read into the same memory, because what is kept is copied out of it before the next read. Node
 * of itself takes 64 KiB anew for each read, and holds another of them for each body that waits for its reader: a quarter of
 * the memory of 256 long answers. TLS reads while it writes too, so one read could begin inside another there.
 */
const MEMORY = Buffer.allocUnsafeSlow(64 * 1024);

function boundConnect(socket: Socket, event: 'connect' | 'secureConnect', ms: number): void {
  const timer = setTimeout(() => socket.destroy(new Error(`not connected after ${ms} ms`)), ms);
  const done = (): void => {
    clearTimeout(timer);
    // not kept for the hours that a stream may take
    socket.off(event, done).off('close', done);
  };
  socket.on(event, done).on('close', done);
}
