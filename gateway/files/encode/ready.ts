import type { Encoder } from './encoder.js';
import { jsonBytes } from './json-text.js';

/** Room for an address or path that is not known yet: presigned URLs have up to 2 KiB, paths up to 4 KiB. */
const LONGEST_READY = 8 * 1024;

/** A string that was made elsewhere: `httpsUrl`, `localPath`, `fileUri`. */
export const ready: Encoder = {
  room: (_size, { value }) => (value === undefined ? LONGEST_READY : jsonBytes(value).length),
  encode(_file, { value, path }) {
    if (value === undefined) throw new Error(`No address or path was made for ${path}.`);
    const piece = jsonBytes(value);
    return { length: piece.length, pieces: [piece] };
  },
};
