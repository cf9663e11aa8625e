import type { ContentFacts } from '../../../../gateway/ports/previewer.js';

/** RFC 9559 §5.1: identifiers of elements. */
const SEGMENT = 0x18538067;
const INFO = 0x1549a966;
const SCALE = 0x2ad7b1;
const DURATION = 0x4489;
/** Nanoseconds: what a unit of time is where the file does not say. */
const USUAL_SCALE = 1_000_000;
/** Elements that are looked at. */
const MOST_ELEMENTS = 256;

interface Element {
  id: number;
  start: number;
  end: number;
}

/** WebM and Matroska: `Info` in the segment, near the file's beginning. */
export function factsOfMatroska(head: Buffer): ContentFacts {
  let [scale, duration] = [USUAL_SCALE, 0];
  let at = 0;
  for (let count = 0; count < MOST_ELEMENTS && at < head.length; count++) {
    const element = elementAt(head, at);
    if (element === undefined) break;
    const { id, start, end } = element;
    if (id === SCALE && end - start <= 6 && end <= head.length) scale = head.readUIntBE(start, end - start);
    if (id === DURATION && end <= head.length) duration = floatIn(head, start, end);
    // these two are entered, all others passed over
    at = id === SEGMENT || id === INFO ? start : end;
  }
  return duration > 0 ? { seconds: (duration * scale) / 1e9 } : {};
}

/** RFC 8794 §4 and §5: identifier and length are numbers whose first byte says how many bytes they have. */
function elementAt(head: Buffer, at: number): Element | undefined {
  const id = numberAt(head, at, false);
  const length = id && numberAt(head, id.next, true);
  if (!length) return undefined;
  return { id: id.value, start: length.next, end: length.next + length.value };
}

function numberAt(head: Buffer, at: number, isLength: boolean): { value: number; next: number } | undefined {
  const first = head[at];
  if (first === undefined || first === 0) return undefined;
  const bytes = Math.clz32(first) - 23;
  if (at + bytes > head.length) return undefined;
  let value = isLength ? first & (0xff >> bytes) : first;
  for (let next = at + 1; next < at + bytes; next++) value = value * 256 + head.readUInt8(next);
  return { value, next: at + bytes };
}

function floatIn(head: Buffer, start: number, end: number): number {
  if (end - start === 4) return head.readFloatBE(start);
  return end - start === 8 ? head.readDoubleBE(start) : 0;
}
