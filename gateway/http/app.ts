import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { GatewayError } from '../errors.js';
import { FILE_HEADERS } from '../files/file-headers.js';
import { errorAnswer } from '../relay/error-answer.js';
import { type AdminDeps, admin } from './routes/admin.js';
import { type DownloadDeps, downloads } from './routes/downloads.js';
import { type UploadDeps, uploads } from './routes/uploads.js';

export interface AppDeps {
  downloads: DownloadDeps;
  uploads: UploadDeps;
}

/** The public face but for the MCP endpoints, which are a `DirectRoute`. No socket, no environment, no clock. */
export function createApp(deps: AppDeps): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.route('/', downloads(deps.downloads));
  app.route('/', uploads(deps.uploads));
  app.notFound(notFound);
  return app;
}

/** The operator's face. */
export function createAdminApp(deps: AdminDeps): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.route('/', admin(deps));
  app.notFound(notFound);
  return app;
}

function notFound(): Response {
  const body = errorAnswer(new GatewayError('route_unknown'), undefined);
  return new Response(body, { status: 404, headers: { ...FILE_HEADERS, 'content-type': 'application/json' } });
}
