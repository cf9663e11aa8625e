import type { Ledger } from '../budget/ledger.js';
import type { AppDeps } from '../http/app.js';
import type { Filing } from './filing.js';
import type { ProcessParts } from './process.js';

/** How a link leads to its file. @param streams counts the downloads that Wharf streams itself */
export function downloadParts(
  { objects, timeouts, audit, clock, log, metrics }: ProcessParts,
  { tickets, library }: Filing,
  { streams, refused, open }: { streams: Ledger; open: { count: number } } & Pick<AppDeps, 'refused'>,
): AppDeps['downloads'] {
  return {
    resolveTicket: async (ticket) => {
      const redeemed = await tickets.redeemDownload(ticket);
      if (redeemed.kind !== 'ok') return redeemed;
      const record = await library.find(redeemed.fileId);
      if (!record) return { kind: 'gone' };
      await library.touch(record.id);
      return { kind: 'ok', record: { ...record, ...redeemed.as }, expiresAt: redeemed.expiresAt };
    },
    objects,
    streams,
    redirect: objects.presign !== undefined,
    idleMs: timeouts.idle,
    ...{ audit, clock, log, metrics, refused, open },
  };
}
