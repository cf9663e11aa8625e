import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../errors.js';
import { ReadAhead } from '../files/uploads/read-ahead.js';
import type { Limits, Timeouts } from '../policy/limits.js';
import { bodyPace } from './body.js';
import { Received } from './incoming/received.js';

/**
 * Where `limits.held` is full an operator must still get in, and the admin port has so few connections that this is little.
 * What is dropped as it comes takes no more than a packet.
 */
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
  /** Ends it with the signal's reason. */
  signal?: AbortSignal | undefined;
}

/**
 * The short body of a request as text. It must arrive fast enough: the admin port has few connections, which health needs too.
 * @throws GatewayError `request_invalid` for a longer one, `idle_timeout`, `body_too_slow`, `upload_incomplete`
 */
export function requestText(incoming: IncomingMessage, body: ShortBody, watch: BodyWatch): Promise<string> {
  return readIn(incoming, body, watch, (bytes) => wholeText(bytes, body.most, () => tooLong(body)));
}

/**
 * Reads the short body of a request that has no use for it, and keeps nothing of it.
 * @throws GatewayError as `requestText`
 */
export function dropBody(incoming: IncomingMessage, body: ShortBody, watch: BodyWatch): Promise<void> {
  return readIn(incoming, body, watch, async (bytes) => {
    let size = 0;
    for await (const { length } of bytes) {
      size += length;
      if (size > body.most) throw tooLong(body);
    }
  });
}

function tooLong({ reason }: ShortBody): GatewayError {
  return new GatewayError('request_invalid', { reason });
}

async function readIn<T>(
  incoming: IncomingMessage,
  { principal, signal = new AbortController().signal }: ShortBody,
  { limits, timeouts }: BodyWatch,
  read: (bytes: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T> {
  const owner = { principal };
  const bytes = new Received(incoming, {
    owner,
    ahead: new ReadAhead(UNCOUNTED, owner),
    paceOf: (tooSlow) => bodyPace(incoming, { limits, timeouts }, tooSlow),
    signal,
  });
  try {
    return await read(bytes);
  } finally {
    bytes.close();
  }
}
