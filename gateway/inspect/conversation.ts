import type { JsonObject } from '../ports/json.js';

/** A server's answer that is not a result. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  /** False when the answer was not even JSON-RPC. */
  readonly isMcp: boolean;
  /** HTTP status, if there is one. */
  readonly status: number | undefined;

  constructor(method: string, reason: string, facts: { isMcp: boolean; status?: number }) {
    super(`The server refused ${method}: ${reason}`);
    this.isMcp = facts.isMcp;
    this.status = facts.status;
  }
}

/** One session with a server, over any transport. */
export interface Conversation {
  /** @throws Refusal, GatewayError */
  request(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject>;
  notify(method: string, signal: AbortSignal): Promise<void>;
  /** Records the version that the server chose, which requests over HTTP repeat. */
  agree(version: string): void;
  close(): Promise<void>;
}

/** The result of an answer. @throws Refusal for an error */
export function resultOf(answer: JsonObject, method: string, status?: number): JsonObject {
  const { result, error } = answer;
  if (typeof result === 'object' && result !== null && !Array.isArray(result)) return result;
  const told = typeof error === 'object' && error !== null && !Array.isArray(error) ? error : {};
  const reason = `${String(told.message ?? 'its answer holds no result')} (${String(told.code ?? 'no code')})`;
  throw new Refusal(method, reason.slice(0, 500), { isMcp: true, ...(status === undefined ? {} : { status }) });
}
