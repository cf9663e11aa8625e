import { createServer, type IncomingMessage, type Server as NodeServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import type { Hono } from 'hono';
import { asGatewayError, GatewayError } from '../errors.js';
import { refuse } from './error-response.js';
import { createGuard, type GuardSettings } from './guard.js';

/** Time for a request's head. Bodies have `timeouts.idle`: Node's own requestTimeout would end honest long uploads. */
const HEAD_TIMEOUT_MS = 15_000;

/** Longer than the keep-alive of common load balancers (60 s), so that it is they who close an idle connection. */
const KEEP_ALIVE_MS = 65_000;

/** Routes that answer `Expect: 100-continue` themselves, once they know that they want the body. */
const DECIDES_FIRST = /^\/u\//;

/** Takes a request before the app sees it; false when it is for the app. */
export type DirectRoute = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface ListenerOptions {
  host: string;
  port: number;
  app: Hono<{ Bindings: HttpBindings }>;
  direct?: DirectRoute;
  guard: GuardSettings;
  isDraining: () => boolean;
}

export interface Listener {
  /** The port bound, where the config said 0. */
  port: number;
  /** Takes no new connection; resolves when the last one is closed. */
  close(): Promise<void>;
  closeIdle(): void;
  closeAll(): void;
}

/** Opens a port for an app. @throws the system's error, such as EADDRINUSE */
export async function listen({ host, port, app, direct, guard, isDraining }: ListenerOptions): Promise<Listener> {
  const check = createGuard(guard);
  const handle = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    try {
      check(request);
      if (isDraining()) throw new GatewayError('draining');
    } catch (error) {
      request.resume();
      refuse(response, asGatewayError(error));
      return;
    }
    if (!direct?.(request, response)) void handle(request, response);
  };
  const server = createServer(
    { requestTimeout: 0, headersTimeout: HEAD_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS },
    onRequest,
  );
  server.on('checkContinue', (request, response) => {
    // A client that is refused may send its body all the same, or none: nothing after it on this connection is certain.
    response.shouldKeepAlive = false;
    if (!DECIDES_FIRST.test(request.url ?? '')) response.writeContinue();
    onRequest(request, response);
  });
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () => closed(server),
    closeIdle: () => server.closeIdleConnections(),
    closeAll: () => server.closeAllConnections(),
  };
}

function closed(server: NodeServer): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
