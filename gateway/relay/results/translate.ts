import { GatewayError } from '../../errors.js';
import type { Edits } from '../../json/edit.js';
import { eraOf } from '../../mcp/era.js';
import { RANGE, rangeAt } from '../../mcp/ranges.js';
import type { Limits } from '../../policy/limits.js';
import type { JsonObject, OutgoingFile, SlotPlace } from '../../ports/dialect.js';
import type { FileRef } from '../../ports/file.js';
import type { JsonPath } from '../../ports/json.js';
import { addAll } from '../../wire/add-all.js';
import { pointer } from '../../wire/json/pointer.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import { type ClaimedCut, inlineLimitOf, isStructured, type MessageCuts } from '../cut/message-cuts.js';
import { FILE_ERROR_META_KEY, FILES_META_KEY } from '../cut/places.js';
import { keepPrivate } from '../tools/tool-list.js';
import { refuseDuplicates } from './duplicates.js';
import { apart, setApart } from './host/apart.js';
import { appendBlocks, type DroppedStructure, droppedStructure } from './host/dropped-structure.js';
import { isErrorAt, resultOf } from './host/shown-file.js';
import { type ClaimedNested, nestedFiles, publishNested, refuseTooLarge } from './nested-files.js';
import type { OutgoingFiles } from './outgoing-files.js';
import type { Replacement } from './remote-edits.js';
import { isExpected, knownDigests, mayBeLinked, type StructuredFile, structuredFiles } from './structured-files.js';
import type { TranslateContext } from './translate-context.js';
import { emptyStrings, refusedStrings, textsForRefused } from './types/left-out.js';

/** A file of structuredContent gets blocks like any other. */
const CONTENT: SlotPlace = {
  name: 'structuredContent',
  path: 'content[]',
  holder: 'content[]',
  kind: 'content',
  encoding: 'base64',
};

interface FileEntry {
  file: OutgoingFile;
  /** Path of the result that contains the file. */
  result: readonly (string | number)[];
  place: { contentIndex: number } | { pointer: string };
  /** The server's own URI of it, which its link has replaced. */
  resource?: string | undefined;
}

/**
 * Turns the cuts of a message into links: replaces the objects that contained files and their copies in
 * structuredContent, and lists the files in `_meta` for programs. Unclaimed cuts stay where they were.
 * Every file that the edits mention is stored and has a record.
 * @throws GatewayError when a file is ambiguous or invalid (not base64, named twice)
 */
