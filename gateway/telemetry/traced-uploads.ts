import type { IncomingMessage } from 'node:http';
import { asGatewayError } from '../errors.js';
import type { SpanFacts, SpanFailure, Tracer } from '../ports/telemetry.js';
import { contextOf } from './trace-context.js';

/** The path has a ticket, which no span may have. */
const ROUTE = '/u/{ticket}';

/** Methods that bring bytes, or begin to. */
const METHODS: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/** What a request has come to. */
interface Told {
  readonly facts: SpanFacts;
  readonly failure?: SpanFailure | undefined;
}

/** Records each request that brings bytes of an upload as a span, by the conventions for HTTP. */
export class TracedUploads {
  readonly #tracer: Tracer;
  readonly #told = new WeakMap<IncomingMessage, Told>();

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  /** Does the work of a request inside its span; what it stores is below that. */
  async answered(incoming: IncomingMessage, work: () => Promise<Response>): Promise<Response> {
    const { method = '', headers, socket } = incoming;
    if (!METHODS.has(method)) return work();
    const span = this.#tracer.begin({
      name: `${method} ${ROUTE}`,
      kind: 'server',
      parent: contextOf(headers),
      facts: {
        'http.request.method': method,
        'http.route': ROUTE,
        'network.transport': 'tcp',
        'network.protocol.name': 'http',
        'client.address': socket.remoteAddress,
      },
    });
    try {
      const response = await this.#tracer.within(span, work);
      const { status } = response;
      const { facts = {}, failure } = this.#told.get(incoming) ?? {};
      const failed = status >= 400 ? { type: String(status) } : undefined;
      span.end({ ...facts, 'http.response.status_code': status }, failure ?? failed);
      return response;
    } catch (error) {
      span.end(this.#told.get(incoming)?.facts ?? {}, { type: asGatewayError(error).code });
      throw error;
    }
  }

  /** Says what a request has come to, before its work ends. */
  tell(incoming: IncomingMessage, facts: SpanFacts, failure?: SpanFailure): void {
    this.#told.set(incoming, { facts, failure });
  }
}
