import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../../../gateway/errors.js';
import { bodyFailure } from './failure.js';

/** The endpoint comes first, and it is a URI: whoever has not named it by then is not an HTTP+SSE server. */
const HEAD_BYTES = 16 * 1024;

const BOM = '\ufeff';

interface Found {
  data: string;
  /** Where the event begins and where the byte after its blank line stands. */
  start: number;
  end: number;
}

/** Undefined as long as the head holds no complete `endpoint` event. One character per byte. */
function findEndpoint(head: string): Found | undefined {
  let start = 0;
  let event = '';
  let data: string[] = [];
  // A line ends with CRLF, LF or CR (WHATWG). A CR at the end of what has arrived may still be half a CRLF.
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
 * Reads up to the `endpoint` event and gives its data. The event is taken out; all other bytes that have arrived,
 * before and after it, are put back, so that the next reader of the body begins with them.
 * @throws GatewayError `upstream_invalid` when there is none within 16 KiB, or the body's own failure
 */
export function readEndpoint(server: string, body: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let head: Buffer = Buffer.alloc(0);
    // 'readable', not 'data': a stream that once flowed has to be paused, and then its next reader would have to know
    const stop = (): void => {
      body.off('readable', read);
      body.off('error', fail);
      body.off('end', ended);
      body.off('close', ended);
    };
    const fail = (error: Error): void => {
      stop();
      // a failure that arrives later has no other listener yet, and must not end the process
      body.on('error', () => undefined);
      body.destroy();
      reject(bodyFailure(server, error));
    };
    const ended = (): void => fail(new GatewayError('upstream_closed', { server }));
    const read = (): void => {
      const chunk = body.read() as Buffer | null;
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
    // what ended before anybody listened says so never again
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
