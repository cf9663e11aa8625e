import type { Edits } from '../../../json/edit.js';
import { RANGE, rangeAt } from '../../../mcp/ranges.js';
import type { JsonObject, OutgoingFile } from '../../../ports/dialect.js';
import type { FileRef } from '../../../ports/file.js';
import type { JsonPath } from '../../../ports/json.js';
import { pointer } from '../../../wire/json/pointer.js';
import type { HeldMessage } from '../../../wire/json/reader.js';
import { FILE_ERROR_META_KEY, FILES_META_KEY } from '../../cut/places.js';
import { keepPrivate } from '../../tools/caching.js';
import { isErrorAt } from '../host/shown-file.js';
import type { TranslateContext } from '../translate-context.js';
import type { BlockMoves } from './block-moves.js';

/** Where a message names a file of Wharf's. */
export interface FileEntry {
  file: OutgoingFile;
  /** Path of the result that contains the file. */
  result: JsonPath;
  /** Index of its first block in the result's content, or a JSON pointer to its string in the message. */
  place: { contentIndex: number } | { pointer: string };
  /** The server's own URI of it, which its link has replaced. */
  resource?: string | undefined;
}

/** The entries of one result. */
export function entriesOf(result: JsonPath, entries: readonly FileEntry[]): FileEntry[] {
  return entries.filter((entry) => pointer(entry.result) === pointer(result));
}

/** The paths of all results in a list, each once. */
export function resultsOf(entries: readonly Pick<FileEntry, 'result'>[]): JsonPath[] {
  const results = new Map(entries.map((entry) => [pointer(entry.result), entry.result]));
  return [...results.values()];
}

/** A file as programs see it in `_meta`. */
export function fileEntry({ uri, url, name, mimeType, size, digest, expiresAt }: FileRef): JsonObject {
  return { uri, url, name, mimeType, size, digest, expiresAt };
}

/**
 * Lists the files of each result in its `_meta`, for programs: those that became links, those that the server only names,
 * and the reason for one that is missing.
 * @param replaced pointers of blocks that others have replaced: each has an entry of its own
 */
export function tellPrograms(
  message: HeldMessage,
  entries: readonly FileEntry[],
  { moves, replaced }: { moves: BlockMoves; replaced: ReadonlySet<string> },
  context: Pick<TranslateContext, 'client' | 'links' | 'remote' | 'refused' | 'edits'>,
): void {
  const links = context.links
    .filter(({ result, index }) => !replaced.has(pointer([...result, 'content', index])))
    .map(({ about, result, index }) => {
      return { about, result, contentIndex: moves.placeOf([...result, 'content', index]) };
    });
  const { meta: told = 'keep' } = context.client.host ?? {};
  const failures = [...(context.remote?.failures ?? []), ...(context.refused?.all ?? [])];
  for (const result of resultsOf([...entries, ...links, ...failures])) {
    // its host would show it to the model, where the text says the same already
    if (told === 'drop' || (told === 'no-errors' && isErrorAt(message, result))) continue;
    const place = pointer(result);
    const here = links.filter((link) => pointer(link.result) === place);
    const failure = failures.find((one) => pointer(one.result) === place);
    const files = [
      ...listed(result, entries),
      ...here.map(({ about, contentIndex }): JsonObject => ({ ...about, contentIndex })),
    ];
    writeMeta(message, result, { files, failure: failure?.facts }, context.edits);
  }
}

function listed(result: JsonPath, entries: readonly FileEntry[]): JsonObject[] {
  return entriesOf(result, entries).map(({ file: { ref }, place, resource }) => ({
    ...fileEntry(ref),
    ...(resource !== undefined && { resource }),
    ...place,
  }));
}

function writeMeta(
  message: HeldMessage,
  result: JsonPath,
  { files, failure }: { files: JsonObject[]; failure: JsonObject | undefined },
  edits: Edits,
): void {
  const meta = rangeAt(message, RANGE.meta, [...result, '_meta']);
  const isObject = !meta || message.slice(meta.start, meta.start + 1).toString('latin1') === '{';
  const isTold = files.length > 0 || failure !== undefined;
  if (isTold && !isObject) edits.set([...result, '_meta'], {});
  // a server's own members of these names have been removed, so there are none
  if (files.length > 0) edits.set([...result, '_meta', FILES_META_KEY], files);
  if (failure) edits.set([...result, '_meta', FILE_ERROR_META_KEY], failure);
}

/** A link is a credential of one principal and expires: caches must neither share the result nor keep it longer. */
export function limitCaching(
  message: HeldMessage,
  result: JsonPath,
  entries: readonly FileEntry[],
  edits: Edits,
): void {
  const seconds = entriesOf(result, entries).map(({ file }) => file.ref.ttlSeconds);
  const ttlMs = seconds.reduce((least, one) => Math.min(least, one)) * 1000;
  keepPrivate(edits, result);
  const ttl = rangeAt(message, RANGE.ttlMs, [...result, 'ttlMs']);
  const isShorter = ttl && Number(message.slice(ttl.start, ttl.end).toString('latin1')) <= ttlMs;
  if (!isShorter) edits.set([...result, 'ttlMs'], ttlMs);
}
