import { largestRequest } from './budget/held.js';
import { Ledger } from './budget/ledger.js';
import { keyNamesOf } from './config/access.js';
import type { Config } from './config/config.js';
import { SHORT_BYTES } from './files/stored/short-files.js';
import type { Limits } from './policy/limits.js';
import type { Metrics } from './ports/metrics.js';
import type { Sharing } from './ports/owner.js';
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

/** Most bytes of a picture as people have them. */
const USUAL_PICTURE = 8 * 1024 * 1024;

/** What totals are computed from. */
interface Sized extends Pick<Config, 'limits' | 'servers'> {
  /** Of the object store, bytes. */
  partSize: number;
}

/**
 * The totals of the whole process that a reload may change, each under the name of its limit: how much a single honest use
 * may need, for which every share has room.
 */
const UNITS = {
  held: largestMessage,
  partMemory: ({ partSize }) => partSize,
  previewMemory: () => USUAL_PICTURE,
  shortFiles: () => 2 * SHORT_BYTES,
  sessions: () => LARGEST_SESSION,
  downloads: () => 1,
  comparisons: () => 1,
  questions: () => 1,
  // the longest list of a server
  catalog: ({ limits }) => limits.response,
} satisfies Partial<Record<keyof Limits, (sized: Sized) => number>>;

type Total = keyof typeof UNITS;

/** What counts the totals of the whole process, by the names of their limits. */
export type Ledgers = Readonly<Record<Total, Ledger>>;

const TOTALS = Object.keys(UNITS) as Total[];

/** One ledger for each total of the process, of the size that the config says. */
export function createLedgers(sized: Sized, sharing: Sharing): Ledgers {
  const created = TOTALS.map((name) => {
    const ledger = new Ledger({
      limit: `limits.${name}`,
      sharing,
      total: sized.limits[name],
      unit: UNITS[name](sized),
    });
    return [name, ledger] as const;
  });
  return Object.fromEntries(created) as Ledgers;
}

/** Takes over the totals of another config. The number of connections stays: it belongs to the open port. */
export function resizeLedgers(ledgers: Ledgers, sized: Sized): void {
  for (const name of TOTALS) ledgers[name].resize({ total: sized.limits[name], unit: UNITS[name](sized) });
}

function largestMessage({ servers }: Sized): number {
  return Math.max(...servers.map(({ limits }) => Math.max(limits.response, largestRequest(limits))));
}

/** Of brotli (RFC 7932 §9.1). */
const LARGEST_WINDOW = 16 * 1024 * 1024;

/**
 * Counts what decoders keep of servers' answers. Beside `held`, though as large: a stream that is open for hours would leave
 * messages no room there.
 */
export function createWindowLedger({ held }: Pick<Limits, 'held'>, sharing: Sharing): Ledger {
  return new Ledger({ limit: 'limits.held', total: held, sharing, unit: LARGEST_WINDOW });
}

/** Takes over the total of another config. */
export function resizeWindowLedger(ledger: Ledger, { held }: Pick<Limits, 'held'>): void {
  ledger.resize({ total: held, unit: LARGEST_WINDOW });
}

/** What one honest client may use at one time: a stream, and some requests besides. */
const REQUESTS_OF_ONE = 8;

/** Counts running requests per principal. @param sockets most connections */
export function createRequestLedger(sockets: number, sharing: Sharing): Ledger {
  return new Ledger({ limit: 'limits.sockets', total: sockets, sharing, unit: REQUESTS_OF_ONE });
}

/** Counts files that the antivirus scans. */
export function createScanLedger(scans: number, sharing: Sharing): Ledger {
  return new Ledger({ limit: 'antivirus.scans', total: scans, sharing });
}

/** Reports how much is counted, and the largest part of any one principal or server. */
export function gaugeShares(
  metrics: Metrics,
  {
    ledgers: { held, partMemory, downloads, catalog },
    requests,
  }: { ledgers: Pick<Ledgers, 'held' | 'partMemory' | 'downloads' | 'catalog'>; requests: Ledger },
): void {
  metrics.gauge('wharf_held_bytes', () => held.used);
  metrics.gauge('wharf_held_bytes_of_one_principal', () => held.largest('principal'));
  metrics.gauge('wharf_held_bytes_of_one_server', () => held.largest('server'));
  metrics.gauge('wharf_part_memory_bytes', () => partMemory.used);
  metrics.gauge('wharf_part_memory_bytes_of_one_principal', () => partMemory.largest('principal'));
  metrics.gauge('wharf_part_memory_bytes_of_one_server', () => partMemory.largest('server'));
  metrics.gauge('wharf_requests_of_one_principal', () => requests.largest('principal'));
  metrics.gauge('wharf_downloads', () => downloads.used);
  metrics.gauge('wharf_catalog_bytes', () => catalog.used);
}
