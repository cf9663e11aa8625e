import { Hono } from 'hono';
import { GatewayError } from '../../errors.js';
import type { FileControl } from '../../files/control/control.js';
import type { Readiness } from '../console/facts.js';
import { type PartsBeside, stateNow, UNTRIED, WELL } from '../part-state.js';

export interface AdminDeps {
  /** What operators do with stored files; absent where they are not managed. */
  control?: FileControl;
  /** Every part that this process cannot work without, by name. */
  checks: ReadonlyMap<string, () => Promise<void>>;
  /** Whether there is room in a part, by the names of `checks`: without room it is reported, and the process stays ready. */
  rooms: ReadonlyMap<string, () => Promise<void>>;
  /** Parts whose state is reported as well. */
  beside: PartsBeside;
  isDraining: () => boolean;
  /** Takes each error that is a fault of Wharf. */
  fault: (error: GatewayError) => void;
  metrics: { text: () => Promise<string>; contentType: string };
}

const ALLOW = 'GET, HEAD';

/** How long readiness waits for parts it does not depend on: a probe gives up after a second. */
const PATIENCE_MS = 200;

/** Liveness, readiness and metrics, on a separate port that is not public by default. */
export function admin({
  readiness,
  metrics,
}: Pick<AdminDeps, 'metrics'> & { readiness: () => Promise<Readiness> }): Hono {
  const app = new Hono();
  app.get('/healthz', (c) => c.json({ status: 'ok' }));
  app.get('/readyz', async (c) => {
    const found = await readiness();
    // probes compare a state with `ok`, and a program that no session has needed yet lacks nothing
    const states = Object.entries(found.servers).map(([name, state]) => [name, state === UNTRIED ? WELL : state]);
    return c.json({ ...found, servers: Object.fromEntries(states) }, found.status === 'ready' ? 200 : 503);
  });
  app.get('/metrics', async (c) => c.body(await metrics.text(), 200, { 'content-type': metrics.contentType }));
  for (const { path } of [...app.routes]) {
    app.all(path, ({ req }) => {
      throw new GatewayError('method_not_allowed', { method: req.method, allow: ALLOW });
    });
  }
  return app;
}

/** The state of all parts. Ready is a process whose own parts are well; servers, previews and issuers are reported beside them. */
export async function readinessOf({ checks, rooms, beside, isDraining }: AdminDeps): Promise<Readiness> {
  const [works, room, servers, issuers, previews] = await Promise.all([
    named(checks, stateNow),
    named(rooms, stateNow),
    named(beside.servers, (server) => server.look(PATIENCE_MS)),
    named(beside.issuers, (issuer) => issuer.look(PATIENCE_MS)),
    beside.previews.look(PATIENCE_MS),
  ]);
  const isReady = !isDraining() && Object.values(works).every((state) => state === WELL);
  const parts = Object.fromEntries(
    Object.entries(works).map(([name, state]) => [name, state === WELL ? (room[name] ?? WELL) : state]),
  );
  const status = isReady ? 'ready' : isDraining() ? 'draining' : 'unavailable';
  return { status, parts, previews, servers, ...(beside.issuers.size > 0 && { issuers }) };
}

async function named<Part>(
  parts: ReadonlyMap<string, Part>,
  stateOf: (part: Part) => Promise<string>,
): Promise<Record<string, string>> {
  return Object.fromEntries(
    await Promise.all([...parts].map(async ([name, part]) => [name, await stateOf(part)] as const)),
  );
}
