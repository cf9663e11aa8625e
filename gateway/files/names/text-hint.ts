import type { Sniffed } from './sniffed.js';

/** Controls that text never contains. White space is allowed, and so is escape (terminal colours). */
const BINARY = /(?!\s)\p{Cc}/u;
const ESCAPE = '\u001b';

const PLAIN: Sniffed = { mime: 'text/plain', ext: 'txt' };

/**
 * Recognises what file-type does not: SVG, HTML, JSON and plain text. Conservative on purpose: it accepts only valid
 * UTF-8 without control characters, and names a format only by its unmistakable beginning.
 * @param isWhole whether `head` is the whole file; otherwise its last character may be cut in two
 */
export function textHint(head: Buffer, isWhole: boolean): Sniffed | undefined {
  const text = head.length === 0 ? undefined : decoded(head, 'utf-8', isWhole);
  if (text === undefined) return undefined;
  const start = text.trimStart();
  const markup = start.startsWith('<') ? markupHint(start) : undefined;
  if (markup !== undefined) return markup;
  return isJson(start, isWhole) ? { mime: 'application/json', ext: 'json' } : PLAIN;
}

/**
 * Recognises text in UTF-16 by its byte order mark, as Windows and Excel write it. file-type takes that mark for the
 * beginning of an MPEG sound of a kind that is hardly used.
 */
export function utf16Hint(head: Buffer, isWhole: boolean): Sniffed | undefined {
  const mark = head.toString('hex', 0, 2);
  const encoding = mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : undefined;
  const text = encoding === undefined ? undefined : decoded(head, encoding, isWhole);
  return text === undefined ? undefined : (markupHint(text.trimStart()) ?? PLAIN);
}

/**
 * What a file's record says of how it is written: nothing, unless it is a text whose first bytes are not UTF-8.
 * @param head its first bytes, of which the last character may be cut in two
 */
export function writtenAs(mimeType: string, head: Buffer): { notUtf8?: true } {
  if (!mimeType.startsWith('text/')) return {};
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    return {};
  } catch {
    return { notUtf8: true };
  }
}

/** @returns undefined for what is not text in this encoding. A byte order mark is dropped. */
function decoded(head: Buffer, encoding: string, isWhole: boolean): string | undefined {
  try {
    // `stream` accepts a character that is cut off at the end of `head`
    const text = new TextDecoder(encoding, { fatal: true }).decode(head, { stream: !isWhole });
    return BINARY.test(text.replaceAll(ESCAPE, '')) ? undefined : text;
  } catch {
    return undefined;
  }
}

/**
 * XML declarations, comments and doctypes before the root element. No two parts in a row may match the same blanks: 4 KiB of
 * them would take 12 s.
 */
const PROLOG =
  /^(?:<\?[^>]{0,1000}\?>|<!--[\s\S]{0,3000}?-->|<!doctype\s(?!\s*html)[^>[]{0,1000}(?:\[[^\]]{0,2000}\]\s*)?>|\s+)/i;
const HTML = /^<(?:!doctype\s+html|html|head|body|script|iframe|title|style|table|div|h1|p|br|a|img)[\s/>]/i;

function markupHint(start: string): Sniffed | undefined {
  let rest = start;
  // Bounded: each round takes at least one character of at most 4100.
  for (let match = PROLOG.exec(rest); match !== null; match = PROLOG.exec(rest)) rest = rest.slice(match[0].length);
  if (/^<(?:[\w.-]+:)?svg[\s/>]/i.test(rest)) return { mime: 'image/svg+xml', ext: 'svg' };
  const isXml = start.startsWith('<?xml');
  if ((isXml ? /^<html[\s/>]/ : HTML).test(rest)) return { mime: 'text/html', ext: 'html' };
  return isXml ? { mime: 'application/xml', ext: 'xml' } : undefined;
}

function isJson(start: string, isWhole: boolean): boolean {
  if (!/^(?:\{\s*["}]|\[\s*[[{"\d\]-])/.test(start)) return false;
  if (!isWhole) return /^(?:\{\s*"|\[\s*\{\s*")/.test(start);
  try {
    JSON.parse(start);
    return true;
  } catch {
    return false;
  }
}
