import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono } from 'hono';
import { asGatewayError, GatewayError } from '../../errors.js';
import type { HeldBudget } from '../../files/budget.js';
import type { Timeouts } from '../../policy/limits.js';
import type { Log } from '../../ports/log.js';
import type { Metrics } from '../../ports/metrics.js';
import type { Exchange } from '../../relay/exchange.js';
import type { Server } from '../../relay/server.js';
import { logExchange } from '../access-log.js';
import { readBody } from '../body.js';
import { refuse } from '../error-response.js';

export interface McpDeps {
  servers: ReadonlyMap<string, Server>;
  /** Tells the principal of a request, or throws. */
  authenticate: (headers: IncomingHttpHeaders) => string;
  held: HeldBudget;
  timeouts: Timeouts;
  log: Log;
  metrics: Metrics;
  open: OpenExchanges;
}

/** What is under way. The drain waits for it, but for GET streams, which would never end by themselves. */
export interface OpenExchanges {
  count: number;
  readonly getStreams: Set<{ end(): void }>;
}

const CLIENT_GONE = new GatewayError('internal', {}, 'the client has gone');

const ALLOW = 'POST, GET, DELETE';

/** `POST/GET/DELETE /{server}/mcp`, and `/mcp` when there is exactly one server. */
export function mcp(deps: McpDeps): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  const [only, ...others] = deps.servers.values();
  if (only && others.length === 0) app.all('/mcp', (c) => handle(deps, only, c.env));
  app.all('/:server/mcp', (c) => {
    const name = c.req.param('server');
    const server = deps.servers.get(name);
    if (server) return handle(deps, server, c.env);
    refuse(c.env.outgoing as ServerResponse, new GatewayError('server_unknown', { server: name }));
    return RESPONSE_ALREADY_SENT;
  });
  return app;
}

async function handle(deps: McpDeps, server: Server, env: HttpBindings): Promise<Response> {
  const { incoming } = env;
  const outgoing = env.outgoing as ServerResponse;
  const startedAt = performance.now();
  const gone = new AbortController();
  const exchange: Exchange = {
    headers: incoming.headers,
    body: Buffer.alloc(0),
    response: outgoing,
    principal: '',
    signal: gone.signal,
    facts: {
      requestId: undefined,
      method: undefined,
      name: undefined,
      version: undefined,
      files: 0,
      fileBytes: 0,
      bytesOut: 0,
      error: undefined,
    },
  };
  outgoing.once('close', () => gone.abort(CLIENT_GONE));
  deps.open.count += 1;
  if (incoming.method === 'GET') deps.open.getStreams.add(outgoing);
  try {
    exchange.principal = deps.authenticate(incoming.headers);
    await dispatch(deps, server, exchange, incoming);
  } catch (thrown) {
    const error = asGatewayError(thrown);
    exchange.facts.error = error.code;
    if (!gone.signal.aborted) {
      if (error.code === 'internal') deps.log.error({ err: error.cause }, 'an exchange failed');
      else if (error.cause) deps.log.warn({ code: error.code, err: error.cause }, 'an exchange failed');
      deps.metrics.count('wharf_errors_total', { code: error.code });
    }
    refuse(outgoing, error, exchange.facts.requestId);
  } finally {
    deps.held.add(-exchange.body.length);
    deps.open.count -= 1;
    deps.open.getStreams.delete(outgoing);
    logExchange(deps, server.name, incoming.method ?? '', outgoing.statusCode, exchange, startedAt);
  }
  return RESPONSE_ALREADY_SENT;
}

async function dispatch(
  deps: McpDeps,
  server: Server,
  exchange: Exchange,
  incoming: HttpBindings['incoming'],
): Promise<void> {
  switch (incoming.method) {
    case 'POST':
      exchange.body = await readBody(incoming as IncomingMessage, {
        limits: server.limits,
        idleMs: deps.timeouts.idle,
        held: deps.held,
      });
      return server.post(exchange);
    case 'GET':
      return server.get(exchange);
    case 'DELETE':
      return server.remove(exchange);
    default:
      throw new GatewayError('method_not_allowed', { method: incoming.method ?? '', allow: ALLOW });
  }
}
