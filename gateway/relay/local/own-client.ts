import type { HeldBudget } from '../../budget/held.js';
import { GatewayError } from '../../errors.js';
import type { FileRecord } from '../../files/file.js';
import { absentCaller } from '../../identity/identities.js';
import { isObject } from '../../json/value.js';
import { OWN_VERSION } from '../../mcp/era.js';
import type { Limits, Timeouts } from '../../policy/limits.js';
import type { JsonObject } from '../../ports/json.js';
import { deadline } from '../upstream/deadline.js';
import { type Endpoint, OwnSession, type SessionAnswer } from './own-session.js';

const CLIENT = { name: 'wharf', version: '1' };

interface OwnClientDeps {
  endpoint: Endpoint;
  /** The caller it acts for. */
  principal: string;
  limits: Pick<Limits, 'response' | 'values'>;
  timeouts: Pick<Timeouts, 'upstream'>;
  held: HeldBudget;
}

/** The answer to an exchange of Wharf's own. */
interface OwnResult {
  result: JsonObject;
  /** The file that Wharf has made of the first content of a resource. */
  content: FileRecord | undefined;
}

/** Wharf as a client of its own endpoint, when no client's session is open. */
export class OwnClient {
  readonly #deps: OwnClientDeps;

  constructor(deps: OwnClientDeps) {
    this.#deps = deps;
  }

  /**
   * Sends one request in its own session, within `timeouts.upstream` in total.
   * @param take uses the answer, which counts against `limits.held` until then
   * @throws GatewayError `upstream_invalid` when the server refuses it, Wharf's own reason where a part of it does,
   * `upstream_timeout`, `response_too_large`, `held_full`
   */
  async request<Value>(
    request: { method: string; params: JsonObject; name: string },
    outer: AbortSignal,
    take: (own: OwnResult) => Promise<Value>,
  ): Promise<Value> {
    const { endpoint, timeouts, limits, principal, held } = this.#deps;
    const facts = { server: endpoint.name, limit: 'timeouts.upstream', allowed: timeouts.upstream };
    const { signal, clear } = deadline(outer, timeouts.upstream, () => new GatewayError('upstream_timeout', facts));
    const session = new OwnSession({
      endpoint,
      identity: absentCaller(principal),
      clientInfo: CLIENT,
      version: OWN_VERSION,
      most: {
        ...{ limit: 'limits.response', bytes: limits.response },
        values: { limit: 'limits.values', count: limits.values },
      },
      held,
    });
    let answer: SessionAnswer | undefined;
    try {
      answer = await session.ask(request, signal);
      // the time-out does not include the use of the answer
      clear();
      return await take(resultOf(answer, request.method));
    } finally {
      clear();
      answer?.release();
      // the caller need not wait for the end of the session
      void session.end();
    }
  }
}

/** @throws GatewayError */
function resultOf({ message, content, status, failure, thrown }: SessionAnswer, method: string): OwnResult {
  if (failure) throw failure;
  if (isObject(message?.result)) return { result: message.result, content };
  // the server has nothing to do with what Wharf's own parts refuse
  if (thrown) throw thrown;
  const told = isObject(message?.error) ? message.error.message : undefined;
  const why = typeof told === 'string' ? told.slice(0, 200).replace(/\.$/, '') : `HTTP ${status}`;
  throw new GatewayError('upstream_invalid', { reason: `${method} was refused: ${why}` });
}
