import { isAccepted, isTextual } from '../../policy/accept.js';
import type { AcceptRule } from '../../policy/message-limits.js';
import { OCTET_STREAM, showsInBytes, typeForExtension } from './media-type.js';
import { fitsExtension } from './upload-type.js';

/** A file on its way to a server, as a list of accepted types sees it. */
interface TypedFile {
  mimeType: string;
  name: string;
  /** True when it has a name of its own; otherwise none is invented. */
  hasName: boolean;
}

/** True when a list of accepted types takes a file; undefined takes any. */
export function fitsAccept(accept: readonly string[] | undefined, file: TypedFile): boolean {
  return isAccepted(accept, file.mimeType) || mayBeAccepted(accept, file);
}

/** The first of these rules that keeps a file from a server. */
export function ruleAgainst(rules: readonly AcceptRule[] | undefined, file: TypedFile): AcceptRule | undefined {
  return rules?.find(({ types }) => !fitsAccept(types, file));
}

/**
 * Bytes without a recognisable type, or only recognisable as text, get the type of their name. A text without a name
 * cannot be judged further.
 */
function mayBeAccepted(accept: readonly string[] | undefined, file: TypedFile): boolean {
  const { mimeType, name, hasName } = file;
  if (fitsExtension(accept, file)) return true;
  if (mimeType !== OCTET_STREAM && mimeType !== 'text/plain') return false;
  if (!hasName) return mimeType === 'text/plain' && accept?.some(isTextual) === true;
  const extension = /\.([^.]{1,16})$/.exec(name)?.[1];
  const type = extension === undefined ? undefined : typeForExtension(extension.toLowerCase());
  return type !== undefined && !showsInBytes(type) && isAccepted(accept, type);
}
