import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { StateKeys } from '../files/state-keys.js';
import type { Clock } from '../ports/clock.js';
import type { JsonObject } from '../ports/dialect.js';
import type { Log } from '../ports/log.js';
import type { StateStore } from '../ports/state-store.js';

/** What every replica must know of a session; JSON under a key made of its id. */
export interface SessionRecord {
  principal: string;
  server: string;
  /** The upstream's own session id; many legacy upstreams mint none. */
  upstreamSession?: string;
  /** How the upstream is spoken to. A `shared` channel lives in one process and cannot move. */
  channel: 'exchange' | 'shared';
  /** Negotiated MCP version. */
  version: string;
  /** What the client declared in `initialize`. */
  capabilities: JsonObject;
  /** `clientInfo.name` */
  clientName?: string;
  /** Names of the dialects whose own methods the server has declared to answer. */
  speaks?: string[];
}

export interface Session extends SessionRecord {
  /** Wharf's own `Mcp-Session-Id`, known to this client only. */
  id: string;
}

interface Cached {
  session: Session;
  /** Where the state store keeps it. */
  key: string;
  /** When the state store was last told that the session is alive. */
  extendedAt: number;
}

/** The sessions of all servers: kept in the state store for every replica, cached here so that its outage is survived. */
export class Sessions {
  readonly #state: StateStore;
  readonly #keys: StateKeys;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #ttlMs: number;
  readonly #cache: LRUCache<string, Cached>;

  constructor(deps: { state: StateStore; keys: StateKeys; clock: Clock; log: Log; ttlMs: number; maxCached: number }) {
    this.#state = deps.state;
    this.#keys = deps.keys;
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#ttlMs = deps.ttlMs;
    this.#cache = new LRUCache({ max: deps.maxCached, ttl: deps.ttlMs, updateAgeOnGet: true });
  }

  /** @throws GatewayError `state_unavailable` */
  async open(record: SessionRecord): Promise<Session> {
    const session: Session = { ...record, id: randomUUID() };
    const key = this.#keys.of('session', session.id);
    await this.#state.create(key, JSON.stringify(record), this.#ttlMs);
    this.#cache.set(session.id, { session, key, extendedAt: this.#clock.now() });
    return session;
  }

  /**
   * The session of that id, if it is this principal's with this server: for anybody else it does not exist.
   * @throws GatewayError `state_unavailable` when it is not cached here
   */
  async find(id: string, principal: string, server: string): Promise<Session | undefined> {
    const cached = this.#cache.get(id) ?? (await this.#load(id));
    if (!cached || cached.session.principal !== principal || cached.session.server !== server) return undefined;
    this.#keepAlive(cached);
    return cached.session;
  }

  /** Ends the session everywhere but in other replicas' caches, where the upstream's own 404 ends it. */
  async end(id: string): Promise<void> {
    this.#cache.delete(id);
    await Promise.all(this.#keys.all('session', id).map((key) => this.#state.remove(key)));
  }

  async #load(id: string): Promise<Cached | undefined> {
    for (const key of this.#keys.all('session', id)) {
      const text = await this.#state.read(key);
      if (text === undefined) continue;
      const cached: Cached = { session: { ...(JSON.parse(text) as SessionRecord), id }, key, extendedAt: 0 };
      this.#cache.set(id, cached);
      return cached;
    }
    return undefined;
  }

  /** Tells the store now and then, not at every request. A store that is down is told later. */
  #keepAlive(cached: Cached): void {
    const now = this.#clock.now();
    if (now - cached.extendedAt < this.#ttlMs / 8) return;
    cached.extendedAt = now;
    this.#state.extend(cached.key, this.#ttlMs).catch((error) => {
      cached.extendedAt = 0;
      this.#log.warn({ err: error }, 'could not extend a session');
    });
  }
}
