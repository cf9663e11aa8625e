import type { Readable } from 'node:stream';
import { readBuffered } from '../../budget/buffered.js';
import { GatewayError } from '../../errors.js';
import { GatheredBytes } from '../cut/gathered-bytes.js';

/** Bytes within which an event stream must show the type of its first event. */
const HEAD_BYTES = 16 * 1024;

/** As latin1. */
const BOM = '\u00ef\u00bb\u00bf';

/**
 * The type of an event stream's first event, if it has one. All bytes read are put back for the next reader.
 * @param ms `timeouts.upstream`
 * @throws GatewayError `upstream_timeout`, `upstream_closed`, or the stream's own failure
 */
export function firstEventOf(body: Readable, server: string, ms: number): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const head = new GatheredBytes();
    const lines = new FirstLines();
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
      if (head.size > 0) body.unshift(head.whole());
      resolve(event);
    };
    const ended = (): void => fail(new GatewayError('upstream_closed', { server }));
    const read = (): void => {
      const chunk = readBuffered(body);
      if (chunk === null) return;
      head.add(chunk);
      const event = lines.take(chunk);
      if (event !== 'more') found(event.type);
      else if (head.size >= HEAD_BYTES) found(undefined);
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

/** Reads the lines of a head as they come, each byte once: a server may send it byte by byte. */
class FirstLines {
  /** What has come of a line. An incomplete one is not interpreted yet. */
  #line = '';
  #isFirst = true;
  #read = 0;

  take(chunk: Buffer): { type: string | undefined } | 'more' {
    const [begin = '', ...others] = chunk.toString('latin1', 0, HEAD_BYTES - this.#read).split(/\r\n|\n|\r/);
    this.#read += chunk.length;
    this.#line += begin;
    for (const next of others) {
      const event = this.#eventIn(this.#line);
      if (event) return event;
      this.#line = next;
    }
    return 'more';
  }

  #eventIn(whole: string): { type: string | undefined } | undefined {
    const line = this.#isFirst && whole.startsWith(BOM) ? whole.slice(BOM.length) : whole;
    this.#isFirst = false;
    if (line.startsWith('event:')) return { type: line.slice(6).trim() };
    return line.startsWith('data') ? { type: undefined } : undefined;
  }
}
