import { Hono } from 'hono';

export interface AdminDeps {
  /** Every part that must answer for Wharf to be of use, by name. */
  checks: ReadonlyMap<string, () => Promise<void>>;
  isDraining: () => boolean;
  metrics: { text: () => Promise<string>; contentType: string };
}

/** A part that has not answered by then counts as down. */
const CHECK_TIMEOUT_MS = 2000;

/** Liveness, readiness and metrics, on a port of their own that is never public by default. */
export function admin(deps: AdminDeps): Hono {
  const app = new Hono();
  app.get('/healthz', (c) => c.json({ status: 'ok' }));
  app.get('/readyz', async (c) => {
    const entries = await Promise.all(
      [...deps.checks].map(async ([name, check]) => [name, await outcome(check)] as const),
    );
    const parts = Object.fromEntries(entries);
    const isReady = !deps.isDraining() && entries.every(([, state]) => state === 'ok');
    const status = isReady ? 'ready' : deps.isDraining() ? 'draining' : 'unavailable';
    return c.json({ status, parts }, isReady ? 200 : 503);
  });
  app.get('/metrics', async (c) =>
    c.body(await deps.metrics.text(), 200, { 'content-type': deps.metrics.contentType }),
  );
  return app;
}

/** `ok` or the public text of what is wrong: addresses and credentials are for the log. */
async function outcome(check: () => Promise<void>): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  try {
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${CHECK_TIMEOUT_MS} ms`)), CHECK_TIMEOUT_MS);
    });
    await Promise.race([check(), late]);
    return 'ok';
  } catch (error) {
    return error instanceof Error ? error.message : 'failed';
  } finally {
    clearTimeout(timer);
  }
}
