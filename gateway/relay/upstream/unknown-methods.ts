import { LateCache } from '../../budget/collections/late-cache.js';
import type { Inquire } from '../../mcp/inquire.js';
import type { RpcError } from '../../ports/client.js';
import type { OwnRequest } from '../../ports/dialect.js';
import type { JsonObject } from '../../ports/json.js';

/** How long an unknown method is remembered. */
const TTL_MS = 5 * 60 * 1000;
/** Of all principals together: a method has an entry for each principal that has used it. */
const MAX_METHODS = 10_000;

const METHOD_NOT_FOUND = -32601;

/** Some servers check the shape of a request before its method, and report an unknown one as invalid. */
const INVALID = new Set([-32600, -32602]);

export type FirstAnswer =
  | { kind: 'result'; request: OwnRequest; result: JsonObject }
  | { kind: 'refused'; error: RpcError }
  /** The server knows none of the methods. */
  | { kind: 'unknown' }
  | { kind: 'silent' };

/** Of one server, for all principals. */
class Found {
  readonly unknown = new LateCache<true>({ max: MAX_METHODS, ttl: TTL_MS });
  /** Methods without an answer: some servers drop requests that they do not understand. */
  readonly silent = new LateCache<true>({ max: MAX_METHODS, ttl: TTL_MS });
}

/**
 * Which of the dialects' methods a server does not know, or leaves unanswered. A server may answer each caller
 * differently, so results are per principal.
 */
export class UnknownMethods {
  readonly #found: Found;
  readonly #principal: string;

  constructor(found = new Found(), principal = '') {
    this.#found = found;
    this.#principal = principal;
  }

  /** The results for one principal. */
  of(principal: string): UnknownMethods {
    return new UnknownMethods(this.#found, principal);
  }

  /** True when the server is known to lack all of these. */
  lacks(requests: readonly OwnRequest[]): boolean {
    return requests.every(({ method }) => this.#found.unknown.has(this.#key(method)));
  }

  /**
   * Sends one request after the other, from the newest method to the oldest, until the server knows one.
   * @param isGuess the server may know none of them: if it did not answer before, it is not waited for again
   */
  async first(requests: readonly OwnRequest[], inquire: Inquire, isGuess = false): Promise<FirstAnswer> {
    if (isGuess && requests.some(({ method }) => this.#found.silent.has(this.#key(method)))) return { kind: 'silent' };
    let invalid: RpcError | undefined;
    for (const request of requests) {
      const key = this.#key(request.method);
      if (this.#found.unknown.has(key)) continue;
      const answer = await inquire(request.method, request.params);
      if (!answer) {
        this.#found.silent.set(key, true);
        return { kind: 'silent' };
      }
      if ('result' in answer) return { kind: 'result', request, result: answer.result };
      const { error } = answer;
      if (error.code === METHOD_NOT_FOUND) this.#found.unknown.set(key, true);
      else if (INVALID.has(error.code) && !hasReason(error)) invalid ??= error;
      else return { kind: 'refused', error };
    }
    return invalid ? { kind: 'refused', error: invalid } : { kind: 'unknown' };
  }

  #key(method: string): string {
    // a dialect's method never contains a line feed
    return `${method}\n${this.#principal}`;
  }
}

function hasReason({ data }: RpcError): boolean {
  return typeof data === 'object' && data !== null && !Array.isArray(data) && typeof data.reason === 'string';
}
