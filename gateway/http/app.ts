import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { GatewayError } from '../errors.js';
import { errorAnswer } from '../mcp/error-response.js';
import { type AdminDeps, admin } from './routes/admin.js';
import { assets } from './routes/assets.js';
import { type ConnectDeps, connect } from './routes/connect.js';
import { type DownloadDeps, downloads } from './routes/downloads.js';
import { type UploadDeps, uploads } from './routes/uploads.js';

/** Called for a request to an unknown path. */
type Refused = (error: GatewayError, request: IncomingMessage) => void;

export interface AppDeps {
  downloads: DownloadDeps;
  uploads: UploadDeps;
  /** Absent when no MCP client can reach the port. */
  connect?: ConnectDeps;
  refused: Refused;
}

/** The public app, except for the MCP endpoints, which are a `DirectRoute`. No socket, no environment, no clock. */
export function createApp(deps: AppDeps): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.route('/', downloads(deps.downloads));
  app.route('/', uploads(deps.uploads));
  app.route('/', assets());
  if (deps.connect) app.route('/', connect(deps.connect));
  app.notFound(notFound(deps.refused));
  return app;
}

/** The operator's app. */
export function createAdminApp({
  refused,
  ...deps
}: AdminDeps & Pick<AppDeps, 'refused'>): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.route('/', admin(deps));
  app.notFound(notFound(refused));
  return app;
}

function notFound(refused: Refused) {
  return ({ env }: Context<{ Bindings: HttpBindings }>): Response => {
    const error = new GatewayError('route_unknown');
    refused(error, env.incoming as IncomingMessage);
    const body = errorAnswer(error, undefined);
    return new Response(body, { status: error.httpStatus, headers: { 'content-type': 'application/json' } });
  };
}
