import type { Readable } from 'node:stream';
import { readBuffered } from '../../budget/memory/buffered.js';
import { GatewayError } from '../../errors.js';
import { GatheredBytes } from '../cut/gathered-bytes.js';

/** Bytes within which a body must show what it is. */
export const PEEK_BYTES = 16 * 1024;

/**
 * Reads the beginning of a body until it shows what it is. All bytes read are put back for the next reader, unless the
 * body ended first.
 * @param ms `timeouts.upstream`
 * @param take sees each chunk, and all bytes so far, until it returns something else than `more`
 * @returns `more` when the first 16 KiB did not show it
 * @throws GatewayError `upstream_timeout`, `upstream_closed`, or the body's own failure
 */
export function peek<Found>(
  body: Readable,
  { server, ms }: { server: string; ms: number },
  take: (chunk: Buffer, all: GatheredBytes) => Found | 'more',
): Promise<Found | 'more' | 'ended'> {
  return new Promise((resolve, reject) => {
    const head = new GatheredBytes();
    const stop = (): void => {
      clearTimeout(timer);
      body.off('readable', read);
      body.off('error', fail);
      body.off('end', ended);
      body.off('close', closed);
    };
    const fail = (error: unknown): void => {
      stop();
      body.on('error', () => undefined);
      body.destroy();
      reject(error);
    };
    const closed = (): void => fail(body.errored ?? new GatewayError('upstream_closed', { server }));
    const found = (what: Found | 'more'): void => {
      stop();
      if (head.size > 0) body.unshift(head.whole());
      resolve(what);
    };
    const ended = (): void => {
      stop();
      resolve('ended');
    };
    const read = (): void => {
      const chunk = readBuffered(body);
      if (chunk === null) return;
      head.add(chunk);
      const what = take(chunk, head);
      if (what !== 'more' || head.size >= PEEK_BYTES) found(what);
    };
    const timer = setTimeout(
      () => fail(new GatewayError('upstream_timeout', { server, limit: 'timeouts.upstream', allowed: ms })),
      ms,
    );
    // a stream that ended before there was a listener does not report it again
    if (body.destroyed) return closed();
    body.on('readable', read);
    body.on('error', fail);
    body.on('end', ended);
    body.on('close', closed);
  });
}
