import type { GatewayError } from '../errors.js';
import type { HeldMessage } from '../wire/json/reader.js';
import { RANGE } from './slots.js';

/** The JSON-RPC error for one request. @param id the id as JSON text; without one the answer has none */
export function errorAnswer(error: GatewayError, id: string | undefined): Buffer {
  const member = id === undefined ? '' : `"id":${id},`;
  return Buffer.from(`{"jsonrpc":"2.0",${member}"error":${JSON.stringify(error.toJsonRpc())}}`);
}

/**
 * What stands in for an upstream's message that cannot be delivered: an error for each request it answers.
 * Undefined when it answers none.
 */
export function errorAnswers(message: HeldMessage, error: GatewayError): Buffer | undefined {
  const isRequest = (path: readonly (string | number)[]) =>
    message.captures.some((capture) => capture.name === 'method' && sameParent(capture.path, path));
  const ids = message.captures.filter((capture) => capture.name === RANGE.id && !isRequest(capture.path));
  const [first] = ids;
  if (!first) return undefined;
  if (first.path.length === 1) return errorAnswer(error, first.text);
  return Buffer.from(`[${ids.map(({ text }) => errorAnswer(error, text).toString('utf8')).join(',')}]`);
}

function sameParent(a: readonly (string | number)[], b: readonly (string | number)[]): boolean {
  return a.length === b.length && a.slice(0, -1).every((key, index) => key === b[index]);
}
