import { GatewayError } from '../errors.js';

/**
 * A short body as text.
 * @param most bytes
 * @param tooLong the error for a longer one
 */
export async function wholeText(
  bytes: AsyncIterable<Buffer>,
  most: number,
  tooLong: () => GatewayError,
): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of bytes) {
    size += piece.length;
    if (size > most) throw tooLong();
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** The short body of a request as text. @throws GatewayError `request_invalid`, with this reason for a longer one */
export function requestText(bytes: AsyncIterable<Buffer>, most: number, reason: string): Promise<string> {
  return wholeText(bytes, most, () => new GatewayError('request_invalid', { reason }));
}
