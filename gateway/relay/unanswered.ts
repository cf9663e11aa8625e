import { RecentMap } from '../budget/collections/recent-map.js';
import { Ledger } from '../budget/ledger.js';
import { heapOf } from '../budget/memory/heap-size.js';
import { knownId } from '../mcp/responses.js';
import type { PendingRequest } from './pending-request.js';

/** Most requests of one session. */
const MOST = 16;
/** A request with parameters larger than this is kept without them, and one that is larger even then is not kept. */
const MAX_BYTES = 8 * 1024;
/** Of all sessions. The sessions that were kept first make room for others: only what answers need by their request is lost. */
const TOTAL_BYTES = 16 * 1024 * 1024;
/** The part of it that the sessions of one caller may take. */
const OF_A_CALLER = 0.25;

/** A session, and the principal whose client has it. */
interface ClientSession {
  id: string;
  principal: string;
}

type Requests = ReadonlyMap<string, PendingRequest>;

interface Kept {
  readonly principal: string;
  readonly requests: Map<string, { request: PendingRequest; bytes: number }>;
}

const NONE: Requests = new Map();

/**
 * Requests of streams that their clients resume by a GET: what becomes of an answer depends on its request (MCP 2025-11-25,
 * Streamable HTTP: a server may close a stream at any time, and sends again what it has sent since an event).
 */
export class Unanswered {
  readonly #ledger: Ledger;
  /** By the session's id. */
  readonly #sessions = new RecentMap<string, Kept>();
  readonly #byPrincipal = new Map<string, RecentMap<string, Kept>>();

  constructor(total = TOTAL_BYTES) {
    const sharing = { ratio: OF_A_CALLER, principals: true, servers: false };
    this.#ledger = new Ledger({ limit: 'unanswered', total, sharing, unit: MOST * MAX_BYTES });
  }

  /** Bytes that are kept. */
  get used(): number {
    return this.#ledger.used;
  }

  keep({ id, principal }: ClientSession, requests: Iterable<PendingRequest>): void {
    for (const request of requests) {
      const small = shortened(request);
      if (!small) continue;
      this.#remove(id, request.id);
      if (!this.#makeRoom(small.bytes, principal)) return;
      const kept = this.#open(id, principal);
      kept.requests.set(request.id, small);
      this.#ledger.add(small.bytes, { principal });
      const [oldest] = kept.requests.keys();
      if (kept.requests.size > MOST && oldest !== undefined) this.#remove(id, oldest);
    }
  }

  /** Those of a session, by their ids as JSON text, in the order in which their streams ended. */
  of(session: ClientSession | undefined): Requests {
    const kept = session && this.#sessions.peek(session.id);
    return kept ? new Map([...kept.requests].map(([id, { request }]) => [id, request])) : NONE;
  }

  /** These were answered, by their ids as JSON text. */
  forget(session: ClientSession | undefined, ids: readonly string[]): void {
    if (!session || this.#sessions.size === 0) return;
    for (const id of ids) this.#remove(session.id, id);
  }

  /** Forgets all of a session, by its id. */
  end(session: string): void {
    for (const id of [...(this.#sessions.peek(session)?.requests.keys() ?? [])]) this.#remove(session, id);
  }

  #open(id: string, principal: string): Kept {
    const known = this.#sessions.peek(id);
    if (known) return known;
    const kept: Kept = { principal, requests: new Map() };
    this.#sessions.set(id, kept);
    const own = this.#byPrincipal.get(principal) ?? new RecentMap<string, Kept>();
    own.set(id, kept);
    this.#byPrincipal.set(principal, own);
    return kept;
  }

  /** Removes the sessions that were kept first: the caller's own when its share is full. */
  #makeRoom(bytes: number, principal: string): boolean {
    for (;;) {
      const refusal = this.#ledger.refusal(bytes, { principal });
      if (!refusal) return true;
      const from = refusal.full === 'principal' ? this.#byPrincipal.get(principal) : this.#sessions;
      const [oldest] = from?.keys() ?? [];
      if (oldest === undefined) return false;
      this.end(oldest);
    }
  }

  #remove(session: string, id: string): void {
    const kept = this.#sessions.peek(session);
    const request = kept?.requests.get(id);
    if (!kept || !request) return;
    kept.requests.delete(id);
    this.#ledger.give(request.bytes, kept);
    if (kept.requests.size > 0) return;
    this.#sessions.delete(session);
    const own = this.#byPrincipal.get(kept.principal);
    own?.delete(session);
    if (own?.size === 0) this.#byPrincipal.delete(kept.principal);
  }
}

/** The requests of streams that clients resume. */
export class Resumable {
  readonly unanswered = new Unanswered();
  /** Whether their clients have got the answers is not known: they may ask for them again. */
  readonly #answered = new Unanswered();

  /** Finds a request of a session by an id in an answer. */
  of(session: ClientSession | undefined): (id: string) => PendingRequest | undefined {
    const all = [this.unanswered.of(session), this.#answered.of(session)];
    return (id) => {
      for (const requests of all) {
        const found = requests.get(knownId(requests, id));
        if (found) return found;
      }
      return undefined;
    };
  }

  /**
   * These were answered, by their ids as JSON text.
   * @param again those of them that were answered on a stream with event ids
   */
  answered(session: ClientSession | undefined, ids: readonly string[], again: readonly PendingRequest[]): void {
    this.unanswered.forget(session, ids);
    if (session) this.#answered.keep(session, again);
  }

  /** Forgets all of a session, by its id. */
  end(session: string): void {
    this.unanswered.end(session);
    this.#answered.end(session);
  }
}

/** What answers need of a request; undefined when even that is large. */
function shortened(from: PendingRequest): { request: PendingRequest; bytes: number } | undefined {
  const { id, method, subject, params, calledAs, hasFiles } = from;
  const found = { ...(calledAs !== undefined && { calledAs }), ...(hasFiles && { hasFiles }) };
  const bare = { id, method, subject, params: {}, base: [], ...found };
  for (const request of [{ ...bare, params }, bare]) {
    const bytes = heapOf(request, MAX_BYTES);
    if (bytes <= MAX_BYTES) return { request, bytes };
  }
  return undefined;
}
