import type { AppDeps } from '../app.js';
import type { App } from '../listener.js';
import type { AdminDeps } from './admin.js';
import type { ConsoleDeps } from './console.js';

/** The public app, for a listener that loads it late. */
export function lateApp(deps: AppDeps): () => Promise<App> {
  return async () => (await import('../app.js')).createApp(deps);
}

/** The operator's app. */
export function lateAdminApp(deps: AdminDeps & Pick<AppDeps, 'refused'> & ConsoleDeps): () => Promise<App> {
  return async () => (await import('../app.js')).createAdminApp(deps);
}
