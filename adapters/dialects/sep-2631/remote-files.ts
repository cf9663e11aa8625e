import { isObject } from '../../../gateway/json/value.js';
import type { ClientFacts } from '../../../gateway/ports/client.js';
import type {
  JsonObject,
  JsonPatch,
  JsonPath,
  JsonValue,
  OutgoingFile,
  RemoteFile,
} from '../../../gateway/ports/dialect.js';
import { readsFileValues } from './capability.js';
import { fileValue, type ReadFile, readAddress, readFileValue, sha256Of } from './file-value.js';

/** Where a gateway that cannot write file-backed contents puts them, beside ordinary ones. */
const CONTENTS_META = 'io.modelcontextprotocol/fileResourceContents';

const MAX_DEPTH = 32;

/** Members of a FileValue about its file. */
const MEMBERS = ['name', 'mimeType', 'size', 'digest'] as const;

const MARKS: Readonly<Record<string, readonly string[]>> = {
  'prompts/get': ['"file"'],
  'resources/read': ['"content"', CONTENTS_META],
};
/** Every object that names a file has a URI. */
const MARKS_OF_RESULTS = ['"uri"'];

/** Texts of which a result of this method has at least one if it names files. */
export function marks(method: string): readonly string[] {
  return MARKS[method] ?? MARKS_OF_RESULTS;
}

/** The files that a result names: in blocks, prompt messages and contents, and FileValues anywhere below. */
export function remoteFiles({ content, messages, contents, structuredContent }: JsonObject): RemoteFile[] {
  const files: RemoteFile[] = [];
  const add = (path: JsonPath, kind: RemoteFile['kind'], read: ReadFile | undefined, isGuess = false): void => {
    if (!read) return;
    const { at: _, ...file } = read;
    files.push({ path, kind, ...file, ...(isGuess && { isGuess }) });
  };
  // a client that does not know such an object refuses the whole result, with any URI in it
  const addEither = (path: JsonPath, kind: RemoteFile['kind'], find: (read: Read) => ReadFile | undefined): void => {
    const named = find(readFileValue);
    const { at: _, ...file } = named ?? find(readAddress) ?? { at: undefined };
    if ('uri' in file) files.push({ path, kind, ...file, ...(!named && { isAddress: true }) });
  };
  for (const [index, block] of entries(content)) {
    addEither(['content', index], 'content', (read) => inBlock(block, read));
  }
  for (const [index, message] of entries(messages)) {
    const { content: block } = isObject(message) ? message : {};
    addEither(['messages', index, 'content'], 'prompt', (read) => inBlock(block, read));
  }
  for (const [index, item] of entries(contents)) {
    addEither(['contents', index], 'resource', (read) => inContents(item, read));
  }
  const walk = (value: JsonValue | undefined, path: JsonPath): void => {
    if (path.length > MAX_DEPTH || typeof value !== 'object' || value === null) return;
    const read = asFileValue(value);
    if (read) {
      add(path, 'value', read);
      return;
    }
    const before = files.length;
    for (const [key, child] of children(value)) walk(child, [...path, key]);
    // an object around files is not a file itself
    if (files.length === before) add(path, 'value', asLikelyFileValue(value), true);
  };
  walk(structuredContent, ['structuredContent']);
  return files;
}

/**
 * Puts Wharf's file into an object of structuredContent. A client that does not know handles gets the link instead of
 * the handle.
 */
export function rename(value: JsonObject, { ref }: OutgoingFile, client: ClientFacts, isFixed: boolean): JsonPatch[] {
  const knows = readsFileValues(client);
  const whole = fileValue(ref);
  const outer = readFileValue(value);
  const read = outer ?? readFileValue(value.file);
  if (!read) return [];
  if (isOld(read) && knows && !isFixed) return [{ path: [], value: whole }];
  const path = outer ? read.at : ['file', ...read.at];
  const patches: JsonPatch[] = [{ path, value: knows ? ref.uri : ref.url }];
  if (!knows || isOld(read)) return patches;
  const told = MEMBERS.filter((key) => !isFixed || value[key] !== undefined);
  return [...patches, ...told.map((key) => ({ path: [key], value: whole[key] }))];
}

type Read = typeof readFileValue;

function inBlock(block: JsonValue | undefined, read: Read): ReadFile | undefined {
  return isObject(block) && block.type === 'file' ? read(block.file) : undefined;
}

/** `FileResourceContents`: its `content` is what names the file, and the resource's own URI may be all that has a name. */
function inContents(item: JsonValue | undefined, readValue: Read): ReadFile | undefined {
  if (!isObject(item)) return undefined;
  const beside = isObject(item._meta) ? item._meta[CONTENTS_META] : undefined;
  const contents = isObject(beside) ? beside : item;
  if (!isObject(contents.content)) return undefined;
  const { uri = item.uri, ...about } = contents;
  const read = readValue({ ...about, ...contents.content });
  return read && { ...read, claims: { ...(typeof uri === 'string' && { uri }), ...read.claims } };
}

/** An object with a handle's scheme, a digest, or an older shape is certainly a file. */
function asFileValue(value: JsonValue): ReadFile | undefined {
  if (!isObject(value) || value.type === 'resource_link') return undefined;
  const read = readFileValue(value);
  if (value.type === 'file' && read && isOld(read)) return read;
  const inner = value.type === 'file' ? readFileValue(value.file) : undefined;
  if (inner && isOld(inner)) return inner;
  return read && (/^mcp-file:/i.test(read.uri) || sha256Of(value.digest) !== undefined) ? read : undefined;
}

/** Any other object with a URI may be a file without a digest, or anything else: the server must be asked. */
function asLikelyFileValue(value: JsonValue): ReadFile | undefined {
  if (!isObject(value) || value.type === 'resource_link' || 'text' in value || 'blob' in value) return undefined;
  const read = readFileValue(value);
  return read && !isOld(read) ? read : undefined;
}

function isOld({ at }: ReadFile): boolean {
  return at.length > 1;
}

function entries(value: JsonValue | undefined): [number, JsonValue][] {
  return Array.isArray(value) ? [...value.entries()] : [];
}

function children(value: JsonValue[] | JsonObject): [string | number, JsonValue][] {
  return Array.isArray(value) ? [...value.entries()] : Object.entries(value);
}
