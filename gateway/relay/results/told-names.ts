import { endsAs, hasEnding, type NamedType, nameAs, numbered } from '../../files/names/told-name.js';
import { isObject, valueAt } from '../../json/value.js';
import type { Limits } from '../../policy/limits.js';
import type { FileClaims } from '../../ports/file.js';
import type { JsonObject, JsonPath, JsonValue } from '../../ports/json.js';
import { parseJson } from '../../wire/json/parse.js';
import { pointer } from '../../wire/json/pointer.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import type { FileNames, PendingRequest, TracedRequest } from '../pending-request.js';
import { markedAs, namedAs } from './nested-marks.js';

/**
 * Arguments that may name a call's file, most certain first: outputs, then inputs. Compared without case, dots, dashes
 * and underscores.
 */
const KEYS: readonly string[] = [
  ...['outputfilename', 'outputfile', 'outputpath', 'output', 'saveas', 'savepath', 'destination', 'dest', 'target'],
  ...['filename', 'file', 'filepath', 'path', 'pathname', 'document', 'doc', 'image', 'imagepath', 'attachment'],
  ...['source', 'src', 'input', 'inputfile', 'inputpath', 'objectkey', 'key', 'uri', 'url', 'href', 'name', 'title'],
];
const RANK = new Map(KEYS.map((key, index) => [key, index]));

/**
 * Arguments whose texts are names even without an extension. Any other text is a name only if it ends like a file name.
 */
const NAMES: ReadonlySet<string> = new Set(['filename', 'outputfilename', 'saveas', 'name']);

/** A name, not a sentence. */
const PLAIN_NAME = /^[\p{L}\p{N}][\p{L}\p{N} _.,()+-]{0,79}$/u;

/** Bytes, handles and Wharf's links are not names. */
const NO_NAME = /^(?:data|mcp-file|blob|javascript):/i;

/** How much of a call is read. */
const MAX_ARGUMENTS = 100;
const MAX_DEPTH = 3;
const MAX_TEXT = 2048;

/** How much of the text before a file is read, from its end. */
const MAX_LABEL = 500;

/** Labels are searched only in messages up to this size. */
const MAX_MESSAGE = 1024 * 1024;

/** An object with more members is a table, not a file and what is said of it. */
const MOST_MEMBERS = 64;

/** A name in a text: quoted, possibly with blanks, or one word. Slashes end a name. */
const IN_TEXT =
  /["'`“]([^"'`“”\n/\\]{1,120}\.[A-Za-z0-9]{1,8})["'`”]|([^\s"'`“”<>|*?:\\/()[\]]{1,120}\.[A-Za-z0-9]{1,8})(?![\w-])/g;

interface Told {
  name: string;
  rank: number;
}

/** The names that a call, the texts of its result and the members beside a string give to files that have none in their block. */
export class ToldNames {
  readonly #message: HeldMessage;
  /** True when the message's texts are searched. */
  readonly #isRead: boolean;
  readonly #requestAt: (path: JsonPath) => TracedRequest | undefined;
  #body: JsonValue | undefined;
  readonly #ofCalls = new Map<PendingRequest, FileNames | undefined>();
  /** How often each name has been used. */
  readonly #given = new Map<string, number>();
  /** Results with a file that has been named. */
  readonly #begun = new Set<string>();
  /** Whether an object is small enough to be read, however many of its strings are files. */
  readonly #small = new Map<JsonObject, boolean>();

  /** @param requestAt the request answered by the part of the message at this path */
  constructor(
    message: HeldMessage,
    requestAt: (path: JsonPath) => TracedRequest | undefined,
    { values }: Pick<Limits, 'values'>,
  ) {
    this.#isRead = message.size <= MAX_MESSAGE && message.values <= values;
    this.#message = message;
    this.#requestAt = requestAt;
  }

