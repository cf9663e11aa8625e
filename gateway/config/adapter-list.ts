import type { z } from 'zod';
import type { Limits, Timeouts } from '../policy/limits.js';
import type { Clock } from '../ports/clock.js';
import type { Dialect } from '../ports/dialect.js';
import type { Log } from '../ports/log.js';
import type { ObjectStore } from '../ports/object-store.js';
import type { Sharing } from '../ports/owner.js';
import type { StateStore } from '../ports/state-store.js';
import type { Thumbnailer } from '../ports/thumbnailer.js';
import type { Transfer } from '../ports/transfer.js';
import type { Upstream } from '../ports/upstream.js';
import type { Settings } from './config.js';

/** What every adapter is given. Each takes the members it names and ignores the rest. */
export interface AdapterDeps {
  limits: Readonly<Limits>;
  timeouts: Readonly<Timeouts>;
  /** How totals are shared among principals and servers. */
  sharing: Sharing;
  log: Log;
  clock: Clock;
  /** What a child process inherits; adapters never read the environment themselves. */
  inheritedEnv: Readonly<Record<string, string>>;
}

export interface UpstreamDeps extends AdapterDeps {
  /** The server's name in the config, for errors and logs. */
  name: string;
}

/** One implementation of a port: the schema of its settings and the way to make it from parsed ones. */
export interface Adapter<Port, Deps> {
  /** A strict object. It becomes a part of the config's schema and of its reference. */
  readonly settings: z.ZodObject;
  /**
   * Makes the adapter; its library is loaded here.
   * @param settings what `settings` above has parsed
   */
  create(settings: Settings, deps: Deps): Promise<Port>;
  /** What of the settings cannot work on this machine; nothing is started and nothing is contacted. */
  preflight?(settings: Settings, deps: Pick<AdapterDeps, 'inheritedEnv'>): Promise<PreflightFault[]>;
  /** What of the settings works and is worth a word to the operator. */
  warnings?(settings: Settings): Omit<PreflightFault, 'value'>[];
}

export interface PreflightFault {
  /** Inside the settings. */
  path: (string | number)[];
  /** Follows the path, as in `ConfigProblem`. */
  message: string;
  value: unknown;
}

/** An object store may give out URLs of its own (`presign`); that is known before one is made. */
export type ObjectsAdapter = Adapter<ObjectStore, AdapterDeps> & { readonly presigns?: boolean };

/** Port → name → adapter. The name is the adapter's file name and its value in the config. */
export interface AdapterList {
  readonly objects: Readonly<Record<string, ObjectsAdapter>>;
  readonly state: Readonly<Record<string, Adapter<StateStore, AdapterDeps>>>;
  readonly thumbnails: Readonly<Record<string, Adapter<Thumbnailer, AdapterDeps>>>;
  readonly upstream: Readonly<Record<'streamable-http' | 'legacy-sse' | 'stdio', Adapter<Upstream, UpstreamDeps>>>;
  /** Always there: nothing in the config chooses it, and its settings are only for tests. */
  readonly transfer: Readonly<Record<'https', Adapter<Transfer, AdapterDeps>>>;
  /** Pure functions without settings. Where two claim one slot, the earlier one in the list has it. */
  readonly dialects: readonly Dialect[];
}
