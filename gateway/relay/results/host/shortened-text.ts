import type { ShownText } from '../../../ports/host.js';

/** The parts of a limit that a long text's beginning and end may take; the rest is for the text about the file. */
const HEAD = 0.5;
const TAIL = 0.25;

/** So many characters of base64 in a row are a file, of which a model reads nothing. */
const FILE_LENGTH = 1000;

/** A long text's beginning and end, broken between lines where there are some near, without files spelled as base64. */
export function shortened(text: string, { most, unit, lines = Number.POSITIVE_INFINITY }: ShownText): string {
  const room = Math.min(unit === 'bytes' ? (most * text.length) / Buffer.byteLength(text) : most, text.length);
  const first = text.slice(0, endOfLines(text, Math.floor(lines * HEAD)));
  const last = text.slice(startOfLines(text, Math.floor(lines * TAIL)));
  const head = beginning(first.slice(0, Math.floor(room * HEAD)));
  const tail = ending(last.slice(Math.max(0, last.length - Math.floor(room * TAIL))));
  const left = text.length - head.length - tail.length;
  return `${head}\n[${left} of ${text.length} characters are left out here; the file above has the whole text]\n${tail}`;
}

/** Number of lines of a text. */
export function linesOf(text: string): number {
  let count = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

function endOfLines(text: string, lines: number): number {
  let end = -1;
  for (let line = 0; line < lines; line++) {
    end = text.indexOf('\n', end + 1);
    if (end < 0) return text.length;
  }
  return end + 1;
}

function startOfLines(text: string, lines: number): number {
  let start = text.length;
  for (let line = 0; line < lines; line++) {
    start = start === 0 ? -1 : text.lastIndexOf('\n', start - 1);
    if (start < 0) return 0;
  }
  return start + 1;
}

function beginning(part: string): string {
  const [file] = filesIn(part);
  return file ? part.slice(0, file.start) : wholeLines(part, 'start');
}

function ending(part: string): string {
  const file = filesIn(part).at(-1);
  return file ? part.slice(file.end) : wholeLines(part, 'end');
}

function filesIn(part: string): { start: number; end: number }[] {
  return [...part.matchAll(/[A-Za-z0-9+/]+={0,2}/g)].flatMap(({ 0: run, index }) =>
    run.length >= FILE_LENGTH && isMixed(run) ? [{ start: index, end: index + run.length }] : [],
  );
}

/** Bytes use all of the alphabet: a line of dashes, or a genome, does not. */
function isMixed(run: string): boolean {
  return /[a-z]/.test(run) && /[A-Z]/.test(run) && /\d/.test(run);
}

/** Drops the broken line, unless that is most of the text, and half of a character that was cut through. */
function wholeLines(part: string, from: 'start' | 'end'): string {
  const line = from === 'start' ? part.lastIndexOf('\n') : part.indexOf('\n');
  if (from === 'start') {
    if (line > part.length / 2) return part.slice(0, line);
    return isHigh(part.charCodeAt(part.length - 1)) ? part.slice(0, -1) : part;
  }
  if (line >= 0 && line < part.length / 2) return part.slice(line + 1);
  return isLow(part.charCodeAt(0)) ? part.slice(1) : part;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
