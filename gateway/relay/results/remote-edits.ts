import { breathe } from '../../budget/turn.js';
import { GatewayError } from '../../errors.js';
import type { Library } from '../../files/library.js';
import { speaks, writerFor } from '../../hosts/spoken.js';
import { JsonDocument } from '../../json/document.js';
import type { Edits } from '../../json/edit.js';
import { isObject } from '../../json/value.js';
import { writtenText } from '../../json/written.js';
import { eraOf } from '../../mcp/era.js';
import { sizeText } from '../../policy/amounts.js';
import type { Limits } from '../../policy/limits.js';
import type { ClientFacts } from '../../ports/client.js';
import type { Dialect, HolderKind, OutgoingFile, RemoteFile, SlotPlace } from '../../ports/dialect.js';
import type { JsonObject, JsonPath, JsonValue } from '../../ports/json.js';
import type { Owner } from '../../ports/owner.js';
import { addAll } from '../../wire/add-all.js';
import type { HeldMessage, WatchRange } from '../../wire/json/reader.js';
import type { Room } from '../client/room.js';
import { FILE_ERROR_META_KEY } from '../cut/places.js';
import { refuseDuplicates } from './duplicates.js';
import { apart } from './host/apart.js';
import type { ShownFiles } from './host/shown-file.js';
import { digestIn, type OutgoingFiles } from './outgoing-files.js';
import type { FetchedFile, RemoteFailure, ResultPlace } from './remote-files.js';
import { type StructuredResults, structuredPath } from './structured-results.js';
import { TextRenames, textsOf } from './text-renames.js';

const OPEN_ARRAY = 0x5b;

interface RemoteEditContext {
  /** Whose message it is. */
  owner: Owner;
  server: string;
  client: ClientFacts;
  dialects: readonly Dialect[];
  limits: Limits;
  library: Library;
  files: OutgoingFiles;
  signal: AbortSignal;
  structured: StructuredResults;
  /** Files as the client's host shows them. */
  shown: ShownFiles;
  room: Room;
  edits: Edits;
}

/** Blocks that replace an object. */
export interface Replacement {
  /** What a link of the server's becomes: it stays behind the words, they stand in its place, or it goes because they are there. */
  link?: 'kept' | 'told' | 'gone';
  range: Pick<WatchRange, 'path' | 'start' | 'end'>;
  kind: HolderKind;
  blocks: JsonObject[];
  file?: OutgoingFile;
  /** The server's own URI of the file. */
  resource?: string | undefined;
}

/** The edits of a message whose files were fetched. */
export interface RemoteEdits {
  replacements: Replacement[];
  /** Objects of structuredContent that now name Wharf's file. */
  values: { file: OutgoingFile; result: JsonPath; path: JsonPath }[];
  /** Results that now lack a file, with the reason. */
  failures: { result: JsonPath; facts: JsonObject }[];
}

/** A fetched file takes a place like any other of its kind. */
const PLACES: Readonly<Record<HolderKind, SlotPlace>> = {
  content: { name: 'remote', path: 'content[]', holder: 'content[]', kind: 'content', encoding: 'base64' },
  prompt: {
    name: 'remote',
    path: 'messages[].content',
    holder: 'messages[].content',
    kind: 'prompt',
    encoding: 'base64',
  },
  resource: { name: 'remote', path: 'contents[]', holder: 'contents[]', kind: 'resource', encoding: 'base64' },
};

/**
 * Writes fetched files in the client's dialect. A tool result with a file that could not be fetched becomes an error
 * that names the file, and keeps its other content.
 * @throws GatewayError `remote_file_failed` when a result has no place for such an error
 */
export async function remoteEdits(
  message: HeldMessage,
  fetched: readonly FetchedFile[],
  context: RemoteEditContext,
): Promise<RemoteEdits> {
  const located = await locateAll(message, fetched, context.owner);
  context.edits.know(located);
  const done: RemoteEdits = { replacements: [], values: [], failures: [] };
  const texts = new TextRenames(located, context);
  for (const result of new Set(fetched.map((one) => one.result))) {
    const edited: EditedResult = { blocks: [], names: new Map(), shown: new Set() };
    for (const one of valuesLast(fetched.filter((candidate) => candidate.result === result))) {
      await breathe(context.owner);
      const range = located.at(one.path);
      if (range) await writeFetched({ one, range: { ...range, path: one.path } }, edited, done, context);
    }
    const { blocks, names, failure } = edited;
    await texts.rename(result, names, context.edits);
    if (blocks.length > 0) append(located, result, apart(blocks, false, context.client), context.edits);
    if (failure) {
      context.edits.set([...result.path, 'isError'], true);
      done.failures.push({ result: result.path, facts: { reason: failure.reason } });
    }
  }
  return done;
}

