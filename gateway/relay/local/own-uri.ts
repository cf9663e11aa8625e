import type { Library } from '../../files/library.js';

/** A URI of Wharf's own: the handle that it is, or leads to, or why it leads to none. */
export type OwnUri = { uri: string } & ({ handle: string } | { why: 'expiredLink' | 'unknown' });

/** Most handles that a text names. */
const MOST_NAMED = 20;

/** What to do with a handle that stands for these files. */
export function severalText(handles: readonly string[]): string {
  const more = handles.length - MOST_NAMED;
  const named = handles.slice(0, MOST_NAMED).join(', ');
  return `this handle stands for ${handles.length} files; use the handle of each: ${named}${more > 0 ? ` and ${more} more` : ''}`;
}

/**
 * Reads a client's URI before its server sees it: a link is the right to its file, which no server may be shown.
 * @returns undefined for a server's own URI. A link that no longer works is Wharf's all the same.
 */
export async function ownUri(
  library: Pick<Library, 'claims' | 'readLink'>,
  uri: string,
  principal: string,
): Promise<OwnUri | undefined> {
  // parsers of addresses ignore blanks around them
  if (library.claims(uri.trim())) return { uri, handle: uri };
  const link = await library.readLink(uri.trim(), principal);
  if (!link) return undefined;
  if (link.kind === 'ok') return { uri, handle: link.handle };
  return { uri, why: link.kind === 'expired' ? 'expiredLink' : 'unknown' };
}
