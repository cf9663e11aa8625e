import type { Sniffed } from './sniffed.js';

/** Controls that text never contains. White space is allowed, and so is escape (terminal colours). */
const BINARY = /(?!\s)\p{Cc}/u;
const ESCAPE = '\u001b';

/**
 * Recognises what file-type does not: SVG, HTML, JSON and plain text. Conservative on purpose: it accepts only valid
 * UTF-8 without control characters, and names a format only by its unmistakable beginning.
 * @param complete whether `head` is the whole file; otherwise its last character may be cut in two
 */
export function textHint(head: Buffer, complete: boolean): Sniffed | undefined {
  if (head.length === 0) return undefined;
  let text: string;
  try {
    // `stream` accepts a character that is cut off at the end of `head`; a BOM is dropped.
    text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: !complete });
  } catch {
    return undefined;
  }
  if (BINARY.test(text.replaceAll(ESCAPE, ''))) return undefined;
  const start = text.trimStart();
  const markup = start.startsWith('<') ? markupHint(start) : undefined;
  if (markup !== undefined) return markup;
  if (isJson(start, complete)) return { mime: 'application/json', ext: 'json' };
  return { mime: 'text/plain', ext: 'txt' };
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

function isJson(start: string, complete: boolean): boolean {
  if (!/^(?:\{\s*["}]|\[\s*[[{"\d\]-])/.test(start)) return false;
  if (!complete) return /^(?:\{\s*"|\[\s*\{\s*")/.test(start);
  try {
    JSON.parse(start);
    return true;
  } catch {
    return false;
  }
}
