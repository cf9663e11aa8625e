import type { ArgumentReading, JsonValue } from '../../../gateway/ports/dialect.js';
import type { FileSlot } from '../../../gateway/ports/file-slot.js';
import { refuseBareBase64 } from '../common/bare-base64.js';

export function readArgument(value: JsonValue, slot: FileSlot): ArgumentReading | undefined {
  return slot.declaredBy === 'sep-2356' ? refuseBareBase64(value) : undefined;
}