/** What is known of one result while its files are written. */
interface EditedResult {
  /** What is appended to its content. */
  blocks: JsonObject[];
  /** What its files are called from now on, by the server's names. */
  names: Map<string, string>;
  /** Files that its content shows. */
  shown: Set<string>;
  /** The first of its files that could not be fetched. */
  failure?: RemoteFailure;
}

/** A file that was fetched, or not, and the place of the object that names it. */
interface Placed {
  one: FetchedFile;
  range: Replacement['range'];
}

/** An object in structuredContent is not shown by itself: whether its file is shown by then depends on the others. */
function valuesLast(own: readonly FetchedFile[]): FetchedFile[] {
  return own.toSorted((a, b) => Number(a.remote.kind === 'value') - Number(b.remote.kind === 'value'));
}

async function writeFetched(
  { one, range }: Placed,
  edited: EditedResult,
  done: RemoteEdits,
  context: RemoteEditContext,
): Promise<void> {
  const { outcome, remote, dialect } = one;
  if (outcome.kind === 'addressed') {
    if (remote.kind === 'value' || speaks(context.client, dialect)) return;
    done.replacements.push({ range, kind: remote.kind, blocks: addressBlocks(remote, one.holder, context.client) });
    return;
  }
  if (outcome.kind === 'failed') {
    const block = failedBlock(one, outcome, context);
    edited.failure ??= outcome;
    if (remote.kind === 'value') edited.blocks.push(block);
    else done.replacements.push({ range, kind: remote.kind, blocks: [block] });
    return;
  }
  const file = await context.files.add(outcome.record);
  const isSpoken = speaks(context.client, dialect);
  edited.names.set(remote.uri, isSpoken ? file.ref.uri : file.ref.link.url);
  if (remote.kind !== 'value') {
    done.replacements.push({
      range,
      kind: remote.kind,
      blocks: await blocksFor(one, remote.kind, file, context),
      file,
    });
    edited.shown.add(file.ref.uri);
    return;
  }
  const isRenamed = await renameValue(one, file, context, done);
  if ((isSpoken && isRenamed) || edited.shown.has(file.ref.uri)) return;
  // the client's host shows only content
  edited.shown.add(file.ref.uri);
  const seen = await context.shown.in(one.result.path, file, 'content');
  const writer = writerFor(context.client, context.dialects);
  addAll(edited.blocks, writer.write(PLACES.content, seen.file, {}, seen.client));
}

/** What replaces an object that names a file. */
async function blocksFor(
  { dialect, holder, result }: FetchedFile,
  kind: HolderKind,
  file: OutgoingFile,
  context: RemoteEditContext,
): Promise<JsonObject[]> {
  const writer = writerFor(context.client, context.dialects);
  const isPlain = kind === 'resource' && writer !== dialect.forClients;
  const plain = isPlain ? await contentOf(file, holder, context) : undefined;
  const seen = await context.shown.in(result.path, file, kind);
  return plain ?? writer.write(PLACES[kind], seen.file, asHolder(kind, holder), seen.client);
}

/** Every place that may have to be found. */
async function locateAll(message: HeldMessage, fetched: readonly FetchedFile[], owner: Owner): Promise<JsonDocument> {
  const paths = fetched.flatMap(({ path, result, holder }) => [
    ...path.map((_, length) => path.slice(0, length + 1)),
    ...membersOf(holder).map((member) => [...path, ...member]),
    result.path,
    [...result.path, 'isError'],
    [...result.path, 'content'],
    ...textsOf(result).map(([index]) => [...result.path, 'content', index, 'text']),
  ]);
  const isBatch = fetched.some(({ path }) => typeof path[0] === 'number');
  const located = await JsonDocument.of(message.skeleton(), isBatch, owner).findInSteps(paths);
  refuseDuplicates(located);
  return located;
}

/** A small file-backed resource becomes ordinary content, for clients that know nothing else. */
async function contentOf(
  file: OutgoingFile,
  { uri, _meta }: JsonObject,
  { limits, library, files, signal }: RemoteEditContext,
): Promise<JsonObject[] | undefined> {
  const { ref } = file;
  if (ref.size > limits.inlineResource) return undefined;
  const record = files.recordOf(digestIn(file));
  const read = record && (await library.read(record, signal));
  if (read?.kind !== 'found') throw new GatewayError('store_unavailable');
  const chunks: Buffer[] = [];
  for await (const chunk of read.body) chunks.push(chunk as Buffer);
  const blob = Buffer.concat(chunks).toString('base64');
  return [{ uri: uri ?? ref.uri, mimeType: ref.mimeType, blob, ...(_meta !== undefined && { _meta }) }];
}

