import { once } from 'node:events';
import http, {
  createServer,
  type IncomingMessage,
  type Server as NodeServer,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { type AddressInfo, Server as NetServer, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { breathe } from '../budget/turn.js';
import { descriptorsExhausted, installationChanged } from '../errors/system.js';
import { asGatewayError, GatewayError } from '../errors.js';
import { UNKNOWN } from '../identity/identities.js';
import { errorAnswer } from '../mcp/error-response.js';
import type { Limits } from '../policy/limits.js';
import { noteClosed } from './client-gone.js';
import { Connections, closeSoon } from './connections.js';
import { discardRest } from './discard.js';
import { refuse } from './error-response.js';
import { refuseUnread } from './id-of-refused.js';
import { takeApart } from './incoming/absolute-target.js';
import { Arrivals } from './incoming/arrivals.js';
import { JoinedRequest } from './incoming/joined-request.js';
import { letPageRead } from './origin/cross-origin.js';
import { createGuard, type GuardSettings } from './origin/guard.js';
import type { RefusedRequest } from './refusals.js';
import { SAFE_HEADERS, SafeResponse } from './response.js';

/**
 * Time-out for a request's head. Bodies have `timeouts.idle`: Node's own requestTimeout would end honest long uploads.
 */
const HEAD_TIMEOUT_MS = 15_000;

/** Node's error for a head that took too long. */
const LATE_HEAD = 'ERR_HTTP_REQUEST_TIMEOUT';

/** Node's error for a head that is longer than it takes. */
const LONG_HEAD = 'HPE_HEADER_OVERFLOW';

/** Node's error for a connection that ends in the midst of a request. */
const BROKEN_OFF = 'HPE_INVALID_EOF_STATE';

/** How often Node checks for such heads. */
const HEAD_LOOK_MS = 5000;

/** Longer than the keep-alive of common load balancers (60 s), so that they close an idle connection first. */
const KEEP_ALIVE_MS = 65_000;

/** Routes that answer `Expect: 100-continue` themselves, after deciding whether they want the body. */
const DECIDES_FIRST = /^\/(?:u\/|(?:[^/?]+\/)?mcp(?:\?|$))/;

/** Handles a request before the app sees it; returns false to leave it to the app. */
export type DirectRoute = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Answers every request. */
export type App = (request: IncomingMessage, response: ServerResponse) => unknown;

interface ListenerOptions {
  host: string;
  port: number;
  /**
   * Called for the first request that it is needed for. It brings hono and with it Node's own `fetch`, whose classes hono
   * extends: 17 MiB and 50 ms of processor time, which a process that only relays messages does without.
   */
  app: () => Promise<App>;
  direct?: DirectRoute;
  guard: GuardSettings;
  /** Each answer closes its connection then. */
  isDraining: () => boolean;
  /** New requests are refused then; absent: while it drains. */
  refusesLate?: () => boolean;
  /** Most connections at one time, and the setting's name. */
  sockets: { limit: string; allowed: number };
  /** Those of now. `held`: bytes of finished answers that clients may leave unread. */
  limits: Readonly<Pick<Limits, 'held'>>;
  /** `timeouts.idle`: a client that reads nothing of its answer for this long is given up. */
  idleMs: number;
  /** Called for requests refused before they reach a route. */
  refused: (error: GatewayError, request: RefusedRequest) => void;
}

interface Listener {
  /** The actual port, also if the config said 0. */
  port: number;
  /** Open now. */
  readonly connections: number;
  /** Resolves when all requests have begun that have come by now. */
  serveAll(): Promise<void>;
  /** Stops accepting connections, and leaves those that are open. */
  refuseConnections(): void;
  /** Stops accepting connections; resolves when the last one is closed. */
  close(): Promise<void>;
  /** Closes all connections, and resolves when the exchanges on them know why. */
  closeAll(): Promise<void>;
}

/** Opens a port for an app. @throws the system's error, such as EADDRINUSE */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const { sockets, limits, idleMs } = options;
  const connections = new Connections({ sockets: sockets.allowed, limits, stallMs: idleMs });
  class Answer<Request extends IncomingMessage = IncomingMessage> extends SafeResponse<Request> {
    protected override left(bytes: number): void {
      connections.leave(this.req.socket, bytes, this.caller ?? UNKNOWN.principal);
    }

    // a balancer would use the connection again, and lose that request when the process ends
    protected override isLast(): boolean {
      return options.isDraining() && !connections.isPipelined(this.req.socket);
    }
  }
  const arrivals = new Arrivals(connections);
  const onRequest = requestHandler(options, { connections, arrivals });
  const server = createServer(
    {
      IncomingMessage: JoinedRequest,
      ServerResponse: Answer,
      requestTimeout: 0,
      // the guard refuses such a request, and says why
      requireHostHeader: false,
      headersTimeout: HEAD_TIMEOUT_MS,
      connectionsCheckingInterval: HEAD_LOOK_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    onRequest,
  );
  // Node 22 leaves out what comes behind the thousandth header, past every check: an Origin, a second Host, what a proxy
  // has added. A head's length is limited, so that the number of its headers needs no limit of its own: all of them count
  // together (`Connections`).
  server.maxHeadersCount = 0;
  server.on('checkContinue', (request, response) => {
    // A refused client may or may not still send its body: nothing after it on this connection is certain.
    response.shouldKeepAlive = false;
    takeApart(request);
    if (!DECIDES_FIRST.test(request.url ?? '')) response.writeContinue();
    onRequest(request, response);
  });
  // RFC 9110 §10.1.1 lets a server ignore an expectation that it does not know. Node would answer 417, past every check.
  server.on('checkExpectation', (request, response) => {
    response.shouldKeepAlive = false;
    onRequest(request, response);
  });
  server.on('connection', (socket) => connections.admit(socket));
  server.on('clientError', (error, socket) => refuseSoon(error, socket, { connections, refused: options.refused }));
  await opened(server, options);
  return {
    port: (server.address() as AddressInfo).port,
    serveAll: () => arrivals.serveAll(),
    close: async () => {
      await arrivals.serveAll();
      return closed(server);
    },
    // not the server's own `close`, which ends idle connections too: what a balancer has just sent on one would be lost
    refuseConnections: () => void NetServer.prototype.close.call(server),
    get connections() {
      return connections.size;
    },
    closeAll: async () => {
      connections.stop();
      const ends = [...connections.sockets].map((socket) => {
        noteClosed(socket, new GatewayError('draining'));
        const end = once(socket, 'close');
        socket.destroy();
        return end;
      });
      await Promise.allSettled(ends);
    },
  };
}

/** What is done with each request, from the first look at its connection to the route that answers it. */
function requestHandler(
  options: ListenerOptions,
  { connections, arrivals }: { connections: Connections; arrivals: Arrivals },
): (request: JoinedRequest, response: SafeResponse) => void {
  const { direct, guard, isDraining, refusesLate = isDraining, sockets, refused } = options;
  const check = createGuard(guard);
  const handle = lateApp(options);
  const last = new WeakSet<Socket>();
  // one function for all answers: each of its own would be kept as long as a stream is open
  const ended = function (this: SafeResponse) {
    connections.end(this.req, this.untaken ?? 0, this.caller);
  };
  const serve = (request: IncomingMessage, response: SafeResponse, hasRoom: boolean) => {
    try {
      if (!hasRoom) throw new GatewayError('sockets_full', sockets);
      if (request.httpVersion === '1.0') refuseChunks(request, response);
      const page = check(request);
      if (page !== undefined && letPageRead(page, request, response)) {
        discardRest(request);
        return;
      }
    } catch (thrown) {
      const error = asGatewayError(thrown);
      refused(error, request);
      refuse(response, error);
      discardRest(request);
      return;
    }
    const isLate = refusesLate();
    if ((!isLate || isOfSession(request)) && direct?.(request, response)) return;
    if (isLate) {
      const error = new GatewayError('draining');
      refused(error, request);
      void refuseUnread(request, response, error);
      return;
    }
    // otherwise Node would read everything that follows, without end
    response.once('finish', () => discardRest(request, response.caller));
    handle(request, response);
  };
  return (request, response) => {
    const { socket } = request;
    // Node parses the rest of a packet even after its connection was closed
    if (socket.destroyed) return;
    // behind the last request whose answer closes the connection a client sends the others again, elsewhere (RFC 9112 §9.6)
    if (last.has(socket)) return;
    if (!response.shouldKeepAlive) last.add(socket);
    if (connections.isFlooded(socket)) {
      socket.destroy();
      return;
    }
    takeApart(request);
    // it closes once: `once` would only cost an object more
    response.on('close', ended);
    const hasRoom = connections.begin(socket, request.rawHeaders.length);
    // closed just now, to make room
    if (socket.destroyed) return;
    if (!arrivals.mustWait()) {
      serve(request, response, hasRoom);
      return;
    }
    const later = () => {
      request.arrival = undefined;
      // its client may have gone meanwhile
      if (!response.destroyed) serve(request, response, hasRoom);
    };
    request.arrival = arrivals.wait(later, connections.callerOn(socket), socket);
  };
}

/**
 * Bytes that Node does not take for a request. Thousands may come at once, and Node looks for all late heads in one turn of the
 * event loop: refusing 5000 connections in it took 0.4 s.
 */
function refuseSoon(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  { connections, refused }: { connections: Connections; refused: ListenerOptions['refused'] },
): void {
  const { code = '' } = error;
  // the route logs a client that leaves in the midst of a body, or has refused the body already
  const isLeaving = code === BROKEN_OFF && socket instanceof Socket && connections.isBusy(socket);
  const refuseNow = () => refuseBytes(code, socket, { isLeaving, refused });
  const turn = breathe();
  if (turn) {
    // what it sends meanwhile would be refused as often
    socket.pause();
    void turn.then(refuseNow);
  } else refuseNow();
}

function refuseBytes(
  code: string,
  socket: Duplex,
  { isLeaving, refused }: { isLeaving: boolean; refused: ListenerOptions['refused'] },
): void {
  const remote = socket instanceof Socket ? socket : undefined;
  const refusal =
    code === LONG_HEAD
      ? new GatewayError('head_too_long', { allowed: http.maxHeaderSize })
      : new GatewayError('http_malformed', { reason: code });
  if (code === LATE_HEAD || (code.startsWith('HPE_') && !isLeaving)) {
    if (remote) noteClosed(remote, refusal);
    refused(refusal, { headers: {}, socket: { remoteAddress: remote?.remoteAddress } });
  }
  if (socket.writable && isNext(socket)) socket.write(withoutRoute(refusal));
  // half closed, it would stay open as long as its peer likes
  if (socket instanceof Socket) closeSoon(socket);
  else socket.destroy();
}

/** Resolves when the port is open. */
function opened(server: NodeServer, { host, port }: Pick<ListenerOptions, 'host' | 'port'>): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/**
 * A message for an open session: it may be the answer to what a server has asked its client, for which a call that still
 * runs waits. The route looks whether it is a new request.
 */
function isOfSession({ method, headers }: IncomingMessage): boolean {
  return method === 'POST' && headers['mcp-session-id'] !== undefined;
}

/**
 * HTTP/1.0 has no chunks. A proxy that knows only that version takes the first byte after the head for the next request
 * (RFC 9112, section 6.1).
 * @throws GatewayError `request_invalid`
 */
function refuseChunks({ headers }: IncomingMessage, response: ServerResponse): void {
  if (headers['transfer-encoding'] === undefined) return;
  response.shouldKeepAlive = false;
  throw new GatewayError('request_invalid', { reason: 'HTTP/1.0 has no Transfer-Encoding' });
}

/**
 * True when a client takes what is written now as an answer. Before the answer to a request begins that is its own: what
 * follows may be the rest of a body whose length was wrong.
 */
function isNext(socket: Duplex): boolean {
  // Node's own answer to such bytes looks at it too
  const { _httpMessage: running } = socket as Duplex & { _httpMessage?: ServerResponse | null };
  return !running?.headersSent;
}

/** The whole answer to bytes that never became a request, and so have neither route nor response. */
function withoutRoute(error: GatewayError): string {
  const body = errorAnswer(error, undefined);
  return [
    `HTTP/1.1 ${error.httpStatus} ${STATUS_CODES[error.httpStatus]}`,
    ...Object.entries(SAFE_HEADERS).map(([name, value]) => `${name}: ${value}`),
    'content-type: application/json',
    `content-length: ${body.length}`,
    'connection: close',
    `\r\n${body}`,
  ].join('\r\n');
}

function closed(server: NodeServer): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

/** The app from its first request on, which waits until it is there. */
function lateApp({
  app: load,
  refused,
}: Pick<ListenerOptions, 'app' | 'refused'>): (request: IncomingMessage, response: ServerResponse) => void {
  let app: App | undefined;
  let loading: Promise<App> | undefined;
  return (request, response) => {
    if (app) return void app(request, response);
    loading ??= load();
    loading.then(
      (loaded) => {
        app = loaded;
        app(request, response);
      },
      (error: unknown) => {
        loading = undefined;
        const known = descriptorsExhausted(error) ?? installationChanged(error) ?? asGatewayError(error);
        refused(known, request);
        refuse(response, known);
        discardRest(request);
      },
    );
  };
}
