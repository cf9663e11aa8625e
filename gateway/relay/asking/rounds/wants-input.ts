import { GatewayError } from '../../../errors.js';
import { mayHoldWord } from '../../../json/may-hold-word.js';
import { isObject } from '../../../json/value.js';
import { RANGE, rangeAt } from '../../../mcp/ranges.js';
import { contrast } from '../../../policy/amounts.js';
import type { Limits } from '../../../policy/limits.js';
import type { JsonObject, JsonValue } from '../../../ports/json.js';
import { parseJson } from '../../../wire/json/parse.js';
import type { EditableAnswer } from '../../pending-request.js';

/** The `resultType` of a server that wants its client's person, or model, to say something first (SEP-2322). */
export const INPUT_REQUIRED = 'input_required';

/** Bytes of a result that wants input: a client keeps some of it in its `requestState`. */
export const MOST_QUESTIONS = 256 * 1024;

/** Bytes of a `resultType`, as JSON text, that may be this one. */
const MOST_TYPE = 100;

/**
 * A result that wants input; undefined for any other.
 * @param mustRead it cannot pass as it came @throws GatewayError `upstream_invalid`
 */
export function inputRequired(
  { message, base }: EditableAnswer,
  { values }: Pick<Limits, 'values'>,
  mustRead: boolean,
): JsonObject | undefined {
  const type = rangeAt(message, RANGE.resultType, [...base, 'result', 'resultType']);
  const range = rangeAt(message, RANGE.result, [...base, 'result']);
  if (!type || !range || type.end - type.start > MOST_TYPE) return undefined;
  // JSON parsers take the last one, and this range is the first
  const twice = message.duplicates.find(({ key }) => key === 'result' || key === 'resultType');
  if (twice) throw new GatewayError('upstream_invalid', { reason: `its answer names "${twice.key}" twice` });
  if (JSON.parse(message.slice(type.start, type.end).toString('utf8')) !== INPUT_REQUIRED) return undefined;
  const bytes = message.slice(range.start, range.end);
  // a request to the model may have long images
  if (bytes.length > MOST_QUESTIONS || range.values > values) {
    if (!mustRead && !mayHoldWord(bytes, 'elicitation')) return undefined;
    const { allowed, actual } = contrast(MOST_QUESTIONS, bytes.length);
    const excess = bytes.length > MOST_QUESTIONS ? `${allowed}: ${actual}` : `limits.values = ${values} values`;
    throw new GatewayError('upstream_invalid', { reason: `it asks for input with more than ${excess}` });
  }
  const result = parseJson(bytes.toString('utf8')) as JsonValue;
  return isObject(result) ? result : undefined;
}

/** Whether a message may be such a result. */
export function mayWantInput(message: Buffer): boolean {
  return mayHoldWord(message, INPUT_REQUIRED);
}
