import { isObject } from '../json/value.js';
import type { JsonObject, JsonValue } from '../ports/json.js';
import type { SpanFailure } from '../ports/telemetry.js';
import { parseJson } from '../wire/json/parse.js';
import { weigh } from '../wire/json/weigh.js';
import { fromPeer, OTHER } from './words.js';

/** Most bytes of an answer that is read only for its telemetry. An error is short; so is a result whose files are cut out. */
export const MAX_READ_BYTES = 128 * 1024;

/** Most values of one, which cost up to 12 µs each. */
const LIGHT = { depth: 100, values: 5000 };

/** How the conventions call the result of a tool that has failed. */
const TOOL_ERROR = 'tool_error';

/** How a request was answered. */
export interface Outcome {
  readonly failure?: SpanFailure | undefined;
  /** JSON-RPC's code of an error. */
  readonly status?: string | undefined;
  /** Wharf's own code, where it has answered instead of the server. */
  readonly code?: string | undefined;
}

/** A request that was answered without an error. */
export const GOOD: Outcome = {};

/** What a JSON-RPC error is in telemetry. Its message may be a server's own words, with anything in them. */
export function failed(code: number, message: string | undefined): Outcome {
  return { failure: { type: String(code), message: message && fromPeer(message) }, status: String(code) };
}

/** How answers end their requests, by their ids as JSON text. Only what may be a failure is read. */
export function outcomesIn(text: Buffer): ReadonlyMap<string, Outcome> {
  const found = new Map<string, Outcome>();
  const mayHaveFailed = text.includes('"error"') || text.includes('"isError"');
  if (!mayHaveFailed || weigh(text, LIGHT) !== 'light') return found;
  for (const message of messagesIn(text)) {
    if (!isObject(message)) continue;
    const { id, error, result } = message;
    const key = JSON.stringify(id ?? null);
    if (isObject(error) && typeof error.code === 'number')
      found.set(key, failed(error.code, typeof error.message === 'string' ? error.message : undefined));
    else if (isObject(result) && result.isError === true) found.set(key, { failure: { type: TOOL_ERROR } });
  }
  return found;
}

/** Codes of JSON-RPC, of MCP in any version, and of its SDKs. */
const CODES: ReadonlySet<string> = new Set([
  ...['-32700', '-32600', '-32601', '-32602', '-32603'],
  ...['-32000', '-32001', '-32002', '-32020', '-32021', '-32022', '-32042'],
]);

/** A server chooses its codes: those of JSON-RPC and MCP count by themselves. */
export function boundedType(type: string): string {
  return CODES.has(type) || /^[a-z][a-z_]*$/.test(type) ? type : OTHER;
}

/** A message that asks its reader for something; undefined for any other. Only what may be one is read. */
export function requestIn(text: Buffer): { id: string; method: string; params: JsonObject } | undefined {
  if (!text.includes('"method"') || !text.includes('"id"') || weigh(text, LIGHT) !== 'light') return undefined;
  const [message, ...others] = messagesIn(text);
  if (others.length > 0 || !isObject(message)) return undefined;
  const { id, method, params } = message;
  if ((typeof id !== 'string' && typeof id !== 'number') || typeof method !== 'string') return undefined;
  return { id: JSON.stringify(id), method, params: isObject(params) ? params : {} };
}

/** The messages of a body: JSON, or the events of a stream that is complete. */
function messagesIn(text: Buffer): JsonValue[] {
  const written = text.toString('utf8');
  // a dot would stop at U+2028, which JSON may hold
  const texts = /^\s*[[{]/.test(written)
    ? [written]
    : [...written.matchAll(/^data: ?([^\r\n]+)/gm)].map(([, data]) => data);
  return texts.flatMap((one) => {
    try {
      const value = parseJson(one ?? '') as JsonValue;
      return Array.isArray(value) ? value : [value];
    } catch {
      // malformed: its client learns of that
      return [];
    }
  });
}
