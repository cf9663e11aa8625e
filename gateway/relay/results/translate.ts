import { GatewayError } from '../../errors.js';
import type { NamedType } from '../../files/names/told-name.js';
import { type Edit, inOrder, insertMember, replaceRange } from '../../json/edits.js';
import { RANGE, rangeAt } from '../../mcp/ranges.js';
import type { Limits } from '../../policy/limits.js';
import type { ClientFacts } from '../../ports/client.js';
import type { Dialect, JsonObject, OutgoingFile } from '../../ports/dialect.js';
import type { FileRef } from '../../ports/file.js';
import type { ToolSettings } from '../../ports/file-slot.js';
import { EACH, segmentsOf } from '../../schema/argument-path.js';
import { isDeclaredBase64 } from '../../schema/declared.js';
import { addAll } from '../../wire/add-all.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import type { Cut } from '../cut/cut.js';
import { type ClaimedCut, inlineLimitOf, isStructured, type MessageCuts, pointer } from '../cut/message-cuts.js';
import type { NestedCut } from '../cut/nested-cuts.js';
import { FILE_ERROR_META_KEY, FILES_META_KEY } from '../cut/places.js';
import type { AnnouncedLink } from './lazy-links.js';
import { nestedFiles, publishNested } from './nested-files.js';
import type { OutgoingFiles } from './outgoing-files.js';
import type { RemoteEdits, Replacement } from './remote-edits.js';
import { type StructuredResults, structuredPath } from './structured-results.js';
import type { ToldNames } from './told-names.js';

/** Results are private to a principal and outlive no link; 2026-07-28 lets servers say otherwise. */
const CACHE_FIELDS_SINCE = '2026-07-28';

/** Before this version a result has no structuredContent. */
const STRUCTURED_SINCE = '2025-06-18';

export interface TranslateContext {
  client: ClientFacts;
  /** In order of preference; the last one is spoken by every client. */
  dialects: readonly Dialect[];
  limits: Limits;
  /** Whether what stands at this path is part of a result that can hold files. */
  mayHoldFiles: (path: readonly (string | number)[]) => boolean;
  /** What nameless files at this path are called after. */
  subject: (path: readonly (string | number)[]) => string;
  /** What calls and texts say that files are called which have no names of their own. */
  names: ToldNames;
  /** What tools declare of their results, and what may be changed in those. */
  structured: StructuredResults;
  /** The texts by which a file could be linked to, before there is one. */
  sampleLinks: () => Promise<readonly string[]>;
  /** What the operator says of that tool. */
  settings: (path: readonly (string | number)[]) => ToolSettings | undefined;
  /** Resources that the server only named, and Wharf reads when they are used. */
  links: readonly AnnouncedLink[];
  /** Files that the server only named, and Wharf has fetched. */
  remote: RemoteEdits | undefined;
}

interface FileEntry {
  file: OutgoingFile;
  /** Path of the result the file stands in. */
  result: readonly (string | number)[];
  place: { contentIndex: number } | { pointer: string };
}

/**
 * Turns the cuts of a message into links: replaces the objects that held files, the copies of them in
 * structuredContent, and lists the files in `_meta` for programs. Cuts that nobody claims are left where they were.
 * @returns the edits, in order; every file they speak of is stored and has a record
 * @throws GatewayError when a file in it cannot be told (not base64, named twice)
 */
