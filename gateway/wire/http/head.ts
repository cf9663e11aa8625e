import { WireError } from '../errors.js';

/** Lower-case names. Repeats are joined with a comma or dropped, as node:http does it; `set-cookie` is a list. */
export type AnswerHeaders = Record<string, string | string[] | undefined>;

/** How a body ends, where that is not after a known number of bytes. */
export const CHUNKED = -1;
/** The body ends with the connection. */
export const UNTIL_CLOSE = -2;

/** The head of an HTTP/1.1 answer. */
export interface AnswerHead {
  /** 100 to 999. */
  readonly status: number;
  readonly headers: AnswerHeaders;
  /** Bytes of the body, or CHUNKED, or UNTIL_CLOSE. */
  readonly length: number;
  /** Whether the connection may carry another request. */
  readonly keepsAlive: boolean;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
/**
 * RFC 9110 §5.1 and §5.5. A value that goes on in the next line (obs-fold) is refused, as RFC 9112 §5.2 allows. The blanks
 * around a value are left to `trimmed`: a part of the pattern for them would look at each of n blanks n times.
 */
const FIELD = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t\x20-\x7e\x80-\xff]*)$/;

/** Of these the first counts, by node:http's rules; a second one in a list would have no meaning. */
const ONCE: ReadonlySet<string> = new Set([
  'age',
  'content-type',
  'etag',
  'expires',
  'last-modified',
  'location',
  'retry-after',
  'server',
]);

/** Digits that a number holds exactly. */
const MAX_DIGITS = 15;

/**
 * Reads the head of an answer: each byte of it one character, without the blank line that ends it. Strict where two readers
 * could see two different bodies (RFC 9112 §6.3 and §11.2): one Content-Length, or `chunked`, never both.
 * @param hasNoBody for an answer to HEAD, which ends with its head: its length is 0
 * @throws WireError `syntax`
 */
export function parseHead(text: string, hasNoBody = false): AnswerHead {
  const lines = text.split('\r\n');
  const status = STATUS_LINE.exec(lines[0] ?? '');
  if (!status) throw new WireError('syntax', 'not a status line of HTTP/1.1', 0);
  // without a prototype: a peer chooses the names
  const headers: AnswerHeaders = Object.create(null);
  for (let at = 1; at < lines.length; at += 1) {
    const field = FIELD.exec(lines[at] as string);
    if (!field) throw new WireError('syntax', 'not a header field', 0);
    add(headers, (field[1] as string).toLowerCase(), trimmed(field[2] as string));
  }
  const code = Number(status[2]);
  const length = lengthOf(code, headers);
  const isKept = keepsAlive(status[1], headers) && !announcesInVain(code, headers);
  return { status: code, headers, length: hasNoBody ? 0 : length, keepsAlive: isKept };
}

/**
 * An answer that has no body by its status, and announces one: some servers send it, after the head, where the next answer
 * would be read (RFC 9112 §6.3 and §11.1).
 */
function announcesInVain(status: number, headers: AnswerHeaders): boolean {
  if (status !== 204 && status !== 304) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Without the blanks and tabs at both ends. `trim` takes the byte 0xa0 too, which ends a "à" in UTF-8. */
function trimmed(value: string): string {
  let [start, end] = [0, value.length];
  while (start < end && isBlank(value.charCodeAt(start))) start += 1;
  while (end > start && isBlank(value.charCodeAt(end - 1))) end -= 1;
  return value.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function add(headers: AnswerHeaders, name: string, value: string): void {
  const known = headers[name];
  if (Array.isArray(known)) known.push(value);
  else if (name === 'set-cookie') headers[name] = [value];
  else if (known === undefined) headers[name] = value;
  else if (name === 'content-length') throw new WireError('syntax', 'a second Content-Length', 0);
  else if (!ONCE.has(name)) headers[name] = `${known}, ${value}`;
}

function lengthOf(status: number, headers: AnswerHeaders): number {
  const coding = headers['transfer-encoding'] as string | undefined;
  const length = headers['content-length'] as string | undefined;
  if (coding !== undefined) {
    if (length !== undefined) throw new WireError('syntax', 'both Transfer-Encoding and Content-Length', 0);
    if (coding.toLowerCase() !== 'chunked') throw new WireError('syntax', 'an unknown Transfer-Encoding', 0);
  }
  if (length !== undefined && (!/^\d+$/.test(length) || length.length > MAX_DIGITS)) {
    throw new WireError('syntax', 'not a Content-Length', 0);
  }
  if (status < 200 || status === 204 || status === 304) return 0;
  if (coding !== undefined) return CHUNKED;
  return length === undefined ? UNTIL_CLOSE : Number(length);
}

function keepsAlive(minor: string | undefined, { connection }: AnswerHeaders): boolean {
  if (connection === undefined) return minor === '1';
  const options = String(connection).toLowerCase();
  if (/(?:^|,)[\t ]*close[\t ]*(?:,|$)/.test(options)) return false;
  return minor === '1' || /(?:^|,)[\t ]*keep-alive[\t ]*(?:,|$)/.test(options);
}
