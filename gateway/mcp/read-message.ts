import { GatewayError } from '../errors.js';
import type { Limits } from '../policy/limits.js';
import { folded, readInC } from '../policy/pattern.js';
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

/**
 * MCP: `params` is an object. Of a list each server would take what it likes, and Wharf could judge none of it.
 * @param first byte of its JSON text, which is not an object's
 */
export function refuseOddParams(first: number): void {
  const kind = String.fromCharCode(first);
  // some clients write null for none
  if (kind !== 'n') throw invalid(`params is an object, and these are ${KINDS[kind] ?? 'a text or a number'}`);
}

/** For a method that is a list, say, of which a server may make a text. */
export function oddMethod(): GatewayError {
  return invalid('a method is a text');
}

/** Requests by which Wharf judges what a client may do. */
const JUDGED: ReadonlySet<string> = new Set([
  'initialize',
  'tools/call',
  'tools/list',
  'prompts/get',
  'prompts/list',
  'resources/list',
  'resources/read',
  'resources/subscribe',
  'resources/templates/list',
  'resources/unsubscribe',
  'tasks/cancel',
  'tasks/get',
  'tasks/list',
  'tasks/result',
  'tasks/update',
]);

/** No method is longer, and one of megabytes would be folded for long. */
const LONGEST_METHOD = 1000;

/**
 * A request without an id needs no answer, and a server may do it all the same; one under another spelling of its method may
 * be the same to a server. Neither would be judged as what it is.
 * @param id undefined of a message that needs no answer
 * @throws GatewayError `request_invalid`
 */
export function refuseOddMethod(method: string, id: string | undefined): void {
  if (JUDGED.has(method)) {
    if (id === undefined) throw invalid(`${method} is a request, and this one has no id`);
    return;
  }
  if (method.length > LONGEST_METHOD) throw invalid(`a method has at most ${LONGEST_METHOD} characters`);
  const meant = folded(readInC(method));
  if (meant !== method && JUDGED.has(meant)) throw invalid(`its method is another spelling of "${meant}"`);
}

/** Bounds a batch, because each of its messages costs as much as a single one. @throws GatewayError `batch_too_long` */
export function refuseLongBatch(actual: number, { batch: allowed }: Pick<Limits, 'batch'>): void {
  if (actual > allowed) throw new GatewayError('batch_too_long', { limit: 'limits.batch', allowed, actual });
}

/** @param reason what is wrong with the message, for the caller */
export function invalid(reason: string): GatewayError {
  return new GatewayError('request_invalid', { reason });
}