export async function translate(
  message: HeldMessage,
  cuts: MessageCuts,
  files: OutgoingFiles,
  context: TranslateContext,
): Promise<Edit[]> {
  const edits: Edit[] = [];
  const entries: FileEntry[] = [];
  const mine = cuts.claimed.filter(
    (claimed) => claimed.reading.kind === 'mine' && context.mayHoldFiles(claimed.cut.value.path),
  );
  for (const claimed of mine) refuseWhatIsNoFile(claimed, context.limits);
  const stored = mine.filter((claimed) => claimed.cut.stored);
  const nested = nestedFiles(message, cuts, context);
  if (stored.length > 0 || nested.length > 0) refuseDuplicates(message);
  await refuseLost(cuts, stored, nested, context);
  const ownReplacements = await replacementsOf(stored, files, context);
  const replacements = [...ownReplacements, ...besides(context.remote?.replacements ?? [], ownReplacements)];
  replaceHolders(replacements, edits, entries);
  for (const { file, block } of await publishNested(nested, files, context)) {
    const contentIndex = Number(block.at(-1)) + movedBefore(block, replacements);
    entries.push({ file, result: resultOf(block), place: { contentIndex } });
  }
  await replaceStructured(message, cuts, files, context, edits, entries);
  addAll(edits, context.remote?.edits ?? []);
  for (const { file, result, path } of context.remote?.values ?? []) {
    entries.push({ file, result, place: { pointer: pointer(path) } });
  }
  const links = context.links
    // a block that was replaced has an entry of its own
    .filter(
      ({ result, index }) => !replacements.some(({ range }) => samePath(range.path, [...result, 'content', index])),
    )
    .map(({ about, result, index }) => {
      const contentIndex = index + movedBefore([...result, 'content', index], replacements);
      return { about, result, contentIndex };
    });
  const failures = context.remote?.failures ?? [];
  for (const result of resultsOf([...entries, ...links, ...failures])) {
    const here = links.filter((link) => samePath(link.result, result));
    const failure = failures.find((one) => samePath(one.result, result));
    addAll(edits, tellPrograms(message, result, [...listed(result, entries), ...here.map(linkEntry)], failure?.facts));
  }
  for (const result of resultsOf(entries)) {
    const here = replacements.filter(({ range }) => pointer(resultOf(range.path)) === pointer(result));
    if (here.some(({ kind }) => kind === 'content')) addAll(edits, await structure(message, result, entries, context));
    const isResource = here.some(({ kind }) => kind === 'resource');
    if (isResource && context.client.protocolVersion >= CACHE_FIELDS_SINCE) {
      addAll(edits, keepPrivate(message, result, entries));
    }
  }
  return inOrder(edits);
}

/** A string that must be a file and is none. Small ones pass: the client is the judge of what it can read. */
function refuseWhatIsNoFile({ cut, place, reading }: ClaimedCut, limits: Limits): void {
  if (cut.stored || !cut.fault || place.encoding === 'dataUri' || reading.kind !== 'mine') return;
  const length = cut.inline?.reduce((sum, piece) => sum + piece.length, 0);
  const inlineLimit = inlineLimitOf(cut, place, reading, limits);
  if (length !== undefined && length <= Math.ceil(inlineLimit / 3) * 4) return;
  if (cut.fault.code === 'syntax') throw new GatewayError('upstream_invalid', { reason: cut.fault.message });
  throw new GatewayError('file_not_base64', { path: cut.path, reason: cut.fault.message });
}

/** JSON parsers differ on which of two equal keys counts, so a file named twice could be another one to the client. */
function refuseDuplicates(message: HeldMessage): void {
  const [duplicate] = message.duplicates;
  if (duplicate) throw new GatewayError('file_key_duplicate', { path: duplicate.path, key: duplicate.key });
}

