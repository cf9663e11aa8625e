import type { FileReason } from '../../../gateway/ports/dialect.js';

/** The reasons that the early revisions define; the last two since 2026-03-26. */
const NAMES: readonly (readonly [FileReason, string])[] = [
  ['maxSizeExceeded', 'file_too_large'],
  ['mimeTypeNotAccepted', 'file_type_rejected'],
  ['malformedUri', 'file_uri_malformed'],
  ['schemeNotAllowed', 'file_scheme_unsupported'],
  ['unreachable', 'file_unreachable'],
];

export const NAME_OF_REASON: ReadonlyMap<string, string> = new Map(NAMES);

export const REASON_OF_NAME: ReadonlyMap<unknown, FileReason> = new Map(
  NAMES.map(([reason, name]) => [name, reason] as const),
);
