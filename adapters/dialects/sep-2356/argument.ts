import type { ArgumentReading, JsonValue } from '../../../gateway/ports/dialect.js';
import type { FileSlot } from '../../../gateway/ports/file-slot.js';

/** Without colons, so no URI. Base64 may be in lines. */
const LOOKS_LIKE_BASE64 = /^[\w+/=\s-]+$/;

/** An argument that a server declared as a URI never took bare base64; accepting it would make every word a file. */
export function readArgument(value: JsonValue, slot: FileSlot): ArgumentReading | undefined {
  if (slot.declaredBy !== 'sep-2356' || typeof value !== 'string' || !LOOKS_LIKE_BASE64.test(value)) return undefined;
  return { kind: 'invalid', reason: 'malformedUri', text: 'is neither a file handle nor a data: URI' };
}
