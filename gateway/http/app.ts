import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { asGatewayError, type GatewayError } from '../errors.js';
import type { LoginDocuments } from '../identity/resource.js';
import { errorAnswer } from '../mcp/error-response.js';
import { CLIENT_GONE } from './client-gone.js';
import type { App } from './listener.js';
import { type AdminDeps, admin, readinessOf } from './routes/admin.js';
import { adminFiles } from './routes/admin-files.js';
import { assets } from './routes/assets.js';
import { type ConnectDeps, connect } from './routes/connect.js';
import { type ConsoleDeps, consoleRoutes } from './routes/console.js';
import { type DownloadDeps, downloads } from './routes/downloads.js';
import { type LoginDeps, logins } from './routes/logins.js';
import { nowhere, type Refused } from './routes/nowhere.js';
import { resourceMetadata } from './routes/resource-metadata.js';
import { type UploadDeps, uploads } from './routes/uploads.js';
import { type WayCheckDeps, wayCheck } from './routes/way-check.js';

export interface AppDeps {
  downloads: DownloadDeps;
  uploads: UploadDeps;
  /** Absent when no MCP client can reach the port. */
  connect?: ConnectDeps;
  /** People's own logins at servers. A reload may bring the first server that asks for them. */
  logins: Omit<LoginDeps, 'refused'>;
  /** Where clients log in; absent where they do not. */
  resources?: LoginDocuments | undefined;
  refused: Refused;
  /** Takes each error that is a fault of Wharf. */
  fault: (error: GatewayError) => void;
  wayCheck: WayCheckDeps;
}

/** The public app, except for the MCP endpoints, which are a `DirectRoute`. No socket, no environment, no clock. */
export function createApp(deps: AppDeps): App {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.route('/', downloads(deps.downloads));
  app.route('/', uploads(deps.uploads));
  app.route('/', assets());
  app.route('/', wayCheck(deps.wayCheck));
  app.route('/', logins({ ...deps.logins, refused: deps.refused }));
  if (deps.resources) app.route('/', resourceMetadata(deps.resources));
  const { connect: front, refused } = deps;
  if (front) app.route('/', connect(front));
  app.notFound(nowhere(refused, front && (() => `${front.baseUrl()}/`)));
  app.onError(answerTo(deps.fault));
  return listenerOf(app);
}

/** The operator's app. */
export function createAdminApp({
  refused,
  logins,
  sources,
  trying,
  control,
  ...deps
}: AdminDeps & Pick<AppDeps, 'refused'> & ConsoleDeps): App {
  const app = new Hono<{ Bindings: HttpBindings }>();
  const readiness = () => readinessOf(deps);
  app.route('/', admin({ ...deps, readiness }));
  if (control) app.route('/', adminFiles(control, deps.fault));
  app.route('/', consoleRoutes({ logins, trying, sources: { ...sources, readiness } }));
  app.notFound(nowhere(refused));
  app.onError(answerTo(deps.fault));
  return listenerOf(app);
}

/** Answers what a route has thrown. Otherwise hono would write the error to the log as it is, with all that it quotes. */
function answerTo(fault: (error: GatewayError) => void): (thrown: unknown) => Response {
  return (thrown) => {
    const error = asGatewayError(thrown);
    if (error.code === 'internal' && error !== CLIENT_GONE) fault(error);
    const allow = error.code === 'method_not_allowed' && { allow: String(error.facts.allow) };
    const headers = { 'content-type': 'application/json', ...allow };
    return new Response(errorAnswer(error, undefined), { status: error.httpStatus, headers });
  };
}

/** The app as a listener of node's server. */
export function listenerOf(app: Hono<{ Bindings: HttpBindings }>): App {
  return getRequestListener(app.fetch, { overrideGlobalObjects: false, autoCleanupIncoming: false });
}
