import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../errors.js';
import { ReadAhead } from '../files/uploads/read-ahead.js';
import type { Limits, Timeouts } from '../policy/limits.js';
import { bodyPace } from './body.js';
import { Received } from './incoming/received.js';

/** Where `limits.held` is full an operator must still get in, and the admin port has so few connections that this is little. */
const UNCOUNTED = { add: () => undefined };

/** What a body is watched by. */
export interface BodyWatch {
  limits: Pick<Limits, 'leastRate'>;
  timeouts: Pick<Timeouts, 'idle' | 'grace'>;
}

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

/** Who sends a short body, and how long it may be. */
interface ShortBody {
  principal: string;
  most: number;
  /** Why a longer one is refused. */
  reason: string;
}

/**
 * The short body of a request as text. It must arrive fast enough: the admin port has few connections, which health needs too.
 * @throws GatewayError `request_invalid` for a longer one, `idle_timeout`, `body_too_slow`, `upload_incomplete`
 */
export async function requestText(
  incoming: IncomingMessage,
  { principal, most, reason }: ShortBody,
  { limits, timeouts }: BodyWatch,
): Promise<string> {
  const owner = { principal };
  const bytes = new Received(incoming, {
    owner,
    ahead: new ReadAhead(UNCOUNTED, owner),
    paceOf: (tooSlow) => bodyPace(incoming, { limits, timeouts }, tooSlow),
    signal: new AbortController().signal,
  });
  try {
    return await wholeText(bytes, most, () => new GatewayError('request_invalid', { reason }));
  } finally {
    bytes.close();
  }
}
