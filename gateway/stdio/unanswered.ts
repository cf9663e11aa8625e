import { GatewayError } from '../errors.js';
import { errorAnswer } from '../mcp/error-response.js';
import { parseJson } from '../wire/json/parse.js';
import type { CallEnd } from './calls.js';

/** The error line for a request whose exchange ended without an answer. */
export function unansweredLine(id: string, server: string, { reply, error }: CallEnd): Buffer {
  if (error) return errorAnswer(error, id);
  const { refusal, status, hasNoMessages } = reply;
  if (hasNoMessages)
    return errorAnswer(new GatewayError('upstream_invalid', { server, reason: 'it is not an MCP message' }), id);
  if (refusal === undefined) return errorAnswer(new GatewayError('upstream_closed', { server }), id);
  // servers refuse with a JSON-RPC error whose id is null or missing, because the status identifies it
  const own = errorIn(refusal);
  if (own === undefined) return errorAnswer(new GatewayError('upstream_refused', { server, status }), id);
  return Buffer.from(`{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(own)}}`);
}

function errorIn(body: string): { code: number; message: string } | undefined {
  try {
    const { error } = parseJson(body) as { error?: { code?: unknown; message?: unknown } };
    if (typeof error?.code !== 'number' || typeof error.message !== 'string') return undefined;
    return error as { code: number; message: string };
  } catch {
    return undefined;
  }
}
