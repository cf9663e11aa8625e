import { addAll } from '../wire/add-all.js';

/** A part of an outgoing message: bytes, or a source that is read when the message is sent, such as a file as base64. */
export type Piece = Buffer | (() => readonly Buffer[] | AsyncIterable<Buffer>);

/** The JSON text of a value. Its length in bytes is known before any byte is read. */
export interface Written {
  readonly length: number;
  readonly pieces: readonly Piece[];
}

/** One JSON text as a value that is written. */
export function writtenText(json: string | Buffer): Written {
  const bytes = typeof json === 'string' ? Buffer.from(json) : json;
  return { length: bytes.length, pieces: [bytes] };
}

/** Concatenates texts. Neighbouring strings become one piece. */
export function joined(parts: readonly (string | Written)[]): Written {
  const pieces: Piece[] = [];
  let length = 0;
  let text = '';
  const flush = () => {
    if (text === '') return;
    const bytes = Buffer.from(text);
    pieces.push(bytes);
    length += bytes.length;
    text = '';
  };
  for (const part of parts) {
    if (typeof part === 'string') text += part;
    else {
      flush();
      addAll(pieces, part.pieces);
      length += part.length;
    }
  }
  flush();
  return { length, pieces };
}
