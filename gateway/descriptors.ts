import type { Config } from './config/config.js';
import { TOLD } from './http/connections.js';
import type { Log } from './ports/log.js';

/** File descriptors that Wharf needs besides those counted here: its ports, stores, log, the pipes of previews. */
const RESERVED = 64 + TOLD;

/** A client's connection may need a second one, to the server or to the store. */
const PER_CLIENT = 2;

/** The pipes of a stdio server's process. */
const PER_PROCESS = 3;

/** The smallest useful number, whatever the system's limit. */
const LEAST = 16;

/** What the system's limit of open files leaves room for. */
interface Fitting {
  /** The system's limit; Infinity if unknown. */
  openFiles: number;
  /** Most client connections: `limits.sockets`, or fewer. */
  sockets: number;
  /** Most processes of each stdio server; Infinity if unknown. `limits.processes` may be less. */
  processes: number;
}

type Sized = Pick<Config, 'limits'> & {
  servers: readonly { transport: string | undefined; limits: { processes: number } }[];
};

/**
 * Shares the system's open files out. Otherwise clients, or the processes of idle sessions, could take the last
 * descriptor: every new client, and every connection to a server or a store, would fail until they go.
 */
export function fitting({ limits, servers }: Sized, openFiles = allowedOpenFiles()): Fitting {
  const free = Math.max(0, openFiles - RESERVED);
  const stdio = servers.filter(({ transport }) => transport === 'stdio');
  const processes = Math.max(1, Math.floor(free / 2 / PER_PROCESS / Math.max(1, stdio.length)));
  const running = stdio.reduce((sum, one) => sum + Math.min(one.limits.processes, processes), 0);
  const left = Math.floor((free - running * PER_PROCESS) / PER_CLIENT);
  return { openFiles, sockets: Math.min(limits.sockets, Math.max(LEAST, left)), processes };
}

/** Part of a limit below which the log says what holds instead. `wharf doctor` always does. */
const WORTH_TELLING = 0.5;

/** Tells the operator what the system leaves far too little room for. */
export function logFitting(log: Log, { openFiles, sockets, processes }: Fitting, { limits, servers }: Sized): void {
  const most = servers.reduce(
    (most, one) => (one.transport === 'stdio' ? Math.max(most, one.limits.processes) : most),
    0,
  );
  const facts = {
    ...(sockets < limits.sockets * WORTH_TELLING && { sockets, 'limits.sockets': limits.sockets }),
    ...(processes < most * WORTH_TELLING && { processes, 'limits.processes': most }),
  };
  if (Object.keys(facts).length === 0) return;
  const text =
    'The system allows too few open files for these limits, so that lower ones hold. Raise ulimit -n (LimitNOFILE in systemd).';
  log.info({ openFiles, ...facts }, text);
}

/** This process's `ulimit -n`, which stays as it is; Infinity if unknown. */
function allowedOpenFiles(): number {
  known ??= readOpenFiles();
  return known;
}

let known: number | undefined;

function readOpenFiles(): number {
  const report = process.report as (typeof process.report & { excludeNetwork?: boolean }) | undefined;
  if (!report) return Number.POSITIVE_INFINITY;
  // otherwise it would resolve the name of every peer
  report.excludeNetwork = true;
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY;
}
