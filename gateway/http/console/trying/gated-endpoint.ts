import { GatewayError } from '../../../errors.js';
import type { FewLines } from '../../../few-lines.js';
import type { Audit } from '../../../ports/audit.js';
import type { Stopwatch } from '../../../ports/clock.js';
import type { Log } from '../../../ports/log.js';
import type { Metrics } from '../../../ports/metrics.js';
import { CollectedReply } from '../../../relay/client/collected-reply.js';
import { IncomingBody } from '../../../relay/client/incoming-body.js';
import type { Exchange } from '../../../relay/exchange.js';
import { logExchange, noteFailure } from '../../../relay/exchange-log.js';
import type { Endpoint } from '../../../relay/local/own-session.js';
import type { Server } from '../../../relay/server.js';
import { type Entered, enter, type GateDeps } from '../../gate.js';
import type { Lately } from '../lately.js';

export interface EndpointDeps extends GateDeps {
  /** The servers of now. */
  servers: ReadonlyMap<string, Server>;
  isDraining: () => boolean;
  clock: Stopwatch;
  log: Log;
  fewLines: FewLines;
  metrics: Metrics;
  audit: Audit;
  /** Running exchanges, which a drain waits for. */
  open: { count: number };
  lately: Lately;
}

/**
 * A server's MCP endpoint for the console: what comes through it passes the same gate and the same relay as a client's
 * request, under the same limits, and is logged, counted and audited like one.
 */
export class GatedEndpoint implements Endpoint {
  readonly name: string;
  readonly #deps: EndpointDeps;

  constructor(name: string, deps: EndpointDeps) {
    this.name = name;
    this.#deps = deps;
  }

  post(exchange: Exchange): Promise<void> {
    return this.#run('POST', exchange, (server) => server.post(exchange));
  }

  remove(exchange: Exchange): Promise<void> {
    return this.#run('DELETE', exchange, (server) => server.remove(exchange));
  }

  /** @throws GatewayError that of the exchange, if it fails */
  async #run(verb: string, exchange: Exchange, work: (server: Server) => Promise<void>): Promise<void> {
    const { servers, isDraining, clock, open, lately } = this.#deps;
    // a reload may have put another in its place
    const server = servers.get(this.name);
    if (!server) throw new GatewayError('server_unknown', { server: this.name });
    if (isDraining()) throw new GatewayError('draining');
    const startedAt = clock.ticks();
    let entered: Entered | undefined;
    let status = 200;
    open.count += 1;
    server.posts.begin();
    try {
      entered = await enter(this.#deps, server, exchange);
      measure(exchange, entered);
      await work(entered.server);
    } catch (thrown) {
      // the stream of an answer that is there is not waited for
      if (hasAnswer(exchange)) return;
      const error = noteFailure(this.#deps, thrown, exchange, server.name);
      status = error.httpStatus;
      throw error;
    } finally {
      entered?.leave();
      open.count -= 1;
      server.posts.end();
      lately.note(server.name, exchange);
      logExchange(this.#deps, exchange, { server: server.name, verb, status, startedAt });
    }
  }
}

/** Applies the limits of a client's message. @throws GatewayError */
function measure(exchange: Exchange, { server, held }: Entered): void {
  const body = new IncomingBody(server.limits, held);
  body.take(exchange.body);
  exchange.body = body.whole();
  exchange.tooLong = body.tooLong;
}

function hasAnswer({ reply, facts }: Exchange): boolean {
  return reply instanceof CollectedReply && reply.answer !== undefined && facts.error === undefined;
}
