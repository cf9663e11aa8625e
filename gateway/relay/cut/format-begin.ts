import { withoutEscapes } from './escapes.js';

/** How the base64 of these begins: PDF, PNG, JPEG, GIF, RIFF, ZIP, gzip, TIFF, ID3, Ogg, FLAC, 7z, RAR, OLE, Matroska, MP4. */
const BEGINNINGS =
  /^(?:JVBERi|iVBORw0KGgo|\/9j\/|R0lGODdh|R0lGODlh|UklGR|UEsDB|UEsFB|H4sI|SUkqA|TU0AK|SUQz|T2dnUw|ZkxhQw|N3q8ry|UmFyIR|0M8R4KGx|GkXfo|AAAA..Z0eXA)/;

/** Raw bytes of a JSON string that are enough to know one: each of its eleven characters may be an escape of six. */
export const MOST_BEGIN = 66;

/** True for base64 that begins as a picture, PDF, archive or other known format. */
export function beginsAsFormat(base64: string): boolean {
  return BEGINNINGS.test(base64);
}

/** True for a JSON string, given in pieces, that begins so: its characters may be escapes. */
export function rawBeginsAsFormat(...pieces: readonly Buffer[]): boolean {
  let raw = '';
  for (const piece of pieces) raw += piece.toString('latin1', 0, MOST_BEGIN - raw.length);
  return beginsAsFormat(withoutEscapes(raw));
}
