import type { Begun } from './page-data.js';
import { type Answer, request } from './request.js';
import { TEXTS } from './texts.js';
import { failure, Later, Refused, type Wire } from './wire.js';

const VERSION = { 'tus-resumable': '1.0.0', accept: 'application/json' };
/** Statuses that mean that the upload to continue is gone. */
const NOT_THERE = new Set([403, 404, 410]);

/**
 * Sends the file in as many requests as the network requires (tus 1.0.0): bytes that have arrived stay, so an upload
 * can pause and continue, even in a page that was opened again.
 * @param begun what an earlier page has left at this ticket
 */
export function tusWire(ticketUrl: string, begun: Begun | undefined): Wire {
  let url: string | undefined;
  let earlier = begun;
  return {
    keeps: true,
    async begin(file, signal) {
      if (earlier && isSame(file, earlier)) url ??= begunUrl(ticketUrl, earlier);
      const known = url === undefined ? undefined : await askOffset(url, signal);
      if (known && known.size === file.size) return { from: known.offset, isStored: known.offset === known.size };
      const other = url === undefined ? undefined : await askOffset(ticketUrl, signal);
      if (other && other.offset < other.size) {
        // another page has begun one since, which ended this one. Beginning again would end that one in turn, for ever.
        url = undefined;
        earlier = undefined;
        throw new Refused(TEXTS.elsewhere);
      }
      const headers = { ...VERSION, 'upload-length': String(file.size), 'upload-metadata': metadataOf(file) };
      const answer = await request({ method: 'POST', url: ticketUrl, headers, signal });
      if (answer.status !== 201) throw failure(answer);
      url = placeIn(answer, ticketUrl);
      // an empty file has no further bytes
      return { from: 0, isStored: file.size === 0 };
    },
    async send(file, from, onSent, signal) {
      if (url === undefined) throw new Error('nothing has begun');
      const answer = await request({
        method: 'PATCH',
        url,
        headers: { ...VERSION, 'content-type': 'application/offset+octet-stream', 'upload-offset': String(from) },
        body: file.slice(from),
        onSent: (bytes) => onSent(from + bytes),
        signal,
      });
      if (answer.status === 204) return;
      const why = failure(answer);
      // another page has continued it, or the server has more, less or nothing of it: ask again
      const isStale = answer.status === 409 || answer.status === 404;
      throw isStale && why instanceof Refused && why.closed === undefined ? new Later() : why;
    },
    async drop() {
      const gone = url;
      url = undefined;
      if (gone === undefined) return;
      await request({ method: 'DELETE', url: gone, headers: VERSION, signal: AbortSignal.timeout(10_000) });
    },
  };
}

/** True when this is the file that was begun, as far as name, size and time can show. */
export function isSame(file: File, { name, size, lastModified }: Begun): boolean {
  return file.name === name && file.size === size && file.lastModified === lastModified;
}

/** The offset of an upload; undefined when it does not exist. @throws Later, Lost, or the reason of `signal` */
export async function askOffset(
  url: string,
  signal: AbortSignal,
): Promise<{ offset: number; size: number } | undefined> {
  const answer = await request({ method: 'HEAD', url, headers: VERSION, signal });
  if (NOT_THERE.has(answer.status)) return undefined;
  const offset = numberIn(answer, 'upload-offset');
  const size = numberIn(answer, 'upload-length');
  if (answer.status >= 300 || offset === undefined || size === undefined) throw new Later();
  return { offset, size };
}

/** The address of an upload that has begun: the link's own means whichever is under way. */
export function begunUrl(ticketUrl: string, { upload = '' }: Begun): string {
  const url = new URL(ticketUrl);
  url.search = new URLSearchParams({ upload }).toString();
  url.hash = '';
  return url.href;
}

/** An upload's own address, which is on this server whatever the answer says. */
function placeIn(answer: Answer, ticketUrl: string): string {
  const place = new URL(answer.header('location') ?? ticketUrl, ticketUrl);
  if (place.origin !== location.origin) throw new Later();
  return place.href;
}

function numberIn(answer: Answer, name: string): number | undefined {
  const text = answer.header(name);
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function metadataOf({ name, type, lastModified }: File): string {
  const fields = [`filename ${toBase64(name)}`, `lastmodified ${toBase64(String(lastModified))}`];
  if (type !== '') fields.push(`filetype ${toBase64(type)}`);
  return fields.join(',');
}

function toBase64(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
}
