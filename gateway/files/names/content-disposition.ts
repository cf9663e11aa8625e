import { create, parse } from 'content-disposition';
import { utf8Text } from '../../wire/utf8.js';
import { cleanFileName } from './file-name.js';

/**
 * The Content-Disposition that makes a browser save a file under `name` instead of showing it: ASCII only, with
 * `filename*` of RFC 8187 if the name needs it. Never throws: it cleans the name again, so a record of any age or
 * origin gives a valid header.
 */
export function attachment(name: string): string {
  return create(cleanFileName(name), { type: 'attachment' });
}

/** Like `attachment`, for a file that a browser shows: it is saved under that name. */
export function inline(name: string): string {
  return create(cleanFileName(name), { type: 'inline' });
}

/**
 * The file name in a Content-Disposition header as the peer wrote it: not clean. Headers are read as latin1, and many
 * programs write UTF-8 into them.
 */
export function nameIn(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  try {
    return parse(utf8Text(Buffer.from(header, 'latin1')) ?? header).parameters.filename;
  } catch {
    // a peer may write anything
    return undefined;
  }
}
