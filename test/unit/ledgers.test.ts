import { describe, expect, it } from '@jest/globals';
import { UNSHARED } from '../../gateway/budget/ledger.js';
import {
  createCatalogLedger,
  createDownloadLedger,
  createHeldBudget,
  createPartBudget,
  createPreviewLedger,
  createQuestionLedger,
  createSessionLedger,
  createShortFilesLedger,
  resizeTotals,
} from '../../gateway/ledgers.js';
import { DEFAULT_LIMITS, DEFAULT_TIMEOUTS } from '../../gateway/policy/limits.js';

const MIB = 1024 * 1024;

describe('the totals of a config that was read again', () => {
  it('are taken over by each ledger of the process that counts bytes of files', () => {
    const config = { limits: DEFAULT_LIMITS, servers: [], timeouts: DEFAULT_TIMEOUTS };
    const counted = {
      held: createHeldBudget(config, UNSHARED),
      budget: createPartBudget(config, UNSHARED, 8 * MIB),
      pictures: createPreviewLedger(config, UNSHARED),
      short: createShortFilesLedger(config, UNSHARED),
      openSessions: createSessionLedger(config, UNSHARED),
      openDownloads: createDownloadLedger(config, UNSHARED),
      waiting: createQuestionLedger(config, UNSHARED),
      catalog: createCatalogLedger(config, UNSHARED),
      partSize: 8 * MIB,
    };
    const limits = { ...DEFAULT_LIMITS, previewMemory: 16 * MIB, shortFiles: MIB, sessions: 7, downloads: 5 };
    resizeTotals(counted, { ...config, limits });
    const { pictures, short, openSessions, openDownloads } = counted;
    expect([pictures.total, short.total, openSessions.total, openDownloads.total]).toEqual([16 * MIB, MIB, 7, 5]);
  });
});
