import { TOLD } from './http/connections.js';
import type { Log } from './ports/log.js';

/** File descriptors that Wharf needs besides those for clients: its ports, stores, log, child processes' pipes. */
const RESERVED = 64 + TOLD;

/** A client's connection may need a second one, to the server or to the store. */
const PER_CLIENT = 2;

/** The smallest useful number, whatever the system's limit. */
const LEAST = 16;

/**
 * Most client connections: `limits.sockets`, or what the system's limit of open files allows. Otherwise clients alone
 * could take the last descriptor, and every connection to a server or a store would fail.
 */
export function socketsFor(wanted: number, log: Log): { limit: string; allowed: number } {
  const open = openFiles();
  const fitting = Math.max(LEAST, Math.floor((open - RESERVED) / PER_CLIENT));
  if (fitting >= wanted) return { limit: 'limits.sockets', allowed: wanted };
  const text =
    'Fewer client connections are taken than limits.sockets: the system allows too few open files (ulimit -n).';
  log.info({ openFiles: open, sockets: fitting, 'limits.sockets': wanted }, text);
  return { limit: 'limits.sockets', allowed: fitting };
}

/** This process's `ulimit -n`; Infinity if unknown. */
function openFiles(): number {
  const report = process.report as (typeof process.report & { excludeNetwork?: boolean }) | undefined;
  if (!report) return Number.POSITIVE_INFINITY;
  // otherwise it would resolve the name of every peer
  report.excludeNetwork = true;
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY;
}
