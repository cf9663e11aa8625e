import type { ClientMessages } from '../mcp/request.js';
import type { TraceContext } from '../ports/telemetry.js';
import type { Asked } from './caller.js';
import type { Exchange } from './exchange.js';
import type { PendingRequest } from './pending-request.js';

/** Records what becomes of a client's messages. What is not recorded is absent, so that nothing is done for it. */
export interface ExchangeWatch {
  /** A POST has been read; the work answers it. */
  asked?(exchange: Exchange, messages: ClientMessages, work: () => Promise<void>): Promise<void>;
  /** A client listens to what the server says by itself; the work lasts as long as its stream. */
  listens?(exchange: Exchange, work: () => Promise<void>): Promise<void>;
  /** A POST goes to the server; the work is done when it is answered. */
  forwarded(asked: Asked, work: () => Promise<void>): Promise<void>;
  /** What a request says to its server of the trace that it belongs to; undefined: what its client has said. */
  handedOn?(request: PendingRequest): TraceContext | undefined;
  /**
   * Something came on a channel of several exchanges; the work reads it.
   * @param exchange the one that it is for, as far as that is known
   */
  heard?<Value>(exchange: Exchange | undefined, work: () => Value): Value;
}
