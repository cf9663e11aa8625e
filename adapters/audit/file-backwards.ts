import { type FileHandle, open } from 'node:fs/promises';
import { lineBegin } from '../../gateway/audit/chain.js';
import type { AuditPlace, AuditText } from '../../gateway/ports/audit.js';

const LINE_END = 10;

/** Bytes that are read at one time. */
const WINDOW = 64 * 1024;

/**
 * The whole lines of a file, the last one first. What is written meanwhile is not among them; a file that is not there
 * has none.
 * @param end where a line begins, in bytes: only those before it
 */
export async function* linesBackwards(path: string, end = Number.POSITIVE_INFINITY): AsyncGenerator<AuditText> {
  const file = await openIfThere(path);
  if (!file) return;
  try {
    let at = Math.min(end, (await file.stat()).size);
    /** The beginning of what has been read, up to the first line end in it. */
    let rest: Buffer = Buffer.alloc(0);
    let isFirst = true;
    while (at > 0) {
      const from = Math.max(0, at - WINDOW);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(at - from), 0, at - from, from);
      at = from;
      let text = Buffer.concat([buffer.subarray(0, bytesRead), rest]);
      let end = text.lastIndexOf(LINE_END);
      // what comes after the last line end is a line that is being written
      if (isFirst && end >= 0) {
        text = text.subarray(0, end);
        isFirst = false;
        end = text.lastIndexOf(LINE_END);
      }
      while (end >= 0) {
        if (end + 1 < text.length) yield { text: text.toString('utf8', end + 1), at: at + end + 1 };
        text = text.subarray(0, end);
        end = text.lastIndexOf(LINE_END);
      }
      rest = text;
    }
    if (!isFirst && rest.length > 0) yield { text: rest.toString('utf8'), at: 0 };
  } finally {
    await file.close();
  }
}

/** Whether a file has a line at its place. */
export async function isThere(path: string, place: AuditPlace): Promise<boolean> {
  const file = await openIfThere(path);
  if (!file) return false;
  try {
    const begin = Buffer.from(lineBegin(place));
    const { buffer, bytesRead } = await file.read(Buffer.alloc(begin.length), 0, begin.length, place.at);
    return buffer.subarray(0, bytesRead).equals(begin);
  } finally {
    await file.close();
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  return open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}
