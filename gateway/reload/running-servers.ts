import { setTimeout as pause } from 'node:timers/promises';
import type { ServerConfig } from '../config/config.js';
import { PROCESS_WIDE } from '../config/schema/limits.js';
import type { Server } from '../relay/server.js';
import type { LoginTarget } from '../upstream-auth/logins.js';
import { same } from './same.js';

/** How long a server that is replaced waits for its clients' streams to close, in milliseconds. */
const LAST_STREAMS_MS = 1000;

/** A server, and where people log in for it if they do. */
interface Made {
  server: Server;
  login: LoginTarget | undefined;
}

/** Makes a server that can take exchanges. Starts nothing that is not asked for. */
export type MakeServer = (config: ServerConfig) => Promise<Made>;

interface Running extends Made {
  config: ServerConfig;
}

/** Servers that are made and not yet in use. */
interface PreparedServers {
  /** Puts all in their places, in one step. */
  put(): void;
  /** Ends those that were made, because they are not put in place. */
  drop(): Promise<void>;
}

/** The configured servers, of which a reload replaces those that have changed. */
export class RunningServers {
  readonly #running = new Map<string, Running>();
  readonly #byName = new Map<string, Server>();
  /** Servers that finish their last exchanges. */
  readonly #retired = new Set<Server>();
  readonly #forget: (name: string) => void;
  /** Ends streams of a replaced server, which never end by themselves: to be set by what has them. */
  endStreams: (server: Server, are: 'listens' | 'all') => void = () => undefined;

  /** @param forget drops what is kept about a server's tools */
  constructor(forget: (name: string) => void) {
    this.#forget = forget;
  }

  /** Always the servers of now. */
  get byName(): ReadonlyMap<string, Server> {
    return this.#byName;
  }

  /** Where people log in for a server of now; undefined where they do not. */
  loginAt(name: string): LoginTarget | undefined {
    return this.#running.get(name)?.login;
  }

  /** The settings of all logins of people, by server: where they change, people log in anew. */
  get logins(): ReadonlyMap<string, string> {
    const all = new Map<string, string>();
    for (const [name, { login }] of this.#running) if (login) all.set(name, login.settings);
    return all;
  }

  /**
   * Makes servers, and touches nothing yet.
   * @param which those that are new or have changed; or all, because they share what has changed
   * @throws what cannot be made, once those made before it are closed
   */
  async prepare(
    configs: readonly ServerConfig[],
    make: MakeServer,
    which: 'changed' | 'all',
  ): Promise<PreparedServers> {
    const next: Running[] = [];
    const made: Server[] = [];
    const drop = async () => void (await Promise.allSettled(made.map((server) => server.close())));
    try {
      for (const config of configs) {
        const before = this.#running.get(config.name);
        if (which === 'changed' && before && same(ownOf(before.config), ownOf(config))) {
          next.push(before);
          continue;
        }
        const { server, login } = await make(config);
        made.push(server);
        next.push({ config, server, login });
      }
    } catch (error) {
      await drop();
      throw error;
    }
    return { put: () => this.#replace(next), drop };
  }

  #replace(next: readonly Running[]): void {
    const before = [...this.#running.values()];
    this.#running.clear();
    this.#byName.clear();
    for (const one of next) {
      this.#running.set(one.config.name, one);
      this.#byName.set(one.config.name, one.server);
      one.server.serve();
    }
    const kept = new Set(next.map(({ server }) => server));
    for (const { config, server } of before) if (!kept.has(server)) this.#retire(config.name, server);
  }

  #retire(name: string, server: Server): void {
    this.#forget(name);
    this.#retired.add(server);
    this.endStreams(server, 'listens');
    void server.posts.idle().then(async () => {
      // its last exchanges may have asked for the tools once more
      this.#forget(name);
      this.endStreams(server, 'all');
      // a stream that its server cuts off would be a failure of that server's
      await Promise.race([server.gets.idle(), pause(LAST_STREAMS_MS, undefined, { ref: false })]);
      await server.close().catch(() => {});
      this.#retired.delete(server);
    });
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#byName.values(), ...this.#retired].map((server) => server.close()));
  }
}

/** What a server is made of: the limits of the whole process are not its own. */
function ownOf({ limits, ...config }: ServerConfig): unknown {
  const own = Object.entries(limits).filter(([name]) => !PROCESS_WIDE.has(name));
  return { ...config, limits: Object.fromEntries(own) };
}
