import type { z } from 'zod';
import type { Ledger } from '../budget/ledger.js';
import type { Limits, Timeouts } from '../policy/limits.js';
import type { Antivirus } from '../ports/antivirus.js';
import type { Audit } from '../ports/audit.js';
import type { Clock, Stopwatch } from '../ports/clock.js';
import type { Dialect } from '../ports/dialect.js';
import type { HostProfile } from '../ports/host.js';
import type { Log } from '../ports/log.js';
import type { OAuth } from '../ports/oauth.js';
import type { ObjectStore } from '../ports/object-store.js';
import type { Sharing } from '../ports/owner.js';
import type { Previewer } from '../ports/previewer.js';
import type { StateStore } from '../ports/state-store.js';
import type { Telemetry } from '../ports/telemetry.js';
import type { Transfer } from '../ports/transfer.js';
import type { Upstream } from '../ports/upstream.js';
import type { Settings } from './config.js';
import type { TransportName } from './transports.js';

/** What every adapter gets. Each takes the members it names and ignores the rest. */
export interface AdapterDeps {
  limits: Readonly<Limits>;
  timeouts: Readonly<Timeouts>;
  /** How totals are shared among principals and servers. */
  sharing: Sharing;
  log: Log;
  clock: Clock & Stopwatch;
  /** What a child process inherits; adapters never read the environment themselves. */
  inheritedEnv: Readonly<Record<string, string>>;
  /** Names of the variables that no child process inherits, to say of one that it is missed. */
  withheldEnv?: readonly string[] | undefined;
}

export interface UpstreamAdapterDeps extends AdapterDeps {
  /** The server's name in the config, for errors and logs. */
  name: string;
  /** Processes of each stdio server for which the system allows enough open files now. */
  processesThatFit?: (() => number) | undefined;
  /** Counts what the decoders of servers' answers keep, in the whole process; absent where a command asks a server once. */
  windows?: Ledger | undefined;
}

/** One implementation of a port: the schema of its settings, and a function that creates it from parsed settings. */
export interface Adapter<Port, Deps> {
  /** A strict object. It becomes part of the config's schema and of the config reference. */
  readonly settings: z.ZodObject;
  /**
   * Creates the adapter, and loads its library only now.
   * @param settings as parsed by `settings` above
   */
  create(settings: Settings, deps: Deps): Promise<Port>;
  /** Settings that cannot work on this machine. Starts nothing and contacts nothing. */
  preflight?(settings: Settings, deps: Pick<AdapterDeps, 'inheritedEnv'>): Promise<PreflightFault[]>;
  /** Settings that work, but that the operator should know about. */
  warnings?(settings: Settings): Omit<PreflightFault, 'value'>[];
}

export interface PreflightFault {
  /** Inside the settings. */
  path: (string | number)[];
  /** A phrase that follows the path, as in `ConfigProblem`. */
  message: string;
  value: unknown;
}

/** An object store may issue URLs of its own (`presign`); the config needs to know that before it creates one. */
type ObjectsAdapter = Adapter<ObjectStore, AdapterDeps> & { readonly presigns?: boolean };

/** What writes to standard output leaves no room there for texts or messages. */
type AuditAdapter = Adapter<Audit, AdapterDeps> & { readonly takesStdout?: boolean };

/** Port → name → adapter. The name is the adapter's file name and its value in the config. */
export interface AdapterList {
  readonly objects: Readonly<Record<string, ObjectsAdapter>>;
  readonly state: Readonly<Record<string, Adapter<StateStore, AdapterDeps>>>;
  readonly previews: Readonly<Record<string, Adapter<Previewer, AdapterDeps>>>;
  readonly antivirus: Readonly<Record<string, Adapter<Antivirus, AdapterDeps>>>;
  readonly audit: Readonly<Record<string, AuditAdapter>>;
  readonly telemetry: Readonly<Record<string, Adapter<Telemetry, AdapterDeps>>>;
  readonly upstream: Readonly<Record<TransportName, Adapter<Upstream, UpstreamAdapterDeps>>>;
  /** Always present: the config cannot choose it, and its settings exist for tests only. */
  readonly transfer: Readonly<Record<'https', Adapter<Transfer, AdapterDeps>>>;
  /** Created only where tokens are verified or asked for. */
  readonly oauth: Readonly<Record<'jose', Adapter<OAuth, AdapterDeps>>>;
  /** Pure functions without settings. If two claim one slot, the earlier one in the list gets it. */
  readonly dialects: readonly Dialect[];
  /** What is known about hosts, as data. The first whose `match` fits counts. */
  readonly hosts: readonly HostProfile[];
}
