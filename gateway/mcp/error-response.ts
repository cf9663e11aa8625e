import type { GatewayError } from '../errors.js';
import type { Answer } from './responses.js';

/** The JSON-RPC error for one request. @param id the id as JSON text; omitted from the answer if undefined */
export function errorAnswer(error: GatewayError, id: string | undefined): Buffer {
  const member = id === undefined ? '' : `"id":${id},`;
  return Buffer.from(`{"jsonrpc":"2.0",${member}"error":${JSON.stringify(error.toJsonRpc())}}`);
}

/** Replaces a message that cannot be delivered: an error for each of its answers, single or as a batch. */
export function errorAnswers(answers: readonly Answer[], error: GatewayError): Buffer | undefined {
  const [first] = answers;
  if (!first) return undefined;
  if (first.base.length === 0) return errorAnswer(error, first.id);
  return errorBatch(
    answers.map(({ id }) => id),
    error,
  );
}

/** One error for each request of a batch. @param ids as JSON text */
export function errorBatch(ids: readonly string[], error: GatewayError): Buffer {
  return Buffer.from(`[${ids.map((id) => errorAnswer(error, id).toString('utf8')).join(',')}]`);
}
