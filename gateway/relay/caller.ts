import type { Inquire } from '../mcp/inquire.js';
import type { ClientMessages } from '../mcp/request.js';
import type { ClientFacts } from '../ports/client.js';
import type { Exchange } from './exchange.js';
import type { AnswerEdit, PendingRequest } from './pending-request.js';
import type { Session } from './session.js';

/** An exchange, and the sender of Wharf's own requests beside it. */
export interface Sender {
  exchange: Exchange;
  /** The messages of a POST. */
  messages?: ClientMessages;
  session: Session | undefined;
}

/** The caller of an exchange. Determined once per exchange, and passed on. */
export interface Caller extends Sender {
  client: ClientFacts;
  /** Asks the server in the caller's own session. */
  inquire: Inquire;
}

/** A client's POST, and its caller. */
export interface Asked extends Caller {
  messages: ClientMessages;
}

/** The POST with edits for the answers to some of its requests. */
export function withEdits(asked: Asked, edits: ReadonlyMap<PendingRequest, AnswerEdit>): Asked {
  if (edits.size === 0) return asked;
  const requests = asked.messages.requests.map((request: PendingRequest) => {
    const edit = edits.get(request);
    return edit ? { ...request, edits: [...(request.edits ?? []), edit] } : request;
  });
  return { ...asked, messages: { ...asked.messages, requests } };
}
