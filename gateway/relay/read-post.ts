import { GatewayError } from '../errors.js';
import { type ClientMessages, type ReadingLimits, readMessages } from '../mcp/request.js';
import { idInLong } from '../mcp/request-id.js';
import { type Exchange, noteMessages } from './exchange.js';

/**
 * The messages of a POST; a promise only of a body that is read in steps.
 * @throws GatewayError `json_malformed`, `too_deep`, `batch_too_long`, `request_invalid`, `draining`
 */
export function readPost(
  exchange: Exchange,
  server: string,
  limits: ReadingLimits,
): ClientMessages | Promise<ClientMessages> {
  const owner = { principal: exchange.principal, server };
  const noteId = async (error: unknown): Promise<never> => {
    // the id in malformed JSON cannot be trusted
    const isJson = error instanceof GatewayError && error.code !== 'json_malformed';
    const id = isJson ? await idInLong([exchange.body], owner) : undefined;
    if (id !== undefined) exchange.facts.requests = [{ id, base: [] }];
    throw error;
  };
  try {
    const read = readMessages(exchange.body, limits, owner);
    if (exchange.isLate) return withoutRequests(read, exchange).catch(noteId);
    return read instanceof Promise ? read.catch(noteId) : read;
  } catch (error) {
    return noteId(error);
  }
}

/** What a client says of calls that still run. */
async function withoutRequests(
  read: ClientMessages | Promise<ClientMessages>,
  { facts }: Exchange,
): Promise<ClientMessages> {
  const messages = await read;
  if (messages.requests.length === 0) return messages;
  noteMessages(facts, messages);
  throw new GatewayError('draining');
}