export async function translate(
  message: HeldMessage,
  cuts: MessageCuts,
  files: OutgoingFiles,
  context: TranslateContext,
): Promise<void> {
  const { edits } = context;
  const entries: FileEntry[] = [];
  const mine = cuts.claimed.filter((claimed) => claimed.reading && context.mayHoldFiles(claimed.cut.value.path));
  for (const claimed of mine) refuseWhatIsNoFile(claimed, context.limits);
  const { refused } = context;
  const leftOut = textsForRefused(mine, context);
  const stored = mine.filter(({ cut }) => cut.stored && !context.stays(cut));
  const known = await knownDigests(stored, cuts, context);
  const nested = await nestedFiles(message, cuts, { ...context, known });
  refuseTooLarge(nested, context.limits);
  if (stored.length > 0 || nested.length > 0) refuseDuplicates(message);
  await refuseLost(cuts, stored, nested, context);
  const shown = stored.filter(({ cut }) => !refused?.of(cut));
  const ownReplacements = [...leftOut, ...(await replacementsOf(shown, files, context))];
  const fetched = [...ownReplacements, ...besides(context.remote?.replacements ?? [], ownReplacements)];
  const unshown = besides(await context.unshown(), fetched);
  const replacements = [...fetched, ...unshown];
  setApart(replacements, context.client);
  replaceHolders(replacements, edits, entries);
  const moves = new Moves(replacements);
  for (const { file, block } of await publishNested(nested, files, context)) {
    const contentIndex = Number(block.at(-1)) + moves.before(block);
    entries.push({ file, result: resultOf(block), place: { contentIndex } });
  }
  const emptied = await refusedStrings(cuts, context);
  const found = await structuredFiles(message, cuts, files, context);
  const withFiles = [...context.dropped, ...unshown.flatMap(({ link, range }) => (link ? [] : [resultOf(range.path)]))];
  const dropped = [...withFiles, ...unshown.map(({ range }) => resultOf(range.path))];
  const texts = new Set(withFiles.map((result) => pointer(result)));
  const gone = await replaceStructured({ message, cuts, moves, entries, texts }, found, { ...context, dropped });
  await emptyStrings(emptied, context, (result) => gone.has(pointer(result)));
  for (const { file, result, path } of context.remote?.values ?? []) {
    entries.push({ file, result, place: { pointer: pointer(path) } });
  }
  const replaced = new Set(
    replacements.flatMap(({ link = 'gone', range }) => (link === 'gone' ? [pointer(range.path)] : [])),
  );
  const links = context.links
    // a replaced block has an entry of its own
    .filter(({ result, index }) => !replaced.has(pointer([...result, 'content', index])))
    .map(({ about, result, index }) => {
      const contentIndex = index + moves.before([...result, 'content', index]);
      return { about, result, contentIndex };
    });
  const { meta: told = 'keep' } = context.client.host ?? {};
  const failures = [...(context.remote?.failures ?? []), ...(refused?.all ?? [])];
  for (const result of resultsOf([...entries, ...links, ...failures])) {
    // its host would show it to the model, where the text says the same already
    if (told === 'drop' || (told === 'no-errors' && isErrorAt(message, result))) continue;
    const here = links.filter((link) => samePath(link.result, result));
    const failure = failures.find((one) => samePath(one.result, result));
    const listing = [...listed(result, entries), ...here.map(linkEntry)];
    tellPrograms(message, result, { files: listing, failure: failure?.facts }, edits);
  }
  for (const result of resultsOf(entries)) {
    const here = replacements.filter(({ range }) => pointer(resultOf(range.path)) === pointer(result));
    if (here.some(({ link, kind }) => !link && kind === 'content')) await structure(message, result, entries, context);
    const isResource = here.some(({ kind }) => kind === 'resource');
    // the result belongs to one principal, and expires with its links
    if (isResource && eraOf(context.client.protocolVersion).hasCacheFields) {
      limitCaching(message, result, entries, edits);
    }
  }
}

/** Refuses a string that must be a file but is not. Small ones pass, for the client to judge. */
function refuseWhatIsNoFile({ cut, place, reading }: ClaimedCut, limits: Limits): void {
  if (cut.stored || !cut.fault || place.encoding === 'dataUri' || !reading) return;
  const length = cut.inline?.reduce((sum, piece) => sum + piece.length, 0);
  const inlineLimit = inlineLimitOf(cut, place, reading, limits);
  if (length !== undefined && length <= Math.ceil(inlineLimit / 3) * 4) return;
  if (cut.fault.code === 'syntax') throw new GatewayError('upstream_invalid', { reason: cut.fault.message });
  throw new GatewayError('file_not_base64', { path: cut.path, reason: cut.fault.message });
}

/** Refuses a message with a string that has to be put back but cannot, before any of its files has a record. */
async function refuseLost(
  cuts: MessageCuts,
  files: readonly ClaimedCut[],
  nested: readonly ClaimedNested[],
  context: TranslateContext,
): Promise<void> {
  const inTexts = new Set(nested.map((claimed) => claimed.nested.cut));
  const digests = new Set([...files.map(({ cut }) => cut), ...inTexts].map(({ stored }) => stored?.digest));
  for (const cut of cuts.cuts) {
    if (inTexts.has(cut)) continue;
    if (!cut.lost || files.some(({ range }) => range.start < cut.value.offset && cut.value.offset < range.end))
      continue;
    const isFile = isStructured(cut) && context.mayHoldFiles(cut.value.path) && cut.stored !== undefined;
    const isDue = isFile && (digests.has(cut.stored?.digest) || (await isExpected(cut, context)));
    if (isDue && (await mayBeLinked(cut, context))) continue;
    cut.putBack();
  }
}

async function replacementsOf(
  claims: readonly ClaimedCut[],
  files: OutgoingFiles,
  context: TranslateContext,
): Promise<Replacement[]> {
  const replacements: Replacement[] = [];
  for (const { cut, place, holder, range, reading } of claims) {
    if (!cut.stored || !reading) continue;
    const claimsOfUri = cut.dataUri && place.encoding === 'dataUri' ? cut.dataUri : {};
    const file = await files.publish(
      cut.stored,
      { ...reading.claims, ...claimsOfUri },
      context.subject(cut.value.path),
      (type) => context.names.nameAt(range.path, type),
    );
    const { file: seen, client } = await context.shown.in(resultOf(range.path), file, place.kind);
    const blocks = context.write(place, seen, holder, client);
    replacements.push({ range, kind: place.kind, blocks, file, resource: reading.claims.uri });
  }
  return replacements;
}