/** A string that would have to be put back and cannot: said before any file of the message has a record. */
async function refuseLost(
  cuts: MessageCuts,
  files: readonly ClaimedCut[],
  nested: readonly NestedCut[],
  context: TranslateContext,
): Promise<void> {
  const digests = new Set([...files, ...nested].map(({ cut }) => cut.stored?.digest));
  for (const cut of cuts.cuts) {
    if (nested.some((claimed) => claimed.cut === cut)) continue;
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
  const writer = context.dialects.find((dialect) => dialect.spokenBy(context.client));
  if (!writer) throw new Error('no dialect is spoken by every client');
  const replacements: Replacement[] = [];
  for (const { cut, place, holder, range, reading } of claims) {
    if (!cut.stored || reading.kind !== 'mine') continue;
    const claimsOfUri = cut.dataUri && place.encoding === 'dataUri' ? cut.dataUri : {};
    const file = await files.publish(
      cut.stored,
      { ...reading.claims, ...claimsOfUri },
      context.subject(cut.value.path),
      (type) => context.names.nameAt(range.path, type),
    );
    const blocks = writer.write(place, file, holder, context.client);
    replacements.push({ range, kind: place.kind, blocks, file });
  }
  return replacements;
}

/** How far blocks that became several have moved the one at this path. */
function movedBefore(path: readonly (string | number)[], replacements: readonly Replacement[]): number {
  const at = path.findLastIndex((key) => typeof key === 'number');
  const list = pointer(path.slice(0, at));
  return replacements
    .filter(({ range }) => pointer(range.path.slice(0, at)) === list && Number(range.path[at]) < Number(path[at]))
    .reduce((sum, { blocks }) => sum + blocks.length - 1, 0);
}

/** An object that holds a file and names another is what it holds. */
function besides(remote: readonly Replacement[], own: readonly Replacement[]): Replacement[] {
  return remote.filter(
    ({ range }) => !own.some((other) => other.range.start < range.end && range.start < other.range.end),
  );
}

function replaceHolders(replacements: Replacement[], edits: Edit[], entries: FileEntry[]): void {
  // one block can become several: what follows it moves
  const shift = new Map<string, number>();
  for (const { range, kind, blocks, file } of replacements.sort((a, b) => a.range.start - b.range.start)) {
    edits.push(replaceRange(range, blocks.map((block) => JSON.stringify(block)).join(',')));
    const list = range.path.findLastIndex((key) => typeof key === 'number');
    const index = range.path[list] as number;
    const listKey = pointer(range.path.slice(0, list));
    const moved = shift.get(listKey) ?? 0;
    if (kind === 'content') shift.set(listKey, moved + blocks.length - 1);
    if (file) entries.push({ file, result: resultOf(range.path), place: { contentIndex: index + moved } });
  }
}

/** The result that the item of a list at this path, or what is in it, stands in. */
function resultOf(path: readonly (string | number)[]): readonly (string | number)[] {
  return path.slice(0, path.findLastIndex((key) => typeof key === 'number') - 1);
}

/** A structuredContent of Wharf's own, for clients that look for files there, where the tool has none itself. */
async function structure(
  message: HeldMessage,
  result: readonly (string | number)[],
  entries: readonly FileEntry[],
  { dialects, client, structured }: TranslateContext,
): Promise<Edit[]> {
  if (rangeAt(message, RANGE.structuredContent, [...result, 'structuredContent'])) return [];
  if (client.protocolVersion < STRUCTURED_SINCE) return [];
  const files = [...new Set(entriesOf(result, entries).map(({ file }) => file))];
  const value = dialects.map((dialect) => dialect.structure?.(files, client)).find((made) => made !== undefined);
  if (!value || (await structured.declared(result)) !== 'none') return [];
  return [insertMember(message, resultRange(message, result), `"structuredContent":${JSON.stringify(value)}`)];
}

/** A string of structuredContent is a file when it repeats one of the same result, or its schema says it is base64. */
async function replaceStructured(
  message: HeldMessage,
  cuts: MessageCuts,
  files: OutgoingFiles,
  context: TranslateContext,
  edits: Edit[],
  entries: FileEntry[],
): Promise<void> {
  for (const cut of cuts.cuts.filter(isStructured)) {
    if (!context.mayHoldFiles(cut.value.path)) continue;
    const path = structuredPath(cut.value.path);
    const file = (await sameFile(cut, files)) ?? (await expectedFile(message, cut, files, context));
    if (!file) continue;
    const { url, link: short } = file.ref;
    const link = await context.structured.fitting(cut, [url, short.url, '']);
    // where its client would take neither, the string stays
    if (link === undefined) continue;
    // the quotes stand on either side of the cut
    edits.push(replaceRange({ start: cut.value.offset - 1, end: cut.value.offset + 1 }, JSON.stringify(link)));
    const result = cut.value.path.slice(0, -path.length - 1);
    await context.structured.change(result, [{ path, value: link }]);
    entries.push({ file, result, place: { pointer: pointer(path) } });
  }
}

async function sameFile(cut: Cut, files: OutgoingFiles): Promise<OutgoingFile | undefined> {
  if (files.count === 0) return undefined;
  const digest = cut.stored?.digest ?? cut.inspect()?.digest;
  return digest === undefined ? undefined : files.get(digest);
}

/** Whether a file is due at this place: the operator or the tool's outputSchema says so. */
async function isExpected(cut: Cut, { settings, structured }: TranslateContext): Promise<boolean> {
  const path = structuredPath(cut.value.path);
  const configured = settings(cut.value.path)?.results.files ?? [];
  if (configured.some((place) => fits(segmentsOf(place), path))) return true;
  const declared = await structured.declared(cut.value.path);
  return typeof declared !== 'string' && isDeclaredBase64(declared, path);
}

/** Whether the string's client would take a link in its place, or nothing. Told before there is a file to link to. */
async function mayBeLinked(cut: Cut, { structured, sampleLinks }: TranslateContext): Promise<boolean> {
  return (await structured.fitting(cut, [...(await sampleLinks()), ''])) !== undefined;
}

function fits(segments: readonly string[], path: readonly (string | number)[]): boolean {
  return (
    segments.length === path.length &&
    path.every((key, index) => (typeof key === 'number' ? segments[index] === EACH : segments[index] === key))
  );
}

async function expectedFile(
  message: HeldMessage,
  cut: Cut,
  files: OutgoingFiles,
  context: TranslateContext,
): Promise<OutgoingFile | undefined> {
  if (!cut.stored && (cut.inspect()?.size ?? 0) <= context.limits.inlineOther) return undefined;
  if (!(await isExpected(cut, context)) || !(await mayBeLinked(cut, context))) return undefined;
  if (!cut.stored) {
    cut.storeLate();
    await cut.pressure;
  }
  if (!cut.stored) return undefined;
  refuseDuplicates(message);
  const told = (type: NamedType) => context.names.nameAt(cut.value.path, type);
  return files.publish(cut.stored, {}, context.subject(cut.value.path), told);
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

/** A file as programs find it. */
export function fileEntry({ uri, url, name, mimeType, size, digest, expiresAt }: FileRef): JsonObject {
  return { uri, url, name, mimeType, size, digest, expiresAt };
}

function linkEntry({ about, contentIndex }: { about: JsonObject; contentIndex: number }): JsonObject {
  return { ...about, contentIndex };
}

function listed(result: readonly (string | number)[], entries: readonly FileEntry[]): JsonObject[] {
  return entriesOf(result, entries).map(({ file: { ref }, place }) => ({ ...fileEntry(ref), ...place }));
}

/** `_meta` of a result: its files once more, for programs, and why one is missing. */
function tellPrograms(
  message: HeldMessage,
  result: readonly (string | number)[],
  files: readonly JsonObject[],
  failure: JsonObject | undefined,
): Edit[] {
  // nothing of the kind is there: what servers say in Wharf's name has been taken out
  const members = [
    ...(files.length > 0 ? [`${JSON.stringify(FILES_META_KEY)}:${JSON.stringify(files)}`] : []),
    ...(failure ? [`${JSON.stringify(FILE_ERROR_META_KEY)}:${JSON.stringify(failure)}`] : []),
  ].join(',');
  if (members === '') return [];
  const meta = rangeAt(message, RANGE.meta, [...result, '_meta']);
  if (!meta) return [insertMember(message, resultRange(message, result), `"_meta":{${members}}`)];
  const isObject = message.slice(meta.start, meta.start + 1).toString('latin1') === '{';
  return [isObject ? insertMember(message, meta, members) : replaceRange(meta, `{${members}}`)];
}

/** A link is one principal's and dies: a cache must neither share the result nor keep it longer than that. */
function keepPrivate(
  message: HeldMessage,
  result: readonly (string | number)[],
  entries: readonly FileEntry[],
): Edit[] {
  const seconds = entriesOf(result, entries).map(({ file }) => file.ref.ttlSeconds);
  const ttlMs = seconds.reduce((least, one) => Math.min(least, one)) * 1000;
  const edits: Edit[] = [];
  const scope = rangeAt(message, RANGE.cacheScope, [...result, 'cacheScope']);
  const ttl = rangeAt(message, RANGE.ttlMs, [...result, 'ttlMs']);
  const missing: string[] = [];
  if (scope) edits.push(replaceRange(scope, '"private"'));
  else missing.push('"cacheScope":"private"');
  if (!ttl) missing.push(`"ttlMs":${ttlMs}`);
  else if (!(Number(message.slice(ttl.start, ttl.end).toString('latin1')) <= ttlMs)) {
    edits.push(replaceRange(ttl, String(ttlMs)));
  }
  if (missing.length > 0) edits.push(insertMember(message, resultRange(message, result), missing.join(',')));
  return edits;
}

function resultRange(message: HeldMessage, result: readonly (string | number)[]): { start: number; end: number } {
  const range = rangeAt(message, RANGE.result, result);
  if (!range) throw new Error(`no result at ${pointer(result)}`);
  return range;
}
