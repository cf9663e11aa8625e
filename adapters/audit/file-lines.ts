import type { FileHandle } from 'node:fs/promises';
import { MOST_LINE } from '../../gateway/audit/chain.js';

const LINE_END = 10;

interface LastLine {
  /** Undefined in a file without a whole line. */
  text: string | undefined;
  /** Bytes up to the end of the last whole line. */
  end: number;
  /** Bytes after it: a line that was being written when its process ended. */
  torn: number;
}

/** The last whole line of a file. @throws if it ends with what cannot be lines of Wharf's */
export async function lastLine(file: FileHandle): Promise<LastLine> {
  const { size } = await file.stat();
  // a torn line, and the whole one before it
  const tail = await read(file, Math.max(0, size - 2 * MOST_LINE), size);
  const lastEnd = tail.lastIndexOf(LINE_END);
  const torn = tail.length - lastEnd - 1;
  if (torn > MOST_LINE) throw new Error('the audit log ends with more than one line can be');
  if (lastEnd < 0) return { text: undefined, end: 0, torn };
  const begin = tail.lastIndexOf(LINE_END, lastEnd - 1) + 1;
  return { text: tail.toString('utf8', lastEnd === 0 ? 0 : begin, lastEnd), end: size - torn, torn };
}

/** The first line of a file, if it has a whole one. */
export async function firstLine(file: FileHandle): Promise<string | undefined> {
  const head = await read(file, 0, MOST_LINE);
  const end = head.indexOf(LINE_END);
  return end < 0 ? undefined : head.toString('utf8', 0, end);
}

async function read(file: FileHandle, from: number, to: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(to - from), 0, to - from, from);
  return buffer.subarray(0, bytesRead);
}
