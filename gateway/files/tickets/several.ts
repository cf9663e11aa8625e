import { type ErrorFacts, GatewayError } from '../../errors.js';
import type { FileRecord } from '../file.js';

/** How many files a link takes, where that is not one. */
export interface Several {
  least: number;
  most: number;
  /** Bytes of all of them together, and the name of the setting behind it; absent: each for itself. */
  together?: { bytes: number; limit: string };
}

/** @throws GatewayError `upload_several_refused` */
export function checkSeveral({ least, most, together }: Several, files: readonly Pick<FileRecord, 'size'>[]): void {
  if (files.length < least) throw severalRefused('tooFewFiles', least, files.length);
  if (files.length > most) throw severalRefused('tooManyFiles', most, files.length);
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (together && bytes > together.bytes)
    throw severalRefused('maxSizeExceeded', together.bytes, bytes, together.limit);
}

/** @param allowed files, or bytes with `maxSizeExceeded`; so is `actual` */
export function severalRefused(
  reason: 'tooManyFiles' | 'tooFewFiles' | 'maxSizeExceeded' | 'uploadIncomplete',
  allowed: number,
  actual: number,
  limit?: string,
): GatewayError {
  return new GatewayError('upload_several_refused', {
    reason,
    allowed,
    actual,
    ...(limit !== undefined && { limit }),
  });
}

/** How many files are lacking, by the facts of a `file_missing`; undefined where it is one. */
export function severalIn({ minFiles, maxFiles, maxTogether, togetherLimit }: ErrorFacts): Several | undefined {
  if (maxFiles === undefined) return undefined;
  return {
    least: Number(minFiles),
    most: Number(maxFiles),
    ...(maxTogether !== undefined && { together: { bytes: Number(maxTogether), limit: String(togetherLimit) } }),
  };
}
