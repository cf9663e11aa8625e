import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { create as noAudit } from '../../adapters/audit/none.js';
import { Ledger, UNSHARED } from '../../gateway/budget/ledger.js';
import { FewLines } from '../../gateway/few-lines.js';
import type { UploadIntent } from '../../gateway/files/tickets/upload-intent.js';
import { listenerOf } from '../../gateway/http/app.js';
import { Lately } from '../../gateway/http/console/lately.js';
import { listen } from '../../gateway/http/listener.js';
import { createMetrics } from '../../gateway/http/metrics.js';
import { assets } from '../../gateway/http/routes/assets.js';
import { uploads } from '../../gateway/http/routes/uploads.js';
import { ANONYMOUS } from '../../gateway/identity/identities.js';
import { DEFAULT_LIMITS, DEFAULT_TIMEOUTS } from '../../gateway/policy/limits.js';
import type { RequestQuotas } from '../../gateway/quotas/requests.js';
import { type FilePartsOptions, openFileParts, PRINCIPAL } from './file-parts.js';
import { silentLog } from './silent-log.js';

export type UploadServer = Awaited<ReturnType<typeof startUploadServer>>;

/** The upload route alone, on a port, behind the real listener and over real stores. */
export async function startUploadServer(options: Omit<FilePartsOptions, 'publicUrl'> & { idleMs?: number }) {
  let url = '';
  const parts = await openFileParts({ ...options, publicUrl: () => url });
  const open = { count: 0 };
  const metrics = createMetrics();
  const app = new Hono<{ Bindings: HttpBindings }>();
  const { uploads: service, uploadLinks, resumable, several, library, held } = parts;
  const requests = new Ledger({ limit: 'limits.sockets', total: 1000, sharing: UNSHARED });
  const timeouts = { ...DEFAULT_TIMEOUTS, idle: options.idleMs ?? 5000 };
  const log = options.log ?? silentLog;
  const clock = { now: () => Date.now() };
  const lately = new Lately(clock);
  app.route(
    '/',
    uploads({
      authenticate: () => ANONYMOUS,
      uploads: service,
      uploadLinks,
      isSecure: () => false,
      withdraw: (record) => library.withdraw(record),
      audit: noAudit({}),
      resumable,
      several,
      library,
      held,
      requests,
      quotas: { isOn: false } as RequestQuotas,
      limits: DEFAULT_LIMITS,
      timeouts,
      open,
      clock,
      log,
      fewLines: new FewLines({ ticks: () => Date.now() }),
      metrics,
      lately,
      refused: () => {},
    }),
  );
  app.route('/', assets());
  const guard = {
    allowedHosts: [],
    allowedOrigins: [],
    trustsLoopbackPages: true,
    isReadByPages: false,
    answersToAddresses: false,
  };
  const face = await listen({
    host: '127.0.0.1',
    port: 0,
    app: async () => listenerOf(app),
    guard,
    isDraining: () => false,
    sockets: { limit: 'limits.sockets', allowed: 1000 },
    limits: { held: 256 * 1024 * 1024 },
    idleMs: options.idleMs ?? 5000,
    refused: () => {},
  });
  url = `http://127.0.0.1:${face.port}`;
  return {
    ...parts,
    url,
    port: face.port,
    open,
    lately,
    authorize: (intent: Partial<UploadIntent> = {}) => uploadLinks.authorize({ principal: PRINCIPAL, ...intent }),
    outcomes: async () =>
      Object.fromEntries(
        [...(await metrics.text()).matchAll(/wharf_uploads_total\{outcome="(\w+)"\} (\d+)/g)].map(([, name, count]) => [
          name,
          Number(count),
        ]),
      ),
    stop: async () => {
      void face.close();
      await face.closeAll();
      await parts.close();
    },
  };
}
