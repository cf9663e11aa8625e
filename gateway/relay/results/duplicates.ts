import { GatewayError } from '../../errors.js';

/**
 * JSON parsers differ on which of two equal keys counts, so the client or the server could read another file.
 * @param duplicates repeated keys, each with the JSON Pointer of its object
 * @throws GatewayError `file_key_duplicate`
 */
export function refuseDuplicates({ duplicates }: { duplicates: readonly { path: string; key: string }[] }): void {
  const [duplicate] = duplicates;
  if (duplicate) throw new GatewayError('file_key_duplicate', { path: duplicate.path, key: duplicate.key });
}