/** How far blocks have moved because some before them became several, or were put before them. */
class Moves {
  /** The replaced blocks of each list: their places in it, and how many blocks more there are from there on. */
  readonly #lists = new Map<string, { at: number; sum: number }[]>();

  constructor(replacements: readonly Replacement[]) {
    for (const one of replacements.toSorted((a, b) => a.range.start - b.range.start)) {
      const { link, range } = one;
      const [list, index] = placeIn(range.path);
      const known = this.#lists.get(list) ?? [];
      const sum = (known.at(-1)?.sum ?? 0) + gainOf(one);
      // what is put before a block moves the block itself
      known.push({ at: link === 'kept' ? index : index + 1, sum });
      this.#lists.set(list, known);
    }
  }

  /** How far the block at this path has moved. */
  before(path: JsonPath): number {
    const [list, index] = placeIn(path);
    const known = this.#lists.get(list) ?? [];
    // as many as there may be links, and each asks
    let [low, high] = [0, known.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (Number(known[middle]?.at) <= index) low = middle + 1;
      else high = middle;
    }
    return known[low - 1]?.sum ?? 0;
  }
}

function placeIn(path: JsonPath): [list: string, index: number] {
  const at = path.findLastIndex((key) => typeof key === 'number');
  return [pointer(path.slice(0, at)), Number(path[at])];
}

/** How many blocks more there are. */
function gainOf({ link, blocks }: Replacement): number {
  return link === 'kept' ? blocks.length : blocks.length - 1;
}

/** An object that contains one file and names another counts as the one it contains. */
function besides(remote: readonly Replacement[], own: readonly Replacement[]): Replacement[] {
  return remote.filter(
    ({ range }) => !own.some((other) => other.range.start < range.end && range.start < other.range.end),
  );
}

function replaceHolders(replacements: Replacement[], edits: Edits, entries: FileEntry[]): void {
  // one block can become several, which moves those after it
  const shift = new Map<string, number>();
  for (const one of replacements.sort((a, b) => a.range.start - b.range.start)) {
    const { link, range, blocks, file, resource } = one;
    const text = blocks.map((block) => JSON.stringify(block)).join(',');
    if (link === 'kept') edits.replace({ start: range.start, end: range.start }, `${text},`);
    else edits.replace(range, text);
    const list = range.path.findLastIndex((key) => typeof key === 'number');
    const index = range.path[list] as number;
    const listKey = pointer(range.path.slice(0, list));
    const moved = shift.get(listKey) ?? 0;
    shift.set(listKey, moved + gainOf(one));
    const place = { contentIndex: index + moved };
    if (file) entries.push({ file, result: resultOf(range.path), place, resource });
  }
}

/** Adds a structuredContent of Wharf's own, for clients that look for files there, if the tool has none. */
async function structure(
  message: HeldMessage,
  result: readonly (string | number)[],
  entries: readonly FileEntry[],
  { dialects, client, structured, edits }: TranslateContext,
): Promise<void> {
  if (rangeAt(message, RANGE.structuredContent, [...result, 'structuredContent'])) return;
  if (!eraOf(client.protocolVersion).hasStructuredContent) return;
  const files = [...new Set(entriesOf(result, entries).map(({ file }) => file))];
  const value = dialects.map((dialect) => dialect.structure?.(files, client)).find((made) => made !== undefined);
  if (!value || (await structured.declared(result)) !== 'none') return;
  edits.set([...result, 'structuredContent'], value);
}

/** A message under way, with what has been written for it so far. */
interface Translation {
  message: HeldMessage;
  cuts: MessageCuts;
  moves: Moves;
  entries: FileEntry[];
  /** Places of results whose texts say what structuredContent does. */
  texts: ReadonlySet<string>;
}

/**
 * Puts links in the places of files in structuredContent. Where a host would show it alone, it goes instead, and its
 * files get blocks.
 * @returns the results that lose it, by their places
 */
