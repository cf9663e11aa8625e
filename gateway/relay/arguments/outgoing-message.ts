import type { JsonText } from '../../json/locate.js';
import type { OutgoingMessage } from '../../ports/upstream.js';
import { addAll } from '../../wire/add-all.js';
import type { Piece } from '../cut/splice.js';

/** What takes the place of `[start, end)` of a client's message: the JSON text of a value, and how long it is. */
export interface OutgoingEdit {
  start: number;
  end: number;
  length: number;
  pieces: readonly Piece[];
}

/** The message with its edits: every other byte as it came, and no file in memory that is not there already. */
export function render(message: JsonText, edits: readonly OutgoingEdit[]): OutgoingMessage {
  const pieces: Piece[] = [];
  let at = 0;
  let length = message.size;
  for (const edit of [...edits].sort((a, b) => a.start - b.start || a.end - b.end)) {
    if (edit.start > at) pieces.push(message.slice(at, edit.start));
    addAll(pieces, edit.pieces);
    length += edit.length - (edit.end - edit.start);
    at = edit.end;
  }
  if (at < message.size) pieces.push(message.slice(at, message.size));
  if (pieces.every(Buffer.isBuffer)) return Buffer.concat(pieces as readonly Buffer[]);
  return { length, read: () => readAll(pieces) };
}

export function textEdit(start: number, end: number, text: string): OutgoingEdit {
  const bytes = Buffer.from(text);
  return { start, end, length: bytes.length, pieces: [bytes] };
}

/** What stands before a file is given with the file's first bytes: of a file that is gone the server hears nothing. */
async function* readAll(pieces: readonly Piece[]): AsyncGenerator<Buffer> {
  const before: Buffer[] = [];
  for (const piece of pieces) {
    if (Buffer.isBuffer(piece)) {
      before.push(piece);
      continue;
    }
    for await (const chunk of piece()) {
      yield* before.splice(0);
      yield chunk;
    }
  }
  yield* before;
}
