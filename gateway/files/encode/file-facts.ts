import { createHash } from 'node:crypto';
import { cleanFileName } from '../names/file-name.js';
import { OCTET_STREAM, parseMediaType } from '../names/media-type.js';
import type { FileSource } from './encoder.js';
import { wholeFile } from './whole-file.js';

/** RFC 6838 §4.2: 127 characters on either side of the slash. */
export const MAX_MEDIA_TYPE = 255;
/** Characters of a SHA-256 in hexadecimal. */
export const SHA256_HEX = 64;

/**
 * Type and subtype only: parameters, or anything else that a peer wrote there, would be read as part of what follows.
 */
export function mediaTypeOfSource(file: FileSource): string {
  return parseMediaType(file.mimeType)?.essence ?? OCTET_STREAM;
}

/** Empty for a file without a name. */
export function nameOfSource(file: FileSource): string {
  return cleanFileName(file.name, '');
}

/** SHA-256 in hexadecimal, in the spelling of `sha256sum`. */
export async function sha256Of(file: FileSource): Promise<string> {
  if (file.digest !== undefined) return Buffer.from(file.digest, 'base64url').toString('hex');
  const hash = createHash('sha256');
  for await (const chunk of wholeFile(file)) hash.update(chunk);
  return hash.digest('hex');
}
