import type { LibraryDeps } from '../files/library.js';
import { Expiry } from '../files/retention/expiry.js';
import { createFileParts } from './files.js';
import type { ProcessParts } from './process.js';
import { createQuotas } from './quotas.js';
import { flowOf, scansBy } from './screening.js';

/** What a gateway does with files, and what each caller may store. */
export type Filing = ReturnType<typeof openFiling>;

/** @param readLazy reads a file that a server has only named so far */
export function openFiling(shared: ProcessParts, readLazy: LibraryDeps['readLazy']) {
  const { config, objects, state, clock, log, metrics, limits, timeouts } = shared;
  const lastingMs = config.links.lasting ? config.retention : undefined;
  const expiry = new Expiry({ objects, state, clock, log, metrics, retentionMs: config.retention });
  const flow = flowOf(config, shared);
  const antivirus = scansBy(shared.scanner, { ...shared, queueMs: timeouts.queue });
  const { allowances, quotas, ...accounts } = createQuotas(config, shared);
  const parts = createFileParts({
    ...shared,
    ...accounts,
    short: shared.ledgers.shortFiles,
    comparisons: shared.ledgers.comparisons,
    expiry,
    antivirus,
    flow,
    readLazy,
    settings: {
      gatewayId: config.gatewayId,
      publicUrl: shared.publicBase,
      links: {
        style: config.links.style,
        ttlMs: Math.min(config.links.ttl, config.retention),
        ...(lastingMs !== undefined && { lastingMs }),
        ...(config.links.endWithProcess && { endWithProcess: true }),
      },
      retentionMs: config.retention,
      fileLimit: () => limits.file,
      uploadMs: timeouts.upload,
      queueMs: timeouts.queue,
      // without auth all callers are one
      asksCodes:
        config.elicitation.identity === 'code' ||
        (config.elicitation.identity === 'auto' && config.auth.use !== 'none'),
    },
  });
  return { ...parts, expiry, flow, antivirus, allowances, quotas };
}
