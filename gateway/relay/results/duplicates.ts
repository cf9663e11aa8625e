import { GatewayError } from '../../errors.js';
import type { HeldMessage } from '../../wire/json/reader.js';

/** JSON parsers differ on which of two equal keys counts, so the client could read another file. */
export function refuseDuplicates(message: HeldMessage): void {
  const [duplicate] = message.duplicates;
  if (duplicate) throw new GatewayError('file_key_duplicate', { path: duplicate.path, key: duplicate.key });
}
