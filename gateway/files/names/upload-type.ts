import { type ErrorFacts, GatewayError } from '../../errors.js';
import { alwaysShows, fitsType, isAnyType, isSameType } from '../../policy/accept.js';
import type { AcceptedBy } from '../../policy/message-limits.js';
import { extensionFor, mediaTypeOf, OCTET_STREAM, typeForExtension } from './media-type.js';
import type { Sniffed } from './sniffed.js';

/** Declarations of a file's type, and the type of its bytes. */
export interface TypeFacts {
  /** Set by the authorization of the upload: the bytes must not contradict it. */
  announced: string | undefined;
  /** Set by the uploader: a hint, as browsers guess it from the name. */
  declared: string | undefined;
  /** Undefined for bytes of an unknown type, `empty` for none; `unread` before they come. */
  sniffed: Sniffed | 'unread' | 'empty' | undefined;
  name: string | undefined;
  accept: readonly string[] | undefined;
  /** The lists that this one follows from. */
  acceptBy?: readonly AcceptedBy[] | undefined;
}

/**
 * The media type of an uploaded file.
 * @throws GatewayError `upload_type_refused` when the bytes are plainly of another type than announced, or of none that
 * is accepted
 */
export function uploadedType({ announced, declared, sniffed, name, accept, acceptBy = [] }: TypeFacts): string {
  const extension = name === undefined ? '' : extensionIn(name);
  // no bytes contradict the name
  const named = sniffed === 'empty' ? typeForExtension(extension) : undefined;
  const mimeType = shownType(announced ?? declared ?? named, sniffed);
  if (announced !== undefined && !isAnyType(announced) && !isSameType(mimeType, mediaTypeOf(announced, undefined))) {
    throw refused(sniffed === 'empty' ? sniffed : mimeType, [announced]);
  }
  if (accept === undefined) return mimeType;
  const facts = { mimeType, sniffed, extension };
  const accepted = typeWithin(accept, facts);
  if (accepted !== undefined) return accepted;
  const refusing = acceptBy.find(({ types }) => typeWithin(types, facts) === undefined);
  // otherwise the one that the link was asked with
  throw refused(sniffed === 'empty' ? sniffed : mimeType, accept, refusing ?? { limit: 'accept' });
}

type ShownFacts = Pick<TypeFacts, 'sniffed'> & { mimeType: string; extension: string };

/** The file's type, if one of these entries includes it. */
function typeWithin(accept: readonly string[], facts: ShownFacts): string | undefined {
  return accept.map((entry) => typeUnder(entry.trim().toLowerCase(), facts)).find((type) => type !== undefined);
}

/**
 * True when a list of accepted types has an extension that fits a stored file, as it fits one that is uploaded: a link must
 * not take a file that the call with its handle refuses.
 */
export function fitsExtension(
  accept: readonly string[] | undefined,
  { mimeType, name }: { mimeType: string; name: string },
): boolean {
  const sniffed = { mime: mimeType, ext: extensionFor(mimeType) };
  const facts = { mimeType, sniffed, extension: extensionIn(name) };
  const entries = accept?.map((entry) => entry.trim().toLowerCase()) ?? [];
  return entries.some((entry) => entry.startsWith('.') && typeUnder(entry, facts) !== undefined);
}

/** The file's type, if `entry` (a type, `image/*` or `.pdf`) includes it. */
function typeUnder(entry: string, { mimeType, sniffed, extension }: ShownFacts): string | undefined {
  // A name proves nothing against bytes of another known type, but few text formats can be recognised by their bytes.
  const fitsByName = (type: string) => shownType(type, sniffed) === type;
  if (entry.startsWith('.')) {
    const wanted = entry.slice(1);
    const fits = wanted === extensionFor(mimeType) || (typeof sniffed === 'object' && wanted === sniffed.ext);
    return fits || (wanted === extension && fitsByName(typeForExtension(wanted) ?? 'application/x-unknown'))
      ? mimeType
      : undefined;
  }
  if (fitsType(entry, mimeType)) return mimeType;
  if (entry.endsWith('/*')) return undefined;
  const wanted = mediaTypeOf(entry, undefined);
  return extension !== '' && extension === extensionFor(wanted) && fitsByName(wanted) ? wanted : undefined;
}

/** As `mediaTypeOf`, but an empty file is not a picture, whatever was declared. */
function shownType(declared: string | undefined, sniffed: TypeFacts['sniffed']): string {
  const type = mediaTypeOf(declared, typeof sniffed === 'object' ? sniffed : undefined);
  return sniffed === 'empty' && alwaysShows(type) ? OCTET_STREAM : type;
}

function extensionIn(name: string): string {
  return /\.([^.]{1,32})$/.exec(name.toLowerCase())?.[1] ?? '';
}

/** @param by the list that refuses it; absent where that is the type that was announced */
function refused(actual: string, accept: readonly string[], by?: Pick<AcceptedBy, 'limit' | 'source'>): GatewayError {
  const named: ErrorFacts = by ? { limit: by.limit, ...(by.source !== undefined && { source: by.source }) } : {};
  return new GatewayError('upload_type_refused', { reason: 'mimeTypeNotAccepted', actual, accept, ...named });
}
