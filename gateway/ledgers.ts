import { HeldBudget, largestRequest } from './budget/held.js';
import { Ledger, type Sharing } from './budget/ledger.js';
import { PartBudget } from './budget/parts.js';
import { keyNamesOf } from './config/access.js';
import type { Config } from './config/config.js';
import { SHORT_BYTES } from './files/short-files.js';
import type { Metrics } from './ports/metrics.js';
import { LARGEST_SESSION } from './relay/session.js';

/** How this gateway's totals are shared. */
export function sharingOf({ auth, servers, limits }: Pick<Config, 'auth' | 'servers' | 'limits'>): Sharing {
  return {
    ratio: limits.share,
    // under auth none all callers are one, and so are those of a key and of the one that replaces it
    principals: auth.use !== 'none' && (auth.use !== 'apiKeys' || keyNamesOf(auth).size > 1),
    servers: servers.length > 1,
  };
}

/** Counts held messages. */
export function createHeldBudget(config: Pick<Config, 'limits' | 'servers'>, sharing: Sharing): HeldBudget {
  return new HeldBudget(new Ledger({ limit: 'limits.held', sharing, ...sizeOfHeld(config) }));
}

/** A share has room for any one message of any server. */
function sizeOfHeld({ limits, servers }: Pick<Config, 'limits' | 'servers'>) {
  const largest = servers.map((server) => Math.max(server.limits.response, largestRequest(server.limits)));
  return { total: limits.held, unit: Math.max(...largest) };
}

/** The budget of part buffers. @param partSize of the object store, bytes */
export function createPartBudget(
  { limits, timeouts }: Pick<Config, 'limits' | 'timeouts'>,
  sharing: Sharing,
  partSize: number,
): PartBudget {
  const ledger = new Ledger({ limit: 'limits.partMemory', total: limits.partMemory, sharing, unit: partSize });
  return new PartBudget(ledger, timeouts.queue);
}

/** Most bytes of a picture as people have them: a share has room for one. */
const USUAL_PICTURE = 8 * 1024 * 1024;

/** Counts bytes of files that are kept for their previews. */
export function createPreviewLedger({ limits }: Pick<Config, 'limits'>, sharing: Sharing): Ledger {
  return new Ledger({ limit: 'limits.previewMemory', total: limits.previewMemory, sharing, unit: USUAL_PICTURE });
}

/** Counts bytes of short files that are kept for the next call. A share has room for one. */
export function createShortFilesLedger({ limits }: Pick<Config, 'limits'>, sharing: Sharing): Ledger {
  return new Ledger({ limit: 'limits.shortFiles', total: limits.shortFiles, sharing, unit: 2 * SHORT_BYTES });
}

/** Counts sessions. A share has room for the largest. */
export function createSessionLedger({ limits }: Pick<Config, 'limits'>, sharing: Sharing): Ledger {
  return new Ledger({ limit: 'limits.sessions', total: limits.sessions, sharing, unit: LARGEST_SESSION });
}

/** What one honest client may use at one time: a stream, and some requests besides. */
const REQUESTS_OF_ONE = 8;

/** Counts running requests per principal. @param sockets most connections */
export function createRequestLedger(sockets: number, sharing: Sharing): Ledger {
  return new Ledger({ limit: 'limits.sockets', total: sockets, sharing, unit: REQUESTS_OF_ONE });
}

/** Counts downloads that Wharf streams itself. */
export function createDownloadLedger({ limits }: Pick<Config, 'limits'>, sharing: Sharing): Ledger {
  return new Ledger({ limit: 'limits.downloads', total: limits.downloads, sharing });
}

/** Counts calls that wait for a person. */
export function createQuestionLedger({ limits }: Pick<Config, 'limits'>, sharing: Sharing): Ledger {
  return new Ledger({ limit: 'limits.questions', total: limits.questions, sharing });
}

/** Counts files that the antivirus scans. */
export function createScanLedger(scans: number, sharing: Sharing): Ledger {
  return new Ledger({ limit: 'antivirus.scans', total: scans, sharing });
}

/** Counts what is kept about servers' tools. A share has room for the longest list. */
export function createCatalogLedger({ limits }: Pick<Config, 'limits'>, sharing: Sharing): Ledger {
  return new Ledger({ limit: 'limits.catalog', total: limits.catalog, sharing, unit: limits.response });
}

/** What counts the totals of the whole process. */
export interface Counted {
  held: HeldBudget;
  budget: PartBudget;
  /** Bytes of files kept for their previews. */
  pictures: Ledger;
  /** Bytes of short files kept for the next call. */
  short: Ledger;
  openSessions: Ledger;
  openDownloads: Ledger;
  /** Calls that wait for a person. */
  waiting: Ledger;
  catalog: Ledger;
  /** Of the object store, bytes. */
  partSize: number;
}

/** Takes over the totals of another config. The number of connections stays: it belongs to the open port. */
export function resizeTotals(counted: Counted, config: Pick<Config, 'limits' | 'servers'>): void {
  const { limits } = config;
  counted.held.resize(sizeOfHeld(config));
  counted.budget.resize({ total: limits.partMemory, unit: counted.partSize });
  counted.pictures.resize({ total: limits.previewMemory, unit: USUAL_PICTURE });
  counted.short.resize({ total: limits.shortFiles, unit: 2 * SHORT_BYTES });
  counted.openSessions.resize({ total: limits.sessions, unit: LARGEST_SESSION });
  counted.openDownloads.resize({ total: limits.downloads });
  counted.waiting.resize({ total: limits.questions });
  counted.catalog.resize({ total: limits.catalog, unit: limits.response });
}

/** Reports how much is counted, and the largest part of any one principal or server. */
export function gaugeShares(
  metrics: Metrics,
  counted: { held: HeldBudget; budget: PartBudget; requests: Ledger; openDownloads: Ledger; catalog: Ledger },
): void {
  const { held, budget, requests, openDownloads, catalog } = counted;
  metrics.gauge('wharf_held_bytes', () => held.used);
  metrics.gauge('wharf_held_bytes_of_one_principal', () => held.largest('principal'));
  metrics.gauge('wharf_held_bytes_of_one_server', () => held.largest('server'));
  metrics.gauge('wharf_part_memory_bytes', () => budget.used);
  metrics.gauge('wharf_part_memory_bytes_of_one_principal', () => budget.largest('principal'));
  metrics.gauge('wharf_part_memory_bytes_of_one_server', () => budget.largest('server'));
  metrics.gauge('wharf_requests_of_one_principal', () => requests.largest('principal'));
  metrics.gauge('wharf_downloads', () => openDownloads.used);
  metrics.gauge('wharf_catalog_bytes', () => catalog.used);
}
