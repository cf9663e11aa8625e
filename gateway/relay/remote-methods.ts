import { LRUCache } from 'lru-cache';
import type { OwnRequest, RpcError } from '../ports/dialect.js';
import type { JsonObject } from '../ports/json.js';
import type { Inquire } from './catalog.js';

/** How long it is remembered that a server does not know a method. */
const TTL_MS = 5 * 60 * 1000;
const MAX_METHODS = 100;

const METHOD_NOT_FOUND = -32601;

/** Some servers check the shape of a request before they look for its method, and call an unknown one invalid. */
const INVALID = new Set([-32600, -32602]);

export type FirstAnswer =
  | { kind: 'result'; request: OwnRequest; result: JsonObject }
  | { kind: 'refused'; error: RpcError }
  /** It knows none of the methods. */
  | { kind: 'unknown' }
  | { kind: 'silent' };

/** Which of the methods that dialects would ask a server for it does not know, or leaves unanswered. */
export class RemoteMethods {
  readonly #unknown = new LRUCache<string, true>({ max: MAX_METHODS, ttl: TTL_MS });
  /** What it did not answer: some servers drop requests that they do not understand. */
  readonly #silent = new LRUCache<string, true>({ max: MAX_METHODS, ttl: TTL_MS });

  /** Whether the server is known to know none of these. */
  lacks(requests: readonly OwnRequest[]): boolean {
    return requests.every(({ method }) => this.#unknown.has(method));
  }

  /**
   * Asks one request after the other, from the newest method to the oldest, until the server knows one.
   * @param isGuess nothing says that it knows any: it is not waited for again where it did not answer before
   */
  async first(requests: readonly OwnRequest[], inquire: Inquire, isGuess = false): Promise<FirstAnswer> {
    if (isGuess && requests.some(({ method }) => this.#silent.has(method))) return { kind: 'silent' };
    let invalid: RpcError | undefined;
    for (const request of requests) {
      if (this.#unknown.has(request.method)) continue;
      const answer = await inquire(request.method, request.params);
      if (!answer) {
        this.#silent.set(request.method, true);
        return { kind: 'silent' };
      }
      if ('result' in answer) return { kind: 'result', request, result: answer.result };
      const { error } = answer;
      if (error.code === METHOD_NOT_FOUND) this.#unknown.set(request.method, true);
      else if (INVALID.has(error.code) && !hasReason(error)) invalid ??= error;
      else return { kind: 'refused', error };
    }
    return invalid ? { kind: 'refused', error: invalid } : { kind: 'unknown' };
  }
}

function hasReason({ data }: RpcError): boolean {
  return typeof data === 'object' && data !== null && !Array.isArray(data) && typeof data.reason === 'string';
}
