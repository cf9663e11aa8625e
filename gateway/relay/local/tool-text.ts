import { GatewayError } from '../../errors.js';
import type { JsonObject } from '../../ports/json.js';
import { FILE_ERROR_META_KEY } from '../cut/places.js';

/** A block of text in a tool's result. */
export function text(words: string): JsonObject {
  return { type: 'text', text: words };
}

/**
 * A failed call in words that a model can act on. Without structuredContent, which clients validate against the schema.
 */
export function failedCall(words: string, facts: JsonObject): JsonObject {
  return { content: [text(words)], isError: true, _meta: { [FILE_ERROR_META_KEY]: facts } };
}

/**
 * Turns an error that the caller can correct into a failed call.
 * @param told hears of it
 * @throws any other error unchanged
 */
export function refusedCall(thrown: unknown, told: (error: GatewayError) => void): JsonObject {
  if (!(thrown instanceof GatewayError)) throw thrown;
  const failed = failedBy(thrown);
  if (!failed) throw thrown;
  told(thrown);
  return failed;
}

function failedBy(thrown: GatewayError): JsonObject | undefined {
  const { reason, allowed, actual, accept } = thrown.facts;
  switch (thrown.code) {
    case 'upload_invalid':
      return failedCall(thrown.message, { reason: String(reason) });
    case 'upload_too_large':
      return failedCall(thrown.message, {
        reason: String(reason),
        maxSize: Number(allowed),
        actualSize: Number(actual),
      });
    case 'upload_type_refused':
      return failedCall(thrown.message, {
        reason: String(reason),
        accept: [accept].flat().map(String),
        actualType: String(actual),
      });
    default:
      return undefined;
  }
}