async function replaceStructured(
  translation: Translation,
  found: readonly StructuredFile[],
  context: TranslateContext,
): Promise<ReadonlyMap<string, JsonPath>> {
  const { entries } = translation;
  const drops = context.client.host?.structured === 'drop';
  const results = new Map(drops ? [...context.dropped, ...found.map(({ result }) => result)].map(keyed) : []);
  // an object that has been renamed in there stays
  for (const { result } of context.remote?.values ?? []) results.delete(pointer(result));
  for (const [place, result] of results) {
    const here = found.filter((one) => pointer(one.result) === place);
    const isSaid = here.length > 0 || translation.texts.has(place);
    const dropped = droppedStructure(translation, result, here, { ...context, isSaid });
    if (dropped) await dropStructure(dropped, here, translation, context);
    else results.delete(place);
  }
  for (const one of found) {
    if (!results.has(pointer(one.result))) await linkStructured(one, context, entries);
  }
  return results;
}

function keyed(result: JsonPath): readonly [string, JsonPath] {
  return [pointer(result), result];
}

async function dropStructure(
  dropped: DroppedStructure,
  found: readonly StructuredFile[],
  { moves, entries }: Translation,
  context: TranslateContext,
): Promise<void> {
  const { result, length = 0, block } = dropped;
  const shown = new Set(entriesOf(result, entries).map(({ file }) => file.ref.digest));
  const blocks = block ? [block] : [];
  const first = length + moves.before([...result, 'content', length]);
  for (const { file } of found) {
    if (shown.has(file.ref.digest)) continue;
    shown.add(file.ref.digest);
    entries.push({ file, result, place: { contentIndex: first + blocks.length } });
    const { file: seen, client } = await context.shown.in(result, file, 'content');
    addAll(blocks, context.write(CONTENT, seen, {}, client));
  }
  context.edits.remove([...result, 'structuredContent']);
  appendBlocks(dropped, apart(blocks, first === 0, context.client), context);
}

async function linkStructured(
  { cut, file, result, path }: StructuredFile,
  { structured, edits }: TranslateContext,
  entries: FileEntry[],
): Promise<void> {
  const { url, link: short } = file.ref;
  const link = await structured.fitting(cut, [url, short.url, '']);
  // the client would accept neither, so the string stays
  if (link === undefined) return;
  // the quotes are on either side of the cut
  const quotes = { start: cut.value.offset - 1, end: cut.value.offset + 1 };
  edits.replace(quotes, JSON.stringify(link));
  await structured.change(result, [{ path, value: link }]);
  entries.push({ file, result, place: { pointer: pointer(path) } });
}

function samePath(one: readonly (string | number)[], other: readonly (string | number)[]): boolean {
  return pointer(one) === pointer(other);
}

function resultsOf(entries: readonly Pick<FileEntry, 'result'>[]): (readonly (string | number)[])[] {
  const results = new Map(entries.map((entry) => [pointer(entry.result), entry.result]));
  return [...results.values()];
}

function entriesOf(result: readonly (string | number)[], entries: readonly FileEntry[]): FileEntry[] {
  return entries.filter((entry) => pointer(entry.result) === pointer(result));
}

/** A file's entry for programs. */
export function fileEntry({ uri, url, name, mimeType, size, digest, expiresAt }: FileRef): JsonObject {
  return { uri, url, name, mimeType, size, digest, expiresAt };
}

function linkEntry({ about, contentIndex }: { about: JsonObject; contentIndex: number }): JsonObject {
  return { ...about, contentIndex };
}

function listed(result: readonly (string | number)[], entries: readonly FileEntry[]): JsonObject[] {
  return entriesOf(result, entries).map(({ file: { ref }, place, resource }) => ({
    ...fileEntry(ref),
    ...(resource !== undefined && { resource }),
    ...place,
  }));
}

/** Adds a result's files, or the reason for a missing one, to its `_meta`, for programs. */
function tellPrograms(
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
function limitCaching(message: HeldMessage, result: JsonPath, entries: readonly FileEntry[], edits: Edits): void {
  const seconds = entriesOf(result, entries).map(({ file }) => file.ref.ttlSeconds);
  const ttlMs = seconds.reduce((least, one) => Math.min(least, one)) * 1000;
  keepPrivate(edits, result);
  const ttl = rangeAt(message, RANGE.ttlMs, [...result, 'ttlMs']);
  const isShorter = ttl && Number(message.slice(ttl.start, ttl.end).toString('latin1')) <= ttlMs;
  if (!isShorter) edits.set([...result, 'ttlMs'], ttlMs);
}
