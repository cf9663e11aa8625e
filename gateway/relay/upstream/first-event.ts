import type { Readable } from 'node:stream';
import { readBuffered } from '../../budget/buffered.js';
import { GatewayError } from '../../errors.js';

/** Bytes within which an event stream must show the type of its first event. */
const HEAD_BYTES = 16 * 1024;

const BOM = Buffer.from('\ufeff');

/**
 * The type of an event stream's first event, if it has one. All bytes read are put back for the next reader.
 * @param ms `timeouts.upstream`
 * @throws GatewayError `upstream_timeout`, `upstream_closed`, or the stream's own failure
 */
export function firstEventOf(body: Readable, server: string, ms: number): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    let head: Buffer = Buffer.alloc(0);
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
    const found = (event: string | undefined): void => {
      stop();
      if (head.length > 0) body.unshift(head);
      resolve(event);
    };
    const ended = (): void => fail(new GatewayError('upstream_closed', { server }));
    const read = (): void => {
      const chunk = readBuffered(body);
      if (chunk === null) return;
      head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
      const event = eventIn(head);
      if (event !== 'more') found(event.type);
      else if (head.length >= HEAD_BYTES) found(undefined);
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

/** An incomplete line is not interpreted yet. */
function eventIn(head: Buffer): { type: string | undefined } | 'more' {
  const start = head.subarray(0, BOM.length).equals(BOM) ? BOM.length : 0;
  const lines = head.toString('latin1', start, HEAD_BYTES).split(/\r\n|\n|\r/);
  for (const line of lines.slice(0, -1)) {
    if (line.startsWith('event:')) return { type: line.slice(6).trim() };
    if (line.startsWith('data')) return { type: undefined };
  }
  return 'more';
}
