import type { Advice } from './row.js';

export const OF_UPLOADS = {
  upload_invalid: {
    why: 'A link for an upload was requested that no file could satisfy.',
    todo: 'The text names the member that is wrong.',
    facts: { detail: '"size" must be a whole number of bytes' },
  },
  upload_too_large: {
    why: 'The file is larger than the link accepts.',
    todo: 'Send a smaller file. An operator can raise `limits.file`, `servers.X.accepts` or the `maxSize` of the argument.',
  },
  upload_busy: {
    why: 'One link is used by too many requests at a time.',
    todo: 'Wait for one of them. If they are not yours, the link has been passed on: ask for a new one.',
    facts: { allowed: 4, retryAfter: 5 },
  },
  upload_several_refused: {
    why: 'A link takes several files, and these are too few, too many, too large together, or not all there yet.',
    todo:
      'Give as many files as the page or the error says, all in one form. The numbers come from `minItems` and `maxItems` ' +
      'of the argument, `limits.filesPerArgument` and `servers.X.accepts`.',
    facts: { reason: 'tooFewFiles', allowed: 2, actual: 1 },
  },
  upload_timeout: {
    why: 'One attempt takes longer than `timeouts.upload`.',
    todo: 'Use a client that speaks tus: it continues where it was. An operator can raise `timeouts.upload`.',
    facts: { allowed: 3_600_000 },
  },
  upload_done: {
    why: 'A link stores one file.',
    todo: 'Ask for a new link for another file.',
  },
  upload_cancelled: {
    why: 'The call that asked for the file was cancelled or declined.',
    todo: 'Ask the assistant again if you still want to give the file.',
  },
  upload_code_needed: {
    why: '`auth` tells callers apart, so a link for a person works only with its code.',
    todo: 'Enter the code on the page, or send it in the header `Wharf-Code`.',
  },
  upload_code_wrong: {
    why: 'The code is not the one that is shown beside the link.',
    todo: 'Copy it from the message that has the link.',
    facts: { left: 2 },
  },
  upload_locked: {
    why: 'A wrong code was given three times.',
    todo: 'Ask for a new link.',
  },
  upload_malformed: {
    why: 'The body is not a form with one part `file`, or its headers contradict each other.',
    todo: 'Send the raw file instead: `curl -T FILE LINK`.',
    facts: { detail: 'the form has no part called "file"' },
  },
  upload_incomplete: {
    why: 'The connection ended before the announced end of the file.',
    todo: 'Send it again; nothing was stored. A client that speaks tus continues instead.',
  },
  upload_size_differs: {
    why: 'The link was made for a file of another size.',
    todo: 'Send the announced file, or ask for a link without a size.',
  },
  upload_digest_differs: {
    why: 'The link was made for a file with another SHA-256 digest, or `Content-Digest` says another one.',
    todo: 'Send the announced file again.',
  },
  upload_type_refused: {
    why: 'The bytes are of a type that the argument does not accept. The name of the file counts only for types that bytes do not show, such as CSV.',
    todo: 'Convert the file. An operator can change `accept`, where `source`, or else `limit`, says.',
    facts: { actual: 'image/gif', accept: ['image/png', 'image/jpeg'] },
  },
  upload_unknown: {
    why: 'A tus request goes on with an upload that was never begun, or has ended.',
    todo: 'Begin it again with a POST.',
  },
  upload_pieces_too_small: {
    why: 'In S3 each small request stores the end of the file again.',
    todo: 'Send at least 256 KiB in each request, best the whole file.',
    facts: { allowed: 33_554_432, actual: 50_331_648 },
  },
  upload_offset_differs: {
    why: 'A tus client sends bytes that Wharf has, or skips some.',
    todo: 'Ask for the offset by HEAD and continue there; tus clients do so.',
  },
  upload_taken_over: {
    why: 'A later request continues the upload, for example after a broken connection.',
    todo: 'Ask for the offset by HEAD before you send more.',
  },
  upload_checksum_differs: {
    why: 'The bytes of a request do not have the digest in `Upload-Checksum`.',
    todo: 'Send them again.',
  },
  tus_version_unsupported: {
    why: 'The client speaks another version of tus.',
    todo: 'Use tus 1.0.0.',
    facts: { requested: '0.2.2', supported: '1.0.0' },
  },
} as const satisfies Record<string, Advice>;
