import { declaredEncoding, type Encoding } from '../../../gateway/encodings.js';
import { isAnyType } from '../../../gateway/policy/accept.js';
import type { JsonObject, JsonValue } from '../../../gateway/ports/dialect.js';
import type { FileSlot } from '../../../gateway/ports/file-slot.js';
import { eachArgument } from '../../../gateway/schema/walk.js';

/**
 * Arguments that declare their content themselves: JSON Schema's `contentEncoding: base64`, the other encodings of RFC
 * 4648 that Wharf writes, and Pydantic's `format: base64` are certain, so they need no configuration.
 */
export function slotsOf({ inputSchema }: JsonObject): FileSlot[] {
  const slots: FileSlot[] = [];
  eachArgument(inputSchema, ({ schema, path }) => {
    const encoding = declaredEncoding(schema);
    if (encoding) slots.push(slot(path, encoding, schema));
    return encoding !== undefined;
  });
  return slots;
}

function slot(path: readonly string[], encoding: Encoding, { contentMediaType, maxLength }: JsonObject): FileSlot {
  const maxSize = largestIn(maxLength, encoding);
  return {
    path,
    declaredBy: 'mcp-inline',
    deliveries: [{ kind: 'encoded', encoding }],
    companions: {},
    // an annotation of JSON Schema; a type that means "some bytes" restricts nothing
    ...(typeof contentMediaType === 'string' && !isAnyType(contentMediaType) && { accept: [contentMediaType] }),
    ...(maxSize !== undefined && { maxSize }),
  };
}

/** The largest file whose text, as Wharf writes it, has at most so many characters. */
function largestIn(maxLength: JsonValue | undefined, encoding: Encoding): number | undefined {
  if (typeof maxLength !== 'number' || !Number.isSafeInteger(maxLength) || maxLength < 4) return undefined;
  if (encoding === 'hex') return Math.floor(maxLength / 2);
  return encoding === 'base64url' ? Math.floor((maxLength * 3) / 4) : Math.floor(maxLength / 4) * 3;
}
