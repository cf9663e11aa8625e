import { isAnyType } from '../../../gateway/policy/accept.js';
import type { JsonObject, JsonValue } from '../../../gateway/ports/dialect.js';
import type { FileSlot } from '../../../gateway/ports/file-slot.js';
import { eachArgument } from '../../../gateway/schema/walk.js';

/**
 * Arguments that declare their content themselves: JSON Schema's `contentEncoding: base64` is certain, so it needs no
 * configuration.
 */
export function slotsOf({ inputSchema }: JsonObject): FileSlot[] {
  const slots: FileSlot[] = [];
  eachArgument(inputSchema, ({ schema, path }) => {
    const isFile = isBase64(schema.contentEncoding);
    if (isFile) slots.push(slot(path, schema));
    return isFile;
  });
  return slots;
}

/** RFC 2045, which JSON Schema refers to: names of encodings in any case. */
function isBase64(encoding: JsonValue | undefined): boolean {
  return typeof encoding === 'string' && encoding.toLowerCase() === 'base64';
}

function slot(path: readonly string[], { contentMediaType: mediaType, maxLength }: JsonObject): FileSlot {
  const maxSize = largestIn(maxLength);
  return {
    path,
    declaredBy: 'mcp-inline',
    deliveries: [{ kind: 'encoded', encoding: 'base64' }],
    companions: {},
    // an annotation of JSON Schema; a type that means "some bytes" restricts nothing
    ...(typeof mediaType === 'string' && !isAnyType(mediaType) && { accept: [mediaType] }),
    ...(maxSize !== undefined && { maxSize }),
  };
}

/** The largest file whose padded base64 has at most so many characters. */
function largestIn(maxLength: JsonValue | undefined): number | undefined {
  if (typeof maxLength !== 'number' || !Number.isSafeInteger(maxLength) || maxLength < 4) return undefined;
  return Math.floor(maxLength / 4) * 3;
}
