import { GatewayError } from '../errors.js';

/** The head of one part. */
export interface PartHead {
  name: string;
  /** Absent: a plain field. Browsers send an empty one when no file was chosen. */
  filename?: string;
  mimeType?: string;
}

/** RFC 2046 §5.1.1: 1 to 70 of these characters, the last one not a space. */
const BOUNDARY = /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/;

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
/** In a quoted string a backslash escapes only a quote or a backslash; any other backslash belongs to a path. */
const QUOTED = '"((?:\\\\["\\\\]|[^"\\\\]|\\\\(?!["\\\\]))*)"';
const PARAMETER = new RegExp(`;[ \\t]*(${TOKEN})=(?:${QUOTED}|(${TOKEN}))[ \\t]*`, 'y');
const HEADER = new RegExp(`^(${TOKEN}):(.*)$`, 's');
/**
 * The controls that HTTP forbids: all but a tab. Those beyond U+007F are two bytes that it allows, and in many names: what Windows writes as
 * a dash (0x96) or a quotation mark, a program that took it for ISO-8859-1 has made a control of.
 */
const UNREADABLE = /(?![\t\u0080-\u009f])\p{Cc}/u;

/** Codings that do not change the bytes (RFC 2045 §6.2). Others are deprecated here (RFC 7578 §4.7). */
const IDENTITY = new Set(['7bit', '8bit', 'binary']);

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The boundary of a `multipart/form-data` body.
 * @returns undefined for another media type
 * @throws GatewayError `upload_malformed`
 */
export function boundaryOf(contentType: string): string | undefined {
  const essence = /^[^;]*/.exec(contentType)?.[0] ?? '';
  if (essence.trim().toLowerCase() !== 'multipart/form-data') return undefined;
  const boundary = parametersOf(contentType.slice(essence.length)).get('boundary');
  if (boundary === undefined || !BOUNDARY.test(boundary)) throw malformed('its boundary is missing or not allowed');
  return boundary;
}

/**
 * Reads a part's head. When two parsers read one head differently, a file can pass a check under one name and arrive
 * under another, so ambiguous heads are refused.
 * @throws GatewayError `upload_malformed`
 */
export function readPartHead(bytes: Buffer): PartHead {
  const headers = new Map<string, string>();
  for (const line of decode(bytes).split('\r\n')) {
    // a line that begins with a blank would continue the previous one: obsolete, and clients do not send it
    const [, name, value] = HEADER.exec(line) ?? [];
    if (name === undefined || value === undefined || UNREADABLE.test(value)) throw malformed('a part has a bad header');
    if (headers.has(name.toLowerCase())) throw malformed('a part has the same header twice');
    headers.set(name.toLowerCase(), value.trim());
  }
  const coding = headers.get('content-transfer-encoding');
  if (coding !== undefined && !IDENTITY.has(coding.toLowerCase())) throw malformed('a part is transfer-encoded');
  const mimeType = headers.get('content-type');
  if (mimeType !== undefined && /^multipart\//i.test(mimeType)) throw malformed('a part has parts of its own');
  const { name, filename } = dispositionOf(headers.get('content-disposition'));
  return { name, ...(filename === undefined ? {} : { filename }), ...(mimeType === undefined ? {} : { mimeType }) };
}

function dispositionOf(value: string | undefined): { name: string; filename: string | undefined } {
  const kind = /^form-data[ \t]*(?=;)/i.exec(value ?? '')?.[0];
  if (value === undefined || kind === undefined) throw malformed('a part has no Content-Disposition: form-data');
  const parameters = parametersOf(value.slice(kind.length));
  const name = parameters.get('name');
  if (name === undefined) throw malformed('a part has no name');
  // RFC 7578 §4.2 forbids it, but some clients have no other way to write a name outside ASCII.
  const extended = parameters.get('filename*');
  return { name, filename: extended === undefined ? unescaped(parameters.get('filename')) : decodeExtended(extended) };
}

/** What browsers, and curl since 7.81, write for a quote and a line break in a name. They escape nothing else, not even "%". */
const ESCAPES: Readonly<Record<string, string>> = { '%22': '"', '%0D': '\r', '%0A': '\n' };

const unescaped = (filename: string | undefined) =>
  filename?.replace(/%(?:22|0D|0A)/g, (coded) => ESCAPES[coded] ?? coded);

function parametersOf(text: string): Map<string, string> {
  const found = new Map<string, string>();
  let at = 0;
  while (at < text.length) {
    PARAMETER.lastIndex = at;
    const [whole, name, quoted, token] = PARAMETER.exec(text) ?? [];
    if (whole === undefined || name === undefined) throw malformed('a header’s parameters cannot be read');
    at += whole.length;
    const key = name.toLowerCase();
    if (found.has(key)) throw malformed('a header has the same parameter twice');
    found.set(key, quoted === undefined ? (token ?? '') : quoted.replace(/\\(["\\])/g, '$1'));
  }
  return found;
}

/** RFC 8187's `UTF-8'language'percent-encoded`. */
function decodeExtended(value: string): string {
  const encoded = /^utf-8'[\w-]*'((?:[\w!#$&+.^`|~-]|%[0-9a-f]{2})*)$/i.exec(value)?.[1];
  if (encoded === undefined) throw malformed('a filename* cannot be read');
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw malformed('a filename* is not UTF-8');
  }
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw malformed('a part’s header is not UTF-8');
  }
}

/**
 * The error for an upload that cannot be read as it claims to be.
 * @param detail what is wrong, for the person who sends it
 */
export function malformed(detail: string, reason = 'malformedMultipart'): GatewayError {
  return new GatewayError('upload_malformed', { reason, detail });
}
