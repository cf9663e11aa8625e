import { breathe } from '../../budget/turn.js';
import { GatewayError } from '../../errors.js';
import type { Library } from '../../files/library.js';
import { addItems, type Edit, insertMember, replaceRange } from '../../json/edits.js';
import { type Located, locateInSteps } from '../../json/locate.js';
import { isObject } from '../../json/value.js';
import type { Limits } from '../../policy/limits.js';
import type { ClientFacts } from '../../ports/client.js';
import type { Dialect, HolderKind, OutgoingFile, SlotPlace } from '../../ports/dialect.js';
import type { JsonObject, JsonPath, JsonValue } from '../../ports/json.js';
import { addAll } from '../../wire/add-all.js';
import type { HeldMessage, WatchRange } from '../../wire/json/reader.js';
import type { Room } from '../client/room.js';
import { FILE_ERROR_META_KEY } from '../cut/places.js';
import type { OutgoingFiles } from './outgoing-files.js';
import type { FetchedFile, RemoteFailure, ResultPlace } from './remote-files.js';
import { type StructuredResults, structuredPath } from './structured-results.js';
import { TextRenames, textsOf } from './text-renames.js';

const OPEN_ARRAY = 0x5b;

export interface RemoteEditContext {
  server: string;
  client: ClientFacts;
  dialects: readonly Dialect[];
  limits: Limits;
  library: Library;
  files: OutgoingFiles;
  signal: AbortSignal;
  structured: StructuredResults;
  room: Room;
}

/** Blocks that take an object's place. */
export interface Replacement {
  range: Pick<WatchRange, 'path' | 'start' | 'end'>;
  kind: HolderKind;
  blocks: JsonObject[];
  file?: OutgoingFile;
}

/** What becomes of a message whose files were fetched. */
export interface RemoteEdits {
  replacements: Replacement[];
  /** Objects of structuredContent that name Wharf's file now. */
  values: { file: OutgoingFile; result: JsonPath; path: JsonPath }[];
  /** Results that lack a file now, and why. */
  failures: { result: JsonPath; facts: JsonObject }[];
  edits: Edit[];
}

/** A file that came from elsewhere stands in a place that is like any other of its kind. */
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
 * Writes fetched files as the client knows files. A tool result with a file that could not be had becomes an error that
 * names it, and keeps whatever else it has.
 * @throws GatewayError `remote_file_failed` where a result cannot say so itself
 */
export async function remoteEdits(
  message: HeldMessage,
  fetched: readonly FetchedFile[],
  context: RemoteEditContext,
): Promise<RemoteEdits> {
  const writer = context.dialects.find((dialect) => dialect.spokenBy(context.client));
  if (!writer) throw new Error('no dialect is spoken by every client');
  const located = await locateAll(message, fetched);
  const done: RemoteEdits = { replacements: [], values: [], failures: [], edits: [] };
  const texts = new TextRenames(located, context.room);
  for (const result of new Set(fetched.map((one) => one.result))) {
    const own = fetched.filter((one) => one.result === result);
    const blocks: JsonObject[] = [];
    const names = new Map<string, string>();
    const shown = new Set<string>();
    let failed: RemoteFailure | undefined;
    for (const one of own.toSorted((a, b) => Number(a.remote.kind === 'value') - Number(b.remote.kind === 'value'))) {
      await breathe();
      const { outcome, remote, path, holder, dialect } = one;
      const range = located.at(path);
      if (!range) continue;
      if (outcome.kind === 'failed') {
        const block = failedBlock(one, outcome, context);
        failed ??= outcome;
        if (remote.kind === 'value') blocks.push(block);
        else done.replacements.push({ range: { ...range, path }, kind: remote.kind, blocks: [block] });
        continue;
      }
      const file = await context.files.add(outcome.record);
      const speaks = dialect.spokenBy(context.client) || context.client.dialects?.includes(dialect.name) === true;
      names.set(remote.uri, speaks ? file.ref.uri : file.ref.link.url);
      if (remote.kind !== 'value') {
        const own = await contentOf(remote.kind, file, holder, writer === dialect, context);
        const written = own ?? writer.write(PLACES[remote.kind], file, asHolder(remote.kind, holder), context.client);
        done.replacements.push({ range: { ...range, path }, kind: remote.kind, blocks: written, file });
        shown.add(file.ref.uri);
        continue;
      }
      const isRenamed = await renameValue(message, located, one, file, context, done);
      if ((speaks && isRenamed) || shown.has(file.ref.uri)) continue;
      // its host shows content only
      shown.add(file.ref.uri);
      addAll(blocks, writer.write(PLACES.content, file, {}, context.client));
    }
    addAll(done.edits, await texts.rename(result, names));
    if (blocks.length > 0) done.edits.push(append(message, located, result, blocks));
    if (failed) {
      done.edits.push(markAsError(message, located, result));
      done.failures.push({ result: result.path, facts: { reason: failed.reason } });
    }
  }
  return done;
}

