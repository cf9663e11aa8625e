import type { Readable } from 'node:stream';
import { readBuffered } from '../../../gateway/budget/memory/buffered.js';
import { GatewayError } from '../../../gateway/errors.js';
import { bodyFailure } from './failure.js';

/** The endpoint event comes first, and its data is a URI: without one by then, the server does not speak HTTP+SSE. */
const HEAD_BYTES = 16 * 1024;

const BOM = '\ufeff';

interface Found {
  data: string;
  /** Where the event begins, and the position after its blank line. */
  start: number;
  end: number;
}

/** Undefined while the head contains no complete `endpoint` event. One character per byte. */
function findEndpoint(head: string): Found | undefined {
  let start = 0;
  let event = '';
  let data: string[] = [];
  // A line ends with CRLF, LF or CR (WHATWG). A CR at the end of the bytes so far may be half of a CRLF.
  const line = /([^\r\n]*)(\r\n|\n|\r(?!$))/gy;
  for (let match = line.exec(head); match !== null; match = line.exec(head)) {
    const text = match[1] ?? '';
    if (text === '') {
      if (event === 'endpoint') return { data: data.join('\n'), start, end: line.lastIndex };
      start = line.lastIndex;
      event = '';
      data = [];
    } else if (text.startsWith('event:')) event = text.slice(6).replace(/^ /, '');
    else if (text.startsWith('data:')) data.push(text.slice(5).replace(/^ /, ''));
  }
  return undefined;
}

/**
 * Reads up to the `endpoint` event and returns its data. The event is removed; all other bytes so far, before and after
 * it, are put back for the next reader of the body.
 * @throws GatewayError `upstream_invalid` when there is no such event within 16 KiB, or the body's own failure
 */
export function readEndpoint(server: string, body: Readable): Promise<string> {
  return new Promise((resolve, reject) => {
    let head: Buffer = Buffer.alloc(0);
    // 'readable', not 'data': a stream that has once flowed must be paused, and its next reader would have to know that
    const stop = (): void => {
      body.off('readable', read);
      body.off('error', fail);
      body.off('end', ended);
      body.off('close', ended);
    };
    const fail = (error: Error): void => {
      stop();
      // a later failure has no other listener yet, and must not end the process
      body.on('error', () => undefined);
      body.destroy();
      reject(bodyFailure(server, error));
    };
    const ended = (): void => fail(new GatewayError('upstream_closed', { server }));
    const read = (): void => {
      const chunk = readBuffered(body);
      if (chunk === null) return;
      head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
      const bom = head.toString('latin1', 0, 3) === '\xef\xbb\xbf' ? 3 : 0;
      const found = findEndpoint(head.toString('latin1', bom, Math.min(head.length, HEAD_BYTES)));
      if (found === undefined) {
        if (head.length < HEAD_BYTES) return;
        const reason = `it sent no endpoint event within ${HEAD_BYTES} bytes`;
        fail(new GatewayError('upstream_invalid', { server, reason }));
        return;
      }
      stop();
      const rest = Buffer.concat([head.subarray(bom, bom + found.start), head.subarray(bom + found.end)]);
      if (rest.length > 0) body.unshift(rest);
      resolve(Buffer.from(found.data, 'latin1').toString('utf8').replace(BOM, ''));
    };
    // a stream that ended before there was a listener does not report it again
    if (body.destroyed) {
      fail(body.errored ?? new GatewayError('upstream_closed', { server }));
      return;
    }
    body.on('readable', read);
    body.on('error', fail);
    body.on('end', ended);
    body.on('close', ended);
  });
}
