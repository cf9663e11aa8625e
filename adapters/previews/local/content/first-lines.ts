import type { PreviewLimits, PreviewText } from '../../../../gateway/ports/previewer.js';
import type { RenderResult } from '../protocol.js';
import type { Ranges } from './ranges.js';

/** Enough for the longest text in characters of four bytes. */
const HEAD_BYTES = 16 * 1024;
/** One long line must not hide the next ones; JSON is often a single one. */
const MOST_OF_A_LINE = 400;
const CUT = '…';

/** Controls that text never contains. White space is allowed, and so is escape (terminal colours). */
const BINARY = /(?!\s)\p{Cc}/u;
const ESCAPE = '\u001b';

/** The first lines of a text file in UTF-8. */
export async function firstLines(file: Ranges, limits: PreviewLimits): Promise<RenderResult> {
  const head = await file.read(0, HEAD_BYTES);
  const isComplete = head.length >= file.size;
  let text: string;
  try {
    // `stream` accepts a character that is cut off at the end; a byte order mark is dropped
    text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: !isComplete });
  } catch {
    return { kind: 'refused', reason: 'unsupported' };
  }
  if (text.trim() === '' || BINARY.test(text.replaceAll(ESCAPE, ''))) return { kind: 'refused', reason: 'unsupported' };
  return {
    kind: 'rendered',
    preview: { facts: {}, text: shortened(text.split(/\r?\n/), 'lines', isComplete, limits) },
  };
}

/** As many of `lines` as the limits allow. */
export function shortened(
  lines: readonly string[],
  of: PreviewText['of'],
  isComplete: boolean,
  { maxText, maxLines }: PreviewLimits,
): PreviewText {
  const shown: string[] = [];
  let [room, isWhole] = [maxText, isComplete];
  const last = lines.length - (lines.at(-1) === '' ? 1 : 0);
  for (const line of lines.slice(0, last)) {
    if (shown.length >= maxLines || room <= 0) {
      isWhole = false;
      break;
    }
    const most = Math.min(MOST_OF_A_LINE, room);
    const isCut = line.length > most;
    if (isCut) isWhole = false;
    // half a surrogate pair is not a character
    shown.push(isCut ? line.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '') + CUT : line);
    room -= Math.min(line.length, most) + 1;
  }
  return { of, text: shown.join('\n'), isWhole };
}
