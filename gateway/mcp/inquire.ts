import type { RpcError } from '../ports/client.js';
import type { JsonObject } from '../ports/dialect.js';
import type { HeldMessage } from '../wire/json/reader.js';

/** Asks the server on a session of the client's; undefined when it refused. */
export type Ask = (method: string, params: JsonObject) => Promise<JsonObject | undefined>;

/**
 * What a server answered to a request of Wharf's own, and how long that was; undefined when it did not answer.
 */
export type OwnAnswer = { result: JsonObject; bytes?: number } | { error: RpcError } | undefined;

/** Makes something of a result that is too much to be made whole: in steps, by where things stand in its message. */
export type ReadHeavy = (message: HeldMessage) => Promise<JsonObject>;

/** Asks the server on a session of the client's; says also how it refused. */
export type Inquire = (method: string, params: JsonObject, read?: ReadHeavy) => Promise<OwnAnswer>;

export function asking(inquire: Inquire): Ask {
  return async (method, params) => {
    const answer = await inquire(method, params);
    return answer && 'result' in answer ? answer.result : undefined;
  };
}
