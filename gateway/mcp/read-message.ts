import { GatewayError } from '../errors.js';
import type { Limits } from '../policy/limits.js';
import type { JsonObject, JsonValue } from '../ports/json.js';

/** The parts of one client message that Wharf reads. */
export interface ReadMessage {
  /** As JSON text; undefined for a message that needs no answer. */
  id: string | undefined;
  method: string | undefined;
  params: JsonObject;
  /** The JSON text of its arguments, if they are too many to be parsed at once; `params` then lacks them. */
  heavyArguments?: Buffer;
  /** Of an answer: its result, where it is not an error and has been made. */
  result?: JsonValue;
}

const KINDS: Readonly<Record<string, string>> = {
  '[': 'an array',
  '{': 'an object',
  n: 'null',
  t: 'a boolean',
  f: 'a boolean',
};

/**
 * MCP: an id is a string or a number. An object has many spellings, and its answer could return another one.
 * @param first byte of its JSON text
 */
export function refuseOddId(first: number): void {
  const kind = KINDS[String.fromCharCode(first)];
  if (kind !== undefined) throw invalid(`an id is a string or a number, and this one is ${kind}`);
}

/** Bounds a batch, because each of its messages costs as much as a single one. @throws GatewayError `batch_too_long` */
export function refuseLongBatch(actual: number, { batch: allowed }: Pick<Limits, 'batch'>): void {
  if (actual > allowed) throw new GatewayError('batch_too_long', { limit: 'limits.batch', allowed, actual });
}

export function invalid(reason: string): GatewayError {
  return new GatewayError('request_invalid', { reason });
}
