import type { RpcError } from '../ports/client.js';
import type { JsonObject } from '../ports/dialect.js';
import type { Owner } from '../ports/owner.js';
import type { HeldMessage } from '../wire/json/reader.js';

/** Sends a request to the server in a session of the client's; undefined when the server refused. */
export type Ask = (method: string, params: JsonObject) => Promise<JsonObject | undefined>;

/** The server's answer to a request of Wharf's own, and its length; undefined without an answer. */
export type OwnAnswer = { result: JsonObject; bytes?: number } | { error: RpcError } | undefined;

/**
 * Reads a result that may be too large to be parsed as a whole: in steps, by the places of its parts in the message.
 * @param owner whose work it is: the caller for whom Wharf asked
 */
export type ReadHeavy = (message: HeldMessage, owner: Owner) => Promise<JsonObject>;

/** Like `Ask`, but returns the server's error too. */
export type Inquire = (method: string, params: JsonObject, read?: ReadHeavy) => Promise<OwnAnswer>;

/** Asks, and takes an error of the server's for no answer. */
export function asking(inquire: Inquire): Ask {
  return async (method, params) => {
    const answer = await inquire(method, params);
    return answer && 'result' in answer ? answer.result : undefined;
  };
}
