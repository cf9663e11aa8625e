import { type HeldBudget, HeldRequest } from '../budget/held.js';
import { type Ledger, refusalFacts } from '../budget/ledger.js';
import { GatewayError } from '../errors.js';
import type { Owner } from '../ports/owner.js';
import type { RequestQuotas } from '../quotas/requests.js';
import type { Exchange } from '../relay/exchange.js';
import type { Server } from '../relay/server.js';

export interface GateDeps {
  held: HeldBudget;
  /** Counts the running requests of each principal. */
  requests: Ledger;
  /** What each caller may send. */
  quotas: RequestQuotas;
}

/** An exchange that has been let in. A class: as functions it took 300 bytes more of each, for hours where it is a stream. */
export class Entered {
  /** The server, as its caller meets it. */
  readonly server: Server;
  readonly #deps: GateDeps;
  readonly #counted: Owner;
  readonly #ended: (() => void) | undefined;
  #held: HeldRequest | undefined;

  /** @param ended gives back what the caller's quotas count */
  constructor(server: Server, deps: GateDeps, counted: Owner, ended?: () => void) {
    this.server = server;
    this.#deps = deps;
    this.#counted = counted;
    this.#ended = ended;
  }

  /** Counts the bytes of its message, which a stream has none of. */
  get held(): HeldRequest {
    const { server } = this;
    const { principal } = this.#counted;
    this.#held ??= new HeldRequest(this.#deps.held, server.limits, { principal, server: server.name });
    return this.#held;
  }

  /** Called once, when the exchange has ended. */
  leave(): void {
    this.#held?.release();
    this.#ended?.();
    this.#deps.requests.give(1, this.#counted);
  }
}

/**
 * Lets an exchange in whose caller is known: the same gate for every client, Wharf's own console among them. No promise
 * where nothing is waited for, because that would cost every short message a turn.
 * @throws GatewayError `server_forbidden`, `sockets_full`, `requests_limited`, `rate_limited`
 */
export function enter(deps: GateDeps, server: Server, exchange: Exchange): Entered | Promise<Entered> {
  refuseStranger(server, exchange);
  const counted = countRequest(deps.requests, exchange.principal);
  const own = () => server.under(exchange.identity);
  if (!deps.quotas.isOn) return new Entered(own(), deps, counted);
  return deps.quotas.begin(exchange.identity).then(
    (ended) => new Entered(own(), deps, counted, ended),
    (error: unknown) => {
      deps.requests.give(1, counted);
      throw error;
    },
  );
}

/** @throws GatewayError `server_forbidden` */
function refuseStranger(server: Server, { identity, facts }: Exchange): void {
  const { allowed, rule } = server.reach(identity);
  if (allowed) return;
  facts.rule = rule;
  throw new GatewayError('server_forbidden', { server: server.name });
}

/**
 * Counts a request for its principal as soon as that is known: otherwise one caller could keep every connection busy.
 * @returns the owner it counts for, to be released when the request ends
 * @throws GatewayError `sockets_full`
 */
export function countRequest(requests: Ledger, principal: string): Owner {
  const owner = { principal };
  const refusal = requests.take(1, owner);
  if (refusal) throw new GatewayError('sockets_full', refusalFacts(refusal));
  return owner;
}
