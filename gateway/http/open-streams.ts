import type { IncomingMessage } from 'node:http';
import { Line, type Place } from '../budget/collections/line.js';
import { asGatewayError } from '../errors.js';
import { isOnlyExpired } from '../identity/caller-tokens.js';
import type { Authenticate, CredentialRequest, Identity } from '../ports/identity.js';
import type { Log } from '../ports/log.js';
import type { Exchange } from '../relay/exchange.js';
import type { Server } from '../relay/server.js';

/** What refuses a caller, and not a part that fails. */
const REFUSALS: ReadonlySet<string> = new Set(['unauthorized', 'credentials_invalid', 'insufficient_scope']);

/** The request of a 2026-07-28 client that is answered for as long as it listens. */
const LISTEN = 'subscriptions/listen';

/** An exchange of an MCP client. */
export interface OpenExchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: { end(): void };
  /** Name of the server. */
  readonly server: string;
  readonly exchange: Pick<Exchange, 'principal' | 'identity' | 'facts'>;
  /** Whether it is at this server, which a reload may have replaced under its name. */
  isAt(server: Server): boolean;
}

/** Who is let in now, by the config of now. */
interface Doors {
  authenticate: Authenticate;
  servers: ReadonlyMap<string, Pick<Server, 'reach'>>;
}

/** The exchanges of MCP clients, of which some never end by themselves. */
export class OpenStreams {
  /** Not a `Set`: V8 copies one that every request enters and leaves, and links each old copy to the next. */
  readonly #open = new Line<OpenExchange>();
  /** Sessions whose streams are to be ended. */
  readonly #ending = new Set<string>();

  /** @returns its place, with which it leaves */
  add(exchange: OpenExchange): Place<OpenExchange> {
    return this.#open.add(exchange);
  }

  delete(place: Place<OpenExchange>): void {
    this.#open.remove(place);
  }

  /**
   * Ends what would never end by itself, except for streams of sessions with calls under way: a server may ask or tell
   * something on them before it answers.
   */
  endIdle(): void {
    const busy = new Set<string>();
    for (const one of this.#open.values()) if (!isEndless(one)) busy.add(sessionOf(one));
    for (const one of this.#endless())
      if (one.incoming.method !== 'GET' || !busy.has(sessionOf(one))) one.outgoing.end();
  }

  /**
   * Ends streams whose callers are let in no longer: a client that is refused at its next request would otherwise hear
   * what the server says until it leaves.
   */
  async endStrangers({ authenticate, servers }: Doors, log: Log): Promise<void> {
    for (const { incoming, outgoing, server, exchange } of this.#endless()) {
      const { principal, identity } = exchange;
      const now = await identityNow(incoming, server, identity, authenticate);
      if (now?.principal === principal && servers.get(server)?.reach(now).allowed) continue;
      log.info({ principal, server }, 'a stream was ended: its caller is no longer let in');
      outgoing.end();
    }
  }

  /**
   * Ends streams of a server that a reload has replaced or removed: their clients hear the new one when they ask anew.
   * @param are `listens` while calls go on whose messages may come by GET; `all` after the last of them
   */
  endAt(server: Server, are: 'listens' | 'all', log: Log): void {
    const ended = this.#endless().filter(
      (one) => one.isAt(server) && (are === 'all' || one.exchange.facts.method === LISTEN),
    );
    if (ended.length === 0) return;
    log.info(
      { server: server.name, streams: ended.length },
      'streams were ended: their server was replaced or removed',
    );
    for (const { outgoing } of ended) outgoing.end();
  }

  /**
   * Ends streams of a session that has ended: many a server goes on to speak on them. A state store that has lost everything has
   * lost thousands of sessions, and not each is to be looked for among thousands of streams.
   */
  endOf(session: string): void {
    this.#ending.add(session);
    if (this.#ending.size === 1) setImmediate(() => this.#endSessions());
  }

  #endSessions(): void {
    const ending = new Set(this.#ending);
    this.#ending.clear();
    const ended: OpenExchange[] = [];
    // with each `initialize` that takes the place of another session: not all streams are copied for it
    for (const one of this.#open.values()) {
      const { session } = one.exchange.facts;
      if (session !== undefined && ending.has(session) && isEndless(one)) ended.push(one);
    }
    for (const { outgoing } of ended) outgoing.end();
  }

  /** The sessions of clients that listen, once for each of their streams. */
  *sessions(): Generator<string> {
    for (const { incoming, exchange } of this.#open.values())
      if (incoming.method === 'GET' && exchange.facts.session !== undefined) yield exchange.facts.session;
  }

  #endless(): OpenExchange[] {
    return [...this.#open.values()].filter(isEndless);
  }
}

/** Whether it never ends by itself: its client listens, and leaves when it likes. */
export function isEndless({ incoming, exchange }: OpenExchange): boolean {
  return incoming.method === 'GET' || exchange.facts.method === LISTEN;
}

/** Where a server has no sessions, all calls of a caller are one. */
function sessionOf({ server, exchange: { facts, principal } }: OpenExchange): string {
  return JSON.stringify([server, facts.session ?? null, principal]);
}

/** Who a stream's caller is by the config of now; undefined if it is refused. */
async function identityNow(
  request: CredentialRequest,
  server: string,
  before: Identity,
  authenticate: Authenticate,
): Promise<Identity | undefined> {
  try {
    return await authenticate(request, server);
  } catch (thrown) {
    const error = asGatewayError(thrown);
    // a stream outlives its token, which is checked where a request begins; a part that fails refuses no caller
    return isOnlyExpired(error) || !REFUSALS.has(error.code) ? before : undefined;
  }
}
