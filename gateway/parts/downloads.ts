import type { Ledger } from '../budget/ledger.js';
import type { AppDeps } from '../http/app.js';
import type { ObjectStore } from '../ports/object-store.js';
import type { Filing } from './filing.js';
import type { ProcessParts } from './process.js';

type ServingDeps = Pick<AppDeps['downloads'], 'audit' | 'clock' | 'log' | 'fewLines' | 'metrics'> & {
  objects: Pick<ObjectStore, 'presign'>;
  timeouts: Pick<ProcessParts['timeouts'], 'idle'>;
};

/** How a link leads to its file. @param openDownloads counts the downloads that Wharf streams itself */
export function downloadParts(
  { objects, timeouts, audit, clock, log, fewLines, metrics }: ServingDeps,
  { tickets, library, uses }: Pick<Filing, 'tickets' | 'library' | 'uses'>,
  { openDownloads, refused, open }: { openDownloads: Ledger; open: { count: number } } & Pick<AppDeps, 'refused'>,
): AppDeps['downloads'] {
  return {
    resolveTicket: async (ticket) => {
      const redeemed = await tickets.redeemDownload(ticket);
      if (redeemed.kind !== 'ok') return redeemed;
      const record = await library.record(redeemed.fileId);
      if (!record || record.revokedAt !== undefined) return { kind: 'gone', record };
      // players and download managers ask for a file part by part
      await uses.use(record.id);
      return { kind: 'ok', record: { ...record, ...redeemed.as }, expiresAt: redeemed.expiresAt };
    },
    stored: library.stored,
    presign: objects.presign?.bind(objects),
    openDownloads,
    redirect: objects.presign !== undefined,
    idleMs: timeouts.idle,
    ...{ audit, clock, log, fewLines, metrics, refused, open },
  };
}
