import type { ByteRange } from '../../ports/object-store.js';

type RangeDecision = { kind: 'whole' } | { kind: 'part'; range: ByteRange } | { kind: 'unsatisfiable' };

const WHOLE: RangeDecision = { kind: 'whole' };
const UNSATISFIABLE: RangeDecision = { kind: 'unsatisfiable' };

/** A request for a single range fits easily; a longer header is a list, which gets the whole file anyway. */
const MAX_HEADER = 256;

/**
 * Reads a Range header for a file of `size` bytes. RFC 9110 §14.2: "A server MAY ignore the Range header field". So
 * several ranges (they multiply the work of one request), an unknown unit and invalid syntax get the whole file.
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-14.2
 */
export function decideRange(header: string | undefined, size: number): RangeDecision {
  if (header === undefined || header.length > MAX_HEADER) return WHOLE;
  const match = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header);
  if (match === null) return WHOLE;
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return WHOLE;
  if (first === '') return suffix(last, size);

  const start = Number(first);
  if (last !== '') {
    // "An int-range is invalid if the last-pos value is present and less than first-pos." Exact beyond 2^53 too.
    if (BigInt(last) < BigInt(first)) return WHOLE;
  }
  if (start >= size) return UNSATISFIABLE;
  return { kind: 'part', range: { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) } };
}

/** The last bytes of the file; all of it when it has fewer. */
function suffix(length: string, size: number): RangeDecision {
  const count = Number(length);
  if (count === 0) return UNSATISFIABLE;
  // A suffix of an empty file is satisfiable, but Content-Range cannot express it: the answer is the (empty) whole.
  if (size === 0) return WHOLE;
  return { kind: 'part', range: { start: Math.max(0, size - count), end: size - 1 } };
}
