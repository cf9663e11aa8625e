import type { Readable } from 'node:stream';
import { GatewayError } from '../errors.js';

export interface PacedOptions {
  /** Name of the server, for errors. */
  server: string;
  /** `timeouts.idle` */
  idleMs: number;
  signal: AbortSignal;
}

/**
 * A body chunk by chunk, at the reader's pace: what is not read yet stays with the sender. Leaving the loop early
 * destroys it.
 * @throws GatewayError what the body failed with; `idle_timeout`; the signal's reason
 */
export async function* paced(body: Readable, { server, idleMs, signal }: PacedOptions): AsyncGenerator<Buffer> {
  const silent = () =>
    body.destroy(new GatewayError('idle_timeout', { server, limit: 'timeouts.idle', allowed: idleMs }));
  const aborted = () => body.destroy(signal.reason instanceof Error ? signal.reason : new Error('given up'));
  let timer = setTimeout(silent, idleMs);
  signal.addEventListener('abort', aborted, { once: true });
  try {
    for await (const chunk of body) {
      clearTimeout(timer);
      yield chunk as Buffer;
      // a slow reader is no silence of the sender's
      timer = setTimeout(silent, idleMs);
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', aborted);
  }
}

export interface Prefix {
  bytes: Buffer;
  /** There is no more. */
  complete: boolean;
  /** All bytes, the ones that have been read among them. Can be read once. */
  all: AsyncIterable<Buffer>;
}

/** Reads ahead, until more than `most` bytes have come. */
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