/** Everything that may have to be found. */
async function locateAll(message: HeldMessage, fetched: readonly FetchedFile[]): Promise<Located> {
  const paths = fetched.flatMap(({ path, result, holder }) => [
    ...path.map((_, length) => path.slice(0, length + 1)),
    ...membersOf(holder).map((member) => [...path, ...member]),
    result.path,
    [...result.path, 'isError'],
    [...result.path, 'content'],
    ...textsOf(result).map(([index]) => [...result.path, 'content', index, 'text']),
  ]);
  const located = await locateInSteps(
    message.skeleton(),
    paths,
    fetched.some(({ path }) => typeof path[0] === 'number'),
  );
  const { duplicate } = located;
  if (duplicate) throw new GatewayError('file_key_duplicate', { path: duplicate.path, key: duplicate.key });
  return located;
}

/** A file-backed resource is small enough to be read as such by whoever knows nothing else. */
async function contentOf(
  kind: HolderKind,
  { ref }: OutgoingFile,
  { uri, _meta }: JsonObject,
  isSpoken: boolean,
  { limits, library, files, signal }: RemoteEditContext,
): Promise<JsonObject[] | undefined> {
  if (kind !== 'resource' || isSpoken || ref.size > limits.inlineResource) return undefined;
  const key = files.keyOf(ref.digest.slice(ref.digest.indexOf(':') + 1));
  const read = key === undefined ? undefined : await library.read(key, signal);
  if (read?.kind !== 'found') throw new GatewayError('store_unavailable');
  const chunks: Buffer[] = [];
  for await (const chunk of read.body) chunks.push(chunk as Buffer);
  const blob = Buffer.concat(chunks).toString('base64');
  return [{ uri: uri ?? ref.uri, mimeType: ref.mimeType, blob, ...(_meta !== undefined && { _meta }) }];
}

/** The server's own handle is nothing to the client, and the metadata of an object of another shape neither. */
function asHolder(kind: HolderKind, holder: JsonObject): JsonObject {
  const { annotations, _meta, uri } = holder;
  return {
    ...(annotations !== undefined && { annotations }),
    ...(_meta !== undefined && { _meta }),
    ...(kind === 'resource' && uri !== undefined && { uri }),
  };
}

async function renameValue(
  message: HeldMessage,
  located: Located,
  { transfer, holder, path, result }: FetchedFile,
  file: OutgoingFile,
  { client, dialects, structured }: RemoteEditContext,
  done: RemoteEdits,
): Promise<boolean> {
  const isFixed = (await structured.declared(path)) !== 'none';
  const own = isFixed ? undefined : firstOf(dialects, (dialect) => dialect.structure?.([file], client));
  const patches = own ? [{ path: [], value: own }] : transfer.rename(holder, file, client, isFixed);
  const below = structuredPath(path);
  const changes = patches.flatMap(({ path: inner, value }) =>
    value === undefined ? [] : [{ path: [...below, ...inner], value }],
  );
  // an object that its client would not take stays as it is: the file stands in the content and in the list
  if (isFixed && !(await structured.change(result.path, changes))) return false;
  for (const patch of patches) {
    const there = located.at([...path, ...patch.path]);
    const parent = located.at([...path, ...patch.path.slice(0, -1)]);
    if (there) done.edits.push(replaceRange(there, JSON.stringify(patch.value)));
    else if (parent) {
      const member = `${JSON.stringify(patch.path.at(-1))}:${JSON.stringify(patch.value)}`;
      done.edits.push(insertMember(message, parent, member));
    }
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
  const name = JSON.stringify(remote.claims.name ?? 'without a name');
  if (remote.kind === 'prompt' || remote.kind === 'resource') {
    throw new GatewayError('remote_file_failed', { server, name, detail, reason });
  }
  const text = `The file ${name} of this result could not be fetched from the server "${server}": ${detail}.`;
  return { type: 'text', text, _meta: { [FILE_ERROR_META_KEY]: { reason } } };
}

function append(message: HeldMessage, located: Located, result: ResultPlace, blocks: readonly JsonObject[]): Edit {
  const text = blocks.map((block) => JSON.stringify(block)).join(',');
  const list = located.at([...result.path, 'content']);
  // it may have been too much to be looked into, and is a list all the same
  const isList = list && located.text.bytes[list.start] === OPEN_ARRAY;
  return isList ? addItems(message, list, text) : insertInto(message, located, result, `"content":[${text}]`);
}

function markAsError(message: HeldMessage, located: Located, result: ResultPlace): Edit {
  const there = located.at([...result.path, 'isError']);
  return there ? replaceRange(there, 'true') : insertInto(message, located, result, '"isError":true');
}

function insertInto(message: HeldMessage, located: Located, { path }: ResultPlace, member: string): Edit {
  const range = located.at(path);
  if (!range) throw new Error('the result is nowhere');
  return insertMember(message, range, member);
}

/** Paths of all members of an object, and of objects in it; FileValues are small and shallow. */
function membersOf(holder: JsonObject, depth = 3): JsonPath[] {
  return Object.entries(holder).flatMap(([key, value]: [string, JsonValue]) => [
    [key],
    ...(depth > 1 && isObject(value) ? membersOf(value, depth - 1).map((path) => [key, ...path]) : []),
  ]);
}