  /**
   * The name for the file at a place in the message; undefined without one.
   * @param path of the block that contains it
   */
  nameAt(path: JsonPath, type: NamedType): string | undefined {
    const request = this.#requestAt(path);
    const ofCall = request && this.#ofCall(request);
    const list = pointer(path.slice(0, -1));
    const isFirst = !this.#begun.has(list);
    this.#begun.add(list);
    const listed = Array.isArray(ofCall) ? takeFirst(ofCall, (name) => endsAs(name, type)) : undefined;
    const single = typeof ofCall === 'string' ? nameAs(ofCall, type) : '';
    // a call that names one file means the first; the texts before the other files name those
    const told = listed ?? (isFirst && single !== '' ? single : undefined) ?? this.#labelOf(path, type) ?? single;
    const name = nameAs(told, type);
    if (name === '') return undefined;
    const count = (this.#given.get(name) ?? 0) + 1;
    this.#given.set(name, count);
    return numbered(name, count);
  }

  /** The name and the type that the members beside a string give it. @param path of the string */
  besideAt(path: JsonPath): FileClaims {
    const key = path.at(-1);
    if (key === undefined || !this.#isRead) return {};
    const holder = valueAt(this.#read(), path.slice(0, -1));
    if (!isObject(holder) || !this.#isSmall(holder)) return {};
    return markedAs({ holder, key }) ?? namedAs({ holder, key });
  }

  #isSmall(holder: JsonObject): boolean {
    const isSmall = this.#small.get(holder) ?? Object.keys(holder).length <= MOST_MEMBERS;
    this.#small.set(holder, isSmall);
    return isSmall;
  }

  #read(): JsonValue {
    this.#body ??= parseJson(this.#message.skeleton().toString('utf8')) as JsonValue;
    return this.#body;
  }

  #ofCall(request: TracedRequest): FileNames | undefined {
    if (!this.#ofCalls.has(request)) {
      const { arguments: args } = request.params;
      this.#ofCalls.set(request, isObject(args) ? toldBy(args) : request.taskNames);
    }
    return this.#ofCalls.get(request);
  }

  /** The only file name of this type in the text block before the file. */
  #labelOf(path: JsonPath, type: NamedType): string | undefined {
    const index = path.at(-1);
    if (typeof index !== 'number' || index === 0 || !this.#isRead) return undefined;
    const block = valueAt(this.#read(), [...path.slice(0, -1), index - 1]);
    if (!isObject(block) || block.type !== 'text' || typeof block.text !== 'string') return undefined;
    const found = [...block.text.slice(-MAX_LABEL).matchAll(IN_TEXT)].map(([, quoted, word]) => quoted ?? word ?? '');
    const names = new Set(found.filter((name) => endsAs(name, type)));
    const [name] = names;
    return names.size === 1 ? name : undefined;
  }
}

/** Removes and returns the first item of a list that fits. */
function takeFirst(list: string[], fits: (one: string) => boolean): string | undefined {
  const index = list.findIndex(fits);
  return index < 0 ? undefined : list.splice(index, 1)[0];
}

/** The name in the arguments of a call, or a list of names if it concerns several files. */
export function toldBy(args: JsonObject): FileNames | undefined {
  let best: Told | undefined;
  let list: string[] | undefined;
  let looks = 0;
  const look = (object: JsonObject, depth: number): void => {
    for (const [key, value] of Object.entries(object)) {
      looks += 1;
      if (looks > MAX_ARGUMENTS) return;
      const word = wordOf(key);
      if (typeof value === 'string') {
        const rank = RANK.get(word);
        const name = rank === undefined ? undefined : nameIn(value, NAMES.has(word));
        if (rank !== undefined && name !== undefined && (!best || rank < best.rank)) best = { name, rank };
      } else if (Array.isArray(value)) {
        const isOfNames = RANK.has(word) || RANK.has(word.replace(/s$/, ''));
        const items = value.slice(0, MAX_ARGUMENTS);
        const names = isOfNames ? items.map((item) => nameOf(item)) : [];
        if (names.length > 0 && names.every((name) => name !== undefined)) list ??= names;
      } else if (isObject(value) && depth < MAX_DEPTH) look(value, depth + 1);
    }
  };
  look(args, 1);
  // the only path of a list names the only file, even where their types differ
  return best?.name ?? (list?.length === 1 ? list[0] : list);
}

/** The name that an item of a list of files gives: a text, or `path` and the like of an object. */
function nameOf(item: JsonValue): string | undefined {
  if (typeof item === 'string') return nameIn(item, false);
  if (!isObject(item)) return undefined;
  let best: Told | undefined;
  for (const [key, value] of Object.entries(item).slice(0, MAX_ARGUMENTS)) {
    const rank = typeof value === 'string' ? RANK.get(wordOf(key)) : undefined;
    const name = rank === undefined ? undefined : nameIn(String(value), false);
    if (rank !== undefined && name !== undefined && (!best || rank < best.rank)) best = { name, rank };
  }
  return best?.name;
}

function wordOf(key: string): string {
  return key.replace(/[\s._-]/g, '').toLowerCase();
}

/** The name in a path, an address or a plain text. @param isName it counts even without an extension */
function nameIn(text: string, isName: boolean): string | undefined {
  if (text.length > MAX_TEXT || NO_NAME.test(text)) return undefined;
  const path = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? pathOf(text) : text;
  const segment = path.split(/[/\\]/).at(-1)?.trim() ?? '';
  if (segment === '' || /[\n\r\0]/.test(segment)) return undefined;
  if (hasEnding(segment)) return segment;
  return isName && segment === path && PLAIN_NAME.test(segment) ? segment : undefined;
}

/** Without query, fragment and host. */
function pathOf(address: string): string {
  const path = address.replace(/[?#].*$/s, '').replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '');
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
