import { GatewayError } from '../errors.js';
import type { Limits } from '../policy/limits.js';
import type { JsonObject } from '../ports/json.js';

/** One message of a client's, as far as Wharf reads it. */
export interface ReadMessage {
  /** As JSON text; undefined for what wants no answer. */
  id: string | undefined;
  method: string | undefined;
  params: JsonObject;
  /** The JSON text of its arguments, where they are too many to be made at once; `params` lacks them then. */
  heavyArguments?: Buffer;
}

const KINDS: Readonly<Record<string, string>> = {
  '[': 'an array',
  '{': 'an object',
  n: 'null',
  t: 'a boolean',
  f: 'a boolean',
};

/**
 * MCP: an id is a string or a number. An object has many spellings, and its answer could come back in another one.
 * @param first byte of its JSON text
 */
export function refuseOddId(first: number): void {
  const kind = KINDS[String.fromCharCode(first)];
  if (kind !== undefined) throw invalid(`an id is a string or a number, and this one is ${kind}`);
}

/** Each message of a batch costs what one alone does. @throws GatewayError `batch_too_long` */
export function refuseLongBatch(actual: number, { batch: allowed }: Pick<Limits, 'batch'>): void {
  if (actual > allowed) throw new GatewayError('batch_too_long', { limit: 'limits.batch', allowed, actual });
}

export function invalid(reason: string): GatewayError {
  return new GatewayError('request_invalid', { reason });
}
