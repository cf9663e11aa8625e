import {
  AMBIGUOUS,
  hasOpenQuote,
  MAX_DATA_URI_HEAD,
  MEDIA_TYPE,
  percentBytes,
  readDataUri,
  readHead,
  SCHEME,
} from './data-uri.js';

const NOT_A_DIGIT = /[^A-Za-z0-9+/]/;
const BAD_ESCAPE = /%(?![0-9a-f]{2})/i;

/**
 * Why a text that begins with `data:` is not a URI of that kind, as a sentence about "it". Nothing of its content is in it.
 * @returns undefined when it is one
 */
export function faultOfDataUri(text: string): string | undefined {
  if (readDataUri(text) !== 'malformedUri') return undefined;
  const comma = text.slice(0, MAX_DATA_URI_HEAD).indexOf(',');
  if (comma < 0 && text.length < MAX_DATA_URI_HEAD) return 'it has no comma, behind which its data begins';
  if (comma < 0) return `the first comma must be among its first ${MAX_DATA_URI_HEAD} characters`;
  const head = text.slice(SCHEME.length, comma);
  const { type, base64 } = readHead(head);
  if (type !== '' && !MEDIA_TYPE.test(type))
    return `its media type, of ${type.length} characters, is not of the form type/subtype`;
  if (hasOpenQuote(head)) return 'a quotation mark in its head is not closed before its first comma';
  const start = comma + 1;
  const data = text.slice(start);
  if (base64 && !data.includes('%')) return base64Fault(data, (at) => `at character ${start + at + 1}`);
  const percent = data.search(BAD_ESCAPE);
  if (percent >= 0) return `the % at character ${start + percent + 1} is not followed by two hexadecimal digits`;
  const bare = data.search(AMBIGUOUS);
  if (bare >= 0) return `${kindOf(data.charAt(bare))} at character ${start + bare + 1} is not percent-encoded`;
  const decoded = percentBytes(data)?.toString('latin1') ?? '';
  return base64Fault(decoded, (at) => `at character ${at + 1} of its decoded base64`);
}

function base64Fault(data: string, where: (at: number) => string): string {
  const at = data.search(NOT_A_DIGIT);
  if (at < 0) return `its base64 has ${data.length} characters, and of four at least two must be there`;
  const char = data.charAt(at);
  if (char !== '=') return `${kindOf(char)} ${where(at)} is not base64`;
  if (/[^=]/.test(data.slice(at))) return `the padding ${where(at)} is not the end of its base64`;
  const digits = `its base64 has ${at} characters before its padding of ${data.length - at}`;
  return `${digits}, which together must be a multiple of four, with at most two of padding`;
}

function kindOf(char: string): string {
  if (char === '-' || char === '_') return 'a character of the alphabet for URLs';
  if (char === '\r' || char === '\n') return 'a line break';
  if (char === ' ' || char === '\t') return 'a blank';
  return char === '#' ? 'a #' : 'a character';
}