/** The server's own handle is useless to the client, and so is the metadata of an object of another shape. */
function asHolder(kind: HolderKind, holder: JsonObject): JsonObject {
  const { annotations, _meta, uri } = holder;
  return {
    ...(annotations !== undefined && { annotations }),
    ...(_meta !== undefined && { _meta }),
    ...(kind === 'resource' && uri !== undefined && { uri }),
  };
}

async function renameValue(
  { transfer, holder, path, result }: FetchedFile,
  file: OutgoingFile,
  { client, dialects, structured, edits }: RemoteEditContext,
  done: RemoteEdits,
): Promise<boolean> {
  const isFixed = (await structured.declared(path)) !== 'none';
  const own = isFixed ? undefined : firstOf(dialects, (dialect) => dialect.structure?.([file], client));
  const patches = own ? [{ path: [], value: own }] : transfer.rename(holder, file, client, isFixed);
  const below = structuredPath(path);
  const changes = patches.flatMap(({ path: inner, value }) =>
    value === undefined ? [] : [{ path: [...below, ...inner], value }],
  );
  // an object that the client would refuse stays unchanged: the file is in the content and in the list
  if (isFixed && !(await structured.change(result.path, changes))) return false;
  for (const patch of patches) {
    const place = [...path, ...patch.path];
    if (patch.value === undefined) edits.remove(place);
    else edits.set(place, patch.value);
  }
  done.values.push({ file, result: result.path, path: below });
  return true;
}

function firstOf<Value>(dialects: readonly Dialect[], ask: (dialect: Dialect) => Value | undefined): Value | undefined {
  for (const dialect of dialects) {
    const answer = ask(dialect);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

function failedBlock(
  { remote }: FetchedFile,
  { reason, detail }: RemoteFailure,
  { server }: RemoteEditContext,
): JsonObject {
  const { name } = remote.claims;
  if (remote.kind === 'prompt' || remote.kind === 'resource') {
    throw new GatewayError('remote_file_failed', { server, ...(name !== undefined && { name }), detail, reason });
  }
  const text = `The file ${name === undefined ? '' : `${JSON.stringify(name)} `}of this result could not be fetched from the server "${server}": ${detail}.`;
  return { type: 'text', text, _meta: { [FILE_ERROR_META_KEY]: { reason } } };
}

/** What says where a file is, instead of an object that the client does not know. */
function addressBlocks({ kind, uri, claims, size }: RemoteFile, holder: JsonObject, client: ClientFacts): JsonObject[] {
  const { name = uri, mimeType } = claims;
  const { annotations, _meta, ...ofResource } = asHolder('resource', holder);
  if (kind === 'resource')
    return [{ uri, ...ofResource, mimeType: 'text/uri-list', text: uri, ...(_meta && { _meta }) }];
  const facts = [name, mimeType, size === undefined ? undefined : sizeText(size)].filter((one) => one !== undefined);
  const text = {
    type: 'text',
    text: name === uri ? [uri, ...facts.slice(1)].join(' · ') : `${facts.join(' · ')}\n${uri}`,
  };
  const known = { ...(mimeType !== undefined && { mimeType }), ...(size !== undefined && { size }) };
  const link = { type: 'resource_link', uri, name, ...known };
  const { resourceLinks } = client.host ?? {};
  const isShown = resourceLinks !== 'drop' && resourceLinks !== 'as-text';
  const hasLinks = isShown && eraOf(client.protocolVersion).hasResourceLinks;
  const [first = text, ...others] = kind === 'prompt' ? [hasLinks ? link : text] : hasLinks ? [text, link] : [text];
  return [{ ...first, ...(annotations && { annotations }), ...(_meta && { _meta }) }, ...others];
}

function append(located: JsonDocument, { path }: ResultPlace, blocks: readonly JsonObject[], edits: Edits): void {
  const content = [...path, 'content'];
  const list = located.at(content);
  // it may have been too large to parse, but still be a list
  const isList = list && located.bytes[list.start] === OPEN_ARRAY;
  if (!isList) edits.set(content, [...blocks]);
  else edits.append(content, writtenText(blocks.map((block) => JSON.stringify(block)).join(',')));
}

/** Paths of all members of an object and of its inner objects; FileValues are small and shallow. */
function membersOf(holder: JsonObject, depth = 3): JsonPath[] {
  return Object.entries(holder).flatMap(([key, value]: [string, JsonValue]) => [
    [key],
    ...(depth > 1 && isObject(value) ? membersOf(value, depth - 1).map((path) => [key, ...path]) : []),
  ]);
}
