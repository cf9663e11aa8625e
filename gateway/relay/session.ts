import { randomUUID } from 'node:crypto';
import { Line } from '../budget/collections/line.js';
import type { Ledger } from '../budget/ledger.js';
import { breathe } from '../budget/turn.js';
import { keptIn, type Shape } from '../errors/kept.js';
import type { Clock, Stopwatch } from '../ports/clock.js';
import type { JsonObject } from '../ports/dialect.js';
import type { Log } from '../ports/log.js';
import type { Metrics } from '../ports/metrics.js';
import type { Owner } from '../ports/owner.js';
import type { StateStore } from '../ports/state-store.js';
import type { StateKeys } from '../secrets/state-keys.js';
import type { CancelledElsewhere } from './cancelled-elsewhere.js';
import { OwedMessages } from './owed-messages.js';
import { type Remembered, SessionTable } from './session-table.js';
import { Resumable } from './unanswered.js';

/** What every replica must know about a session; JSON under a key made from its id. */
export interface SessionRecord {
  principal: string;
  server: string;
  /** The upstream's own session id; many legacy upstreams issue none. */
  upstreamSession?: string;
  /** The kind of channel to the upstream. A `shared` channel lives in one process and cannot move. */
  channel: 'exchange' | 'shared';
  /** Negotiated MCP version. */
  version: string;
  /** The capabilities from `initialize` that dialects read. */
  capabilities: JsonObject;
  /** `clientInfo.name` */
  clientName?: string;
  /** `clientInfo.version` */
  clientVersion?: string;
  /** Its tools are listed without their outputSchema, and results may lack structuredContent. */
  dropsStructured?: true;
  /** Names of the dialects whose methods the server has declared. */
  speaks?: string[];
  /** The server has declared no resources. */
  lacksResources?: true;
}

const SESSION_RECORD: Shape<SessionRecord> = {
  principal: 'text',
  server: 'text',
  upstreamSession: 'text?',
  channel: 'text',
  version: 'text',
  capabilities: 'object',
  clientName: 'text?',
  clientVersion: 'text?',
  dropsStructured: 'true?',
  speaks: 'list?',
  lacksResources: 'true?',
};

/** A session as this process knows it. */
export interface Session extends SessionRecord {
  /** Wharf's own `Mcp-Session-Id`, known only to this client. */
  id: string;
  /** Requests of it that are under way here. */
  underWay?: number;
}

interface Cached extends Remembered {
  session: Session;
  /** Its key in the state store. */
  key: string;
  /** When the state store last extended the session. */
  extendedAt: number;
  /** It was opened here, not only looked up, so this process is the one that ends it. */
  isOurs: boolean;
  /** By the stopwatch; of a session that is not ours, when it was looked up. */
  since: number;
}

/** How often in its time to live a session with a request or a stream under way is marked as used. */
const TIMES_KEPT = 8;

/** Bytes of a record up to which a session counts once; most have a few hundred. */
const USUAL_BYTES = 2048;

/** Most that a session counts: everything kept of one is bounded, and `limits.capabilities` is usually 16 KiB. */
export const LARGEST_SESSION = 16;

export interface SessionsDeps {
  state: StateStore;
  keys: StateKeys;
  clock: Clock & Stopwatch;
  log: Log;
  /** `timeouts.session` */
  ttlMs: number;
  metrics: Metrics;
  /** Absent where sessions are in this process alone. */
  cancelledElsewhere?: CancelledElsewhere | undefined;
  /** Called with each session that was opened here and ends here. Absent where that is not recorded. */
  ended?: ((session: Session, ms: number) => void) | undefined;
  /** Counts `limits.sessions`. */
  ledger: Ledger;
}

/** The sessions of all servers: kept in the state store for every replica, and cached here to survive its outage. */
export class Sessions {
  readonly #deps: SessionsDeps;
  readonly #table: SessionTable<Cached>;
  readonly #watchers = new Map<string, (session: Session) => void>();
  /** Ids of those with requests under way, once for each. Not a `Set`, as in OpenStreams. */
  readonly #inUse = new Line<string>();
  #timer: NodeJS.Timeout | undefined;
  /** What is kept of their requests whose streams are resumed. */
  readonly resumable = new Resumable();
  readonly cancelledElsewhere: CancelledElsewhere | undefined;
  readonly owed: OwedMessages;
  /**
   * Ends streams on which a session's client listens: to be set by what has them. It looks at every open exchange, so that it is
   * for one session that is over, and not for all those that end with their server.
   */
  endStreams: (id: string) => void = () => undefined;
  /** The sessions, by their ids, whose clients listen on a stream: to be set by what has them. */
  listening: () => Iterable<string> = () => [];

