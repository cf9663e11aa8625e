import type { Readable } from 'node:stream';
import type { PaceLimits } from '../../budget/pace.js';
import { serverPace } from './pump.js';

interface PacedOptions {
  /** Name of the server, for errors. */
  server: string;
  pace: PaceLimits;
  signal: AbortSignal;
}

/**
 * A body chunk by chunk, at the reader's pace: unread bytes stay with the sender. Leaving the loop early destroys it.
 * @throws GatewayError the body's failure; `idle_timeout`, `upstream_too_slow`; the signal's reason
 */
export async function* paced(body: Readable, { server, pace: limits, signal }: PacedOptions): AsyncGenerator<Buffer> {
  const pace = serverPace(server, limits, (error) => body.destroy(error));
  const aborted = () => body.destroy(signal.reason instanceof Error ? signal.reason : new Error('given up'));
  signal.addEventListener('abort', aborted, { once: true });
  pace.want();
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      pace.took(chunk.length);
      // the idle timer measures the sender only
      pace.rest();
      yield chunk;
      pace.want();
    }
  } finally {
    pace.end();
    signal.removeEventListener('abort', aborted);
  }
}

interface Prefix {
  bytes: Buffer;
  /** True when there are no further bytes. */
  complete: boolean;
  /** All bytes, including those already read. Can be read once. */
  all: AsyncIterable<Buffer>;
}

/** Reads ahead until more than `most` bytes have arrived. */
export async function prefixOf(source: AsyncGenerator<Buffer>, most: number): Promise<Prefix> {
  const read: Buffer[] = [];
  let size = 0;
  while (size <= most) {
    const next = await source.next();
    if (next.done) return { bytes: Buffer.concat(read), complete: true, all: joined(read, undefined) };
    read.push(next.value);
    size += next.value.length;
  }
  return { bytes: Buffer.concat(read), complete: false, all: joined(read, source) };
}

async function* joined(read: Buffer[], rest: AsyncGenerator<Buffer> | undefined): AsyncGenerator<Buffer> {
  try {
    yield* read;
    read.length = 0;
    if (rest) yield* rest;
  } finally {
    await rest?.return(undefined);
  }
}
