import type { JsonValue } from '../ports/json.js';
import { addAll } from '../wire/add-all.js';

/** A part of an outgoing message: bytes, or a source that is read when the message is sent, such as a file as base64. */
export type Piece = Buffer | (() => readonly Buffer[] | AsyncIterable<Buffer>);

/** The JSON text of a value. Its length in bytes is known before any byte is read. */
export interface Written {
  readonly length: number;
  readonly pieces: readonly Piece[];
}

/** The JSON text of a value in memory. */
export function writtenValue(value: JsonValue): Written {
  return writtenText(JSON.stringify(value));
}

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
    if (text !== '') pieces.push(Buffer.from(text));
    text = '';
  };
  for (const part of parts) {
    if (typeof part === 'string') {
      text += part;
      length += Buffer.byteLength(part);
    } else {
      flush();
      addAll(pieces, part.pieces);
      length += part.length;
    }
  }
  flush();
  return { length, pieces };
}