  constructor(deps: SessionsDeps) {
    this.#deps = deps;
    this.cancelledElsewhere = deps.cancelledElsewhere;
    this.owed = new OwedMessages(deps);
    this.#table = new SessionTable(deps.ledger, deps.ttlMs, {
      over: (cached) => this.#expired(cached),
      isBusy: ({ session: { underWay = 0 } }) => underWay > 0,
    });
  }

  /** Sessions remembered here. */
  get size(): number {
    return this.#table.size;
  }

  /**
   * Those remembered here that are not over, each with when it was last used, in milliseconds since the epoch. Reads all of
   * them.
   */
  list(): (Session & { usedAt: number })[] {
    const { clock } = this.#deps;
    const began = clock.now() - clock.ticks();
    return this.#table.entries(clock.ticks()).map(({ session, usedAt }) => ({ ...session, usedAt: began + usedAt }));
  }

  /** Registers what tells a server that a session has ended here without a request of its client. */
  watch(server: string, ended: (session: Session) => void): void {
    this.#watchers.set(server, ended);
  }

  /**
   * Whether a session could be kept now, for a server whose process would start for nothing.
   * @throws GatewayError `state_unavailable`, `state_full`
   */
  check(): Promise<void> {
    return this.#deps.state.check();
  }

  /**
   * Opens a session. When its principal, or the process, has reached its limit, the session unused longest ends; one with
   * a request under way only where there is no other.
   * @param most sessions that its principal may have here, itself included
   * @throws GatewayError `state_unavailable`, `state_full`
   */
  async open(record: SessionRecord, most?: number): Promise<Session> {
    const { state, keys, clock, ttlMs } = this.#deps;
    const session: Session = { ...record, id: randomUUID() };
    const key = keys.of('session', session.id);
    const text = this.#text(key, record);
    await state.create(key, text, ttlMs, ownerOf(record));
    const now = clock.ticks();
    const entry = { ...remembered(session, text, now), session, key, extendedAt: now, isOurs: true, since: now };
    const evicted = [
      ...this.#table.leave(record.principal, (most ?? Number.POSITIVE_INFINITY) - 1, now),
      ...this.#table.add(entry),
    ];
    for (const one of evicted) {
      if (!one.isOurs) continue;
      this.#told(one, now);
      this.#endForRoom(one.session);
    }
    return session;
  }

  /**
   * The session with that id, if it belongs to this principal and server: for any other caller it does not exist. A
   * promise only of one that is not remembered here.
   * @param principal undefined where the server itself judges each request
   * @throws GatewayError `state_unavailable` when it is not cached here
   */
  find(id: string, principal: string | undefined, server: string): Session | undefined | Promise<Session | undefined> {
    const known = this.#table.use(id, this.#deps.clock.ticks());
    if (known) return this.#foundBy(known, principal, server);
    return this.#load(id).then((loaded) => this.#foundBy(loaded, principal, server));
  }

  #foundBy(cached: Cached | undefined, principal: string | undefined, server: string): Session | undefined {
    if (!cached || cached.session.server !== server) return undefined;
    if (principal !== undefined && cached.session.principal !== principal) return undefined;
    this.#keepAlive(cached);
    this.#timer ??= setInterval(() => void this.keepUsed(), this.#deps.ttlMs / TIMES_KEPT).unref();
    return cached.session;
  }

  /**
   * A request of a session begins: until it is over, the session does not end for being unused, however long it takes.
   * @returns what to call, once, when it is over
   */
  begin(session: Session): () => void {
    const { id } = session;
    session.underWay = (session.underWay ?? 0) + 1;
    const place = this.#inUse.add(id);
    return () => {
      this.#inUse.remove(place);
      session.underWay = (session.underWay ?? 1) - 1;
      if (session.underWay === 0) this.#table.use(id, this.#deps.clock.ticks());
    };
  }

  /** Marks the sessions with requests under way as used now, and those whose clients listen, which may be thousands. */
  async keepUsed(): Promise<void> {
    const { clock } = this.#deps;
    let answers = true;
    for (const id of new Set([...this.#inUse.values(), ...this.listening()])) {
      const cached = this.#table.use(id, clock.ticks());
      if (cached) this.#keepAlive(cached);
      else if (answers) answers = await this.#keepForgotten(id);
      await breathe();
    }
  }

  /**
   * Keeps a session in the store that has made room for others here, and whose client listens here all the same.
   * @returns whether the store could be asked
   */
  async #keepForgotten(id: string): Promise<boolean> {
    const { state, keys, ttlMs } = this.#deps;
    try {
      for (const key of keys.all('session', id)) if (await state.extend(key, ttlMs)) return true;
      this.endStreams(id);
      return true;
    } catch {
      return false;
    }
  }

  /** Ends a session that is remembered here, and lets its upstream be told. @throws GatewayError `state_unavailable` */
  async close(id: string): Promise<void> {
    const cached = this.#table.use(id, this.#deps.clock.ticks());
    if (cached) this.#watchers.get(cached.session.server)?.(cached.session);
    await this.end(id);
    this.endStreams(id);
  }

  /** Ends the session everywhere except in other replicas' caches, where the upstream's own 404 ends it. */
  async end(id: string): Promise<void> {
    const { state, keys, clock } = this.#deps;
    const now = clock.ticks();
    const cached = this.#table.use(id, now);
    this.#table.delete(id);
    this.resumable.end(id);
    if (cached?.isOurs) this.#told(cached, now);
    await Promise.all(keys.all('session', id).map((key) => state.remove(key)));
  }

  /**
   * Whether a session with an open exchange has ended, here or at another replica. One that has not stays alive.
   * @throws GatewayError `state_unavailable`
   */
  async hasEnded(id: string): Promise<boolean> {
    const { state, keys, clock } = this.#deps;
    const cached = this.#table.use(id, clock.ticks());
    if (cached) this.#keepAlive(cached);
    for (const key of keys.all('session', id)) if ((await state.read(key)) !== undefined) return false;
    return true;
  }

  /** A session was unused for too long here. Its server keeps its part of it, for ever if Wharf does not end it there. */
  #expired({ session, key, isOurs }: Cached): void {
    if (!isOurs || session.upstreamSession === undefined) return;
    this.#deps.state.read(key).then(
      (text) => {
        // another replica may go on with it
        if (text === undefined) this.#watchers.get(session.server)?.(session);
      },
      () => undefined,
    );
  }

  #told({ session, since }: Cached, now: number): void {
    this.#deps.ended?.(session, Math.max(0, now - since));
  }

  async #load(id: string): Promise<Cached | undefined> {
    const { state, keys, clock } = this.#deps;
    for (const key of keys.all('session', id)) {
      const text = await state.read(key);
      if (text === undefined) continue;
      const record = this.#record(key, text);
      if (!record) continue;
      const session: Session = { ...record, id };
      const cached = {
        ...remembered(session, text, clock.ticks()),
        session,
        key,
        extendedAt: Number.NEGATIVE_INFINITY,
        isOurs: false,
        since: clock.ticks(),
      };
      // another request may have looked it up meanwhile
      this.#table.delete(id);
      // an evicted session is only forgotten here: it is still in the store
      this.#table.add(cached);
      return cached;
    }
    return undefined;
  }

  #endForRoom(session: Session): void {
    const { log, metrics } = this.#deps;
    const { principal, server } = session;
    log.info({ principal, server }, 'a session was ended: the limit is reached, and it was unused for longest');
    metrics.count('wharf_ended_sessions_total', { server });
    this.#watchers.get(server)?.(session);
    this.end(session.id).then(
      // its client would go on to listen, and never hear that it is to initialize again
      () => this.endStreams(session.id),
      (error) => log.warn({ err: error }, 'could not end a session'),
    );
  }

  /** The upstream's session id is a credential at the upstream. */
  #text(key: string, { upstreamSession, ...record }: SessionRecord): string {
    const { seal } = this.#deps.keys;
    return JSON.stringify({
      ...record,
      ...(upstreamSession !== undefined && { upstreamSession: seal.close(key, upstreamSession) }),
    });
  }

  #record(key: string, text: string): SessionRecord | undefined {
    const { upstreamSession: sealed, ...record } = keptIn(text, SESSION_RECORD);
    if (sealed === undefined) return record;
    const upstreamSession = this.#deps.keys.seal.open(key, sealed);
    return upstreamSession === undefined ? undefined : { ...record, upstreamSession };
  }

  /**
   * A session that the store no longer has: it has ended elsewhere, or while the machine slept, when the stopwatch stands, or
   * the store has lost it. What runs goes on; a stream on which its client listens would keep its process for ever.
   */
  #forget(id: string): void {
    this.#table.delete(id);
    this.endStreams(id);
  }

  /** Extends it in the store occasionally, not at every request. If the store is down, later. */
  #keepAlive(cached: Cached): void {
    const { state, clock, log, ttlMs } = this.#deps;
    const now = clock.ticks();
    if (now - cached.extendedAt < ttlMs / 8) return;
    cached.extendedAt = now;
    state.extend(cached.key, ttlMs).then(
      (isAlive) => {
        if (!isAlive) this.#forget(cached.session.id);
      },
      (error) => {
        cached.extendedAt = Number.NEGATIVE_INFINITY;
        log.warn({ err: error }, 'could not extend a session');
      },
    );
  }
}

function remembered({ id, principal }: Session, text: string, now: number): Remembered {
  return { id, principal, weight: Math.ceil(text.length / USUAL_BYTES), usedAt: now };
}

function ownerOf({ principal, server }: SessionRecord): Owner {
  return { principal, server };
}
