import { type BinaryLike, createHash } from 'node:crypto';

/** The SHA-256 of some bytes, in hexadecimal as `sha256sum` prints it. */
export const sha256 = (bytes: BinaryLike): string => createHash('sha256').update(bytes).digest('hex');

/** The SHA-256 of some bytes as a FileValue's `digest.value` spells it. */
export const sha256Url = (bytes: BinaryLike): string => createHash('sha256').update(bytes).digest('base64url');

/** An API key as `auth.keys[].hash` takes it. */
export const keyHash = (key: string): string => `sha256:${sha256(key)}`;

/** The SHA-256 of some bytes as a file's record and `_meta` spell it. */
export const recordDigest = (bytes: BinaryLike): string => `sha-256:${sha256Url(bytes)}`;

let drawn = 0;

/** Bytes without a pattern, the same in every run: each call of a suite gives other ones. */
export function someBytes(length: number): Buffer {
  drawn += 1;
  return createHash('shake256', { outputLength: length }).update(`bytes ${drawn}`).digest();
}
