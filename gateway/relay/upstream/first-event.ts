import type { Readable } from 'node:stream';
import { GatewayError } from '../../errors.js';
import { PEEK_BYTES, peek } from './peek.js';

/** As latin1. */
const BOM = '\u00ef\u00bb\u00bf';

/**
 * The type of an event stream's first event, if it has one. All bytes read are put back for the next reader.
 * @param ms `timeouts.upstream`
 * @throws GatewayError `upstream_timeout`, `upstream_closed`, or the stream's own failure
 */
export async function firstEventOf(body: Readable, server: string, ms: number): Promise<string | undefined> {
  const lines = new FirstLines();
  const event = await peek(body, { server, ms }, (chunk) => lines.take(chunk));
  if (event === 'ended') throw new GatewayError('upstream_closed', { server });
  return event === 'more' ? undefined : event.type;
}

/** Reads the lines of a head as they come, each byte once: a server may send it byte by byte. */
class FirstLines {
  /** What has come of a line. An incomplete one is not interpreted yet. */
  #line = '';
  #isFirst = true;
  #read = 0;

  take(chunk: Buffer): { type: string | undefined } | 'more' {
    const [begin = '', ...others] = chunk.toString('latin1', 0, PEEK_BYTES - this.#read).split(/\r\n|\n|\r/);
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
