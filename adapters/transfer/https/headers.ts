import { FIELD_NAME, FIELD_VALUE } from '../../http/fields.js';

/** More than any descriptor needs; servers take heads of 8 to 16 KiB. */
const MAX_HEADERS = 64;
const MAX_HEADER_BYTES = 8192;

/**
 * Headers for framing, for the connection, for the target and with credentials. With one of these a peer could make one
 * request look like two, reach another host behind the same address, or pose as a proxy.
 */
const DANGEROUS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'cookie',
  'cookie2',
  'expect',
  'forwarded',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
]);
const DANGEROUS_PREFIX = /^(?:proxy-|x-forwarded-|sec-)/;

/** Why these headers of a peer must not be sent; undefined when they may. */
export function headerProblem(headers: Readonly<Record<string, string>>): string | undefined {
  const entries = Object.entries(headers);
  if (entries.length > MAX_HEADERS) return `it wants more than ${MAX_HEADERS} headers`;
  const seen = new Set<string>();
  let bytes = 0;
  for (const [name, value] of entries) {
    const lower = name.toLowerCase();
    bytes += name.length + String(value).length;
    if (bytes > MAX_HEADER_BYTES) return `it wants more than ${MAX_HEADER_BYTES} bytes of headers`;
    if (!FIELD_NAME.test(name)) return 'it wants a header whose name is not valid';
    if (DANGEROUS.has(lower) || DANGEROUS_PREFIX.test(lower)) return `it wants to set the header ${name}`;
    if (typeof value !== 'string' || !FIELD_VALUE.test(value)) return `its value for the header ${name} is not valid`;
    if (seen.has(lower)) return `it wants to set the header ${name} twice`;
    seen.add(lower);
  }
  return undefined;
}

/**
 * The headers to send: the peer's, ours if the peer has none of that name, and some that only we set. Names and values
 * alternate, as node:http takes them.
 * @param ours override the peer's
 */
export function headLines(
  theirs: Readonly<Record<string, string>>,
  byDefault: Readonly<Record<string, string>>,
  ours: Readonly<Record<string, string>>,
): string[] {
  const has = (headers: Readonly<Record<string, string>>, name: string): boolean =>
    Object.keys(headers).some((key) => key.toLowerCase() === name.toLowerCase());
  return [
    ...Object.entries(ours),
    ...Object.entries(theirs).filter(([name]) => !has(ours, name)),
    ...Object.entries(byDefault).filter(([name]) => !has(ours, name) && !has(theirs, name)),
  ].flat();
}

/** A media type from a peer, in a form that a header allows. */
export function contentType(mimeType: string): string {
  return mimeType !== '' && /^[\x20-\x7e]{1,255}$/.test(mimeType) ? mimeType : 'application/octet-stream';
}
