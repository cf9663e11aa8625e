import { isObject } from '../../../gateway/json/value.js';
import { sizeText } from '../../../gateway/policy/amounts.js';
import type { ClientFacts } from '../../../gateway/ports/client.js';
import type { FileRefusal, JsonObject, JsonValue } from '../../../gateway/ports/dialect.js';
import { NAME_OF_REASON, REASON_OF_NAME } from './reasons.js';
import { knowsSidecar } from './sidecar.js';

const INVALID_PARAMS = -32602;

/** How much of a server's own text is repeated. */
const MAX_WORDS = 500;

/** Clients of the early revisions get a JSON-RPC error; a reason that these do not define stays a tool error. */
export function refuse(
  { reason, argument, text, maxSize, actualSize, accept, actualType }: FileRefusal,
  client: ClientFacts,
): { code: number; message: string; data: JsonObject } | undefined {
  const name = NAME_OF_REASON.get(reason);
  if (name === undefined || !knowsSidecar(client)) return undefined;
  const data: JsonObject = {
    reason: name,
    argument,
    ...(maxSize !== undefined && { maxSize }),
    ...(actualSize !== undefined && { receivedSize: actualSize }),
    ...(accept && { accept: [...accept] }),
    ...(actualType !== undefined && { receivedType: actualType }),
  };
  return { code: INVALID_PARAMS, message: text, data };
}

/** A server's own refusal: a JSON-RPC error, or (2026-04-22) a tool error with the reason in structuredContent. */
export function readRefusal(answer: { error: JsonObject } | { result: JsonObject }): FileRefusal | undefined {
  if ('error' in answer) {
    const { code, message, data } = answer.error;
    return code === INVALID_PARAMS ? refusalOf(data, message) : undefined;
  }
  const { isError, structuredContent, content } = answer.result;
  const [block] = Array.isArray(content) ? content : [];
  return isError === true ? refusalOf(structuredContent, isObject(block) ? block.text : undefined) : undefined;
}

function refusalOf(data: JsonValue | undefined, words: JsonValue | undefined): FileRefusal | undefined {
  if (!isObject(data)) return undefined;
  const { argument, maxSize, receivedSize } = data;
  const reason = REASON_OF_NAME.get(data.reason);
  if (reason === undefined || typeof argument !== 'string') return undefined;
  const said = typeof words === 'string' && words !== '' ? `: ${words.slice(0, MAX_WORDS)}` : '';
  const sizes = [
    ...(typeof receivedSize === 'number' ? [`it has ${sizeText(receivedSize)}`] : []),
    ...(typeof maxSize === 'number' ? [`at most ${sizeText(maxSize)} allowed`] : []),
  ];
  const numbers = sizes.length > 0 ? ` (${sizes.join('; ')})` : '';
  return {
    reason,
    argument,
    text: `Argument '${argument}' was refused by the server${said}${numbers}`,
    ...(typeof maxSize === 'number' && { maxSize }),
    ...(typeof receivedSize === 'number' && { actualSize: receivedSize }),
  };
}
