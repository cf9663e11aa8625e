import type { ServerResponse } from 'node:http';
import { type GatewayError, SOON_S } from '../errors.js';
import { challengeOf } from '../identity/challenge.js';
import { errorAnswer, errorAnswers } from '../mcp/error-response.js';
import type { Answer } from '../mcp/responses.js';

/** For `Retry-After`: where time helps, and as long as is known. */
export function retryAfterOf({ httpStatus, facts: { retryAfter } }: GatewayError): number | undefined {
  if (typeof retryAfter === 'number') return retryAfter;
  return httpStatus === 503 ? SOON_S : undefined;
}

/**
 * Answers with an error: its status, and a JSON-RPC error for MCP clients. If a head was sent already, it cuts the
 * connection: only that can still show that the answer is incomplete.
 * @param requests the failed requests: each of a batch gets its own error
 */
export function refuse(response: ServerResponse, error: GatewayError, requests: readonly Answer[] = []): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const body = errorAnswers(requests, error) ?? errorAnswer(error, undefined);
  const headers: Record<string, string | number> = {
    'content-type': 'application/json',
    'content-length': body.length,
  };
  if (error.code === 'method_not_allowed') headers.allow = String(error.facts.allow);
  const challenge = challengeOf(error);
  if (challenge !== undefined) headers['www-authenticate'] = challenge;
  const retryAfter = retryAfterOf(error);
  if (retryAfter !== undefined) headers['retry-after'] = retryAfter;
  if (error.code === 'draining' || error.code === 'sockets_full') headers.connection = 'close';
  response.writeHead(error.httpStatus, headers);
  response.end(body);
}
