import { endsAs, hasEnding, type NamedType, nameAs, numbered } from '../../files/names/told-name.js';
import { isObject, valueAt } from '../../json/value.js';
import type { Limits } from '../../policy/limits.js';
import type { JsonObject, JsonPath, JsonValue } from '../../ports/json.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import { pointer } from '../cut/message-cuts.js';
import type { PendingRequest } from '../pending-request.js';

/**
 * Arguments that say what a call's file is called, the surest first: what is to be made, then what is read. Spelled
 * without case, dots, dashes and underscores.
 */
const KEYS: readonly string[] = [
  ...['outputfilename', 'outputfile', 'outputpath', 'output', 'saveas', 'savepath', 'destination', 'dest', 'target'],
  ...['filename', 'file', 'filepath', 'path', 'pathname', 'document', 'doc', 'image', 'imagepath', 'attachment'],
  ...['source', 'src', 'input', 'inputfile', 'inputpath', 'objectkey', 'key', 'uri', 'url', 'href', 'name', 'title'],
];
const RANK = new Map(KEYS.map((key, index) => [key, index]));

/** Arguments whose texts are names, also without an ending. Any other is one only where it ends as a file's name does. */
const NAMES: ReadonlySet<string> = new Set(['filename', 'outputfilename', 'saveas', 'name']);

/** A name and no sentence. */
const PLAIN_NAME = /^[\p{L}\p{N}][\p{L}\p{N} _.,()+-]{0,79}$/u;

/** Bytes, handles and links of Wharf's are no names. */
const NO_NAME = /^(?:data|mcp-file|blob|javascript):/i;

/** What is looked at of a call. */
const MAX_ARGUMENTS = 100;
const MAX_DEPTH = 3;
const MAX_TEXT = 2048;

/** What is looked at of the text before a file, from its end. */
const MAX_LABEL = 500;

/** A message in which labels are looked for; a larger one is not read for them. */
const MAX_MESSAGE = 1024 * 1024;

/** A name in a text: in quotes, where it may have blanks, or one word. Slashes end a name. */
const IN_TEXT =
  /["'`“]([^"'`“”\n/\\]{1,120}\.[A-Za-z0-9]{1,8})["'`”]|([^\s"'`“”<>|*?:\\/()[\]]{1,120}\.[A-Za-z0-9]{1,8})(?![\w-])/g;

interface Told {
  name: string;
  rank: number;
}

/** What a call and the texts of its result say that files without names of their own are called. */
export class ToldNames {
  readonly #message: HeldMessage;
  /** Whether its texts are looked at. */
  readonly #isRead: boolean;
  readonly #requestAt: (path: JsonPath) => PendingRequest | undefined;
  #body: JsonValue | undefined;
  readonly #ofCalls = new Map<PendingRequest, string[] | string | undefined>();
  /** How often a name has been given. */
  readonly #given = new Map<string, number>();
  /** Results of which a file has been named. */
  readonly #begun = new Set<string>();

  /** @param requestAt what is answered by something at this path */
  constructor(
    message: HeldMessage,
    requestAt: (path: JsonPath) => PendingRequest | undefined,
    { values }: Pick<Limits, 'values'>,
  ) {
    this.#isRead = message.size <= MAX_MESSAGE && message.values <= values;
    this.#message = message;
    this.#requestAt = requestAt;
  }

  /**
   * The name of the file at a place in the message; undefined where none is told.
   * @param path of the block that it stands in
   */
  nameAt(path: JsonPath, type: NamedType): string | undefined {
    const request = this.#requestAt(path);
    const ofCall = request && this.#ofCall(request);
    const list = pointer(path.slice(0, -1));
    const isFirst = !this.#begun.has(list);
    this.#begun.add(list);
    const listed = Array.isArray(ofCall) ? takeFirst(ofCall, (name) => endsAs(name, type)) : undefined;
    const single = typeof ofCall === 'string' ? nameAs(ofCall, type) : '';
    // a call that names one file is about the first; what the others are, the texts before them say
    const told = listed ?? (isFirst && single !== '' ? single : undefined) ?? this.#labelOf(path, type) ?? single;
    const name = nameAs(told, type);
    if (name === '') return undefined;
    const count = (this.#given.get(name) ?? 0) + 1;
    this.#given.set(name, count);
    return numbered(name, count);
  }

  #ofCall(request: PendingRequest): string[] | string | undefined {
    if (!this.#ofCalls.has(request)) {
      const { arguments: args } = request.params;
      this.#ofCalls.set(request, isObject(args) ? toldBy(args) : undefined);
    }
    return this.#ofCalls.get(request);
  }

  /** The only name in the text block before, of a file of this type. */
  #labelOf(path: JsonPath, type: NamedType): string | undefined {
    const index = path.at(-1);
    if (typeof index !== 'number' || index === 0 || !this.#isRead) return undefined;
    this.#body ??= JSON.parse(this.#message.skeleton().toString('utf8')) as JsonValue;
    const block = valueAt(this.#body, [...path.slice(0, -1), index - 1]);
    if (!isObject(block) || block.type !== 'text' || typeof block.text !== 'string') return undefined;
    const found = [...block.text.slice(-MAX_LABEL).matchAll(IN_TEXT)].map(([, quoted, word]) => quoted ?? word ?? '');
    const names = new Set(found.filter((name) => endsAs(name, type)));
    const [name] = names;
    return names.size === 1 ? name : undefined;
  }
}

/** Takes the first that fits out of a list. */
function takeFirst(list: string[], fits: (one: string) => boolean): string | undefined {
  const index = list.findIndex(fits);
  return index < 0 ? undefined : list.splice(index, 1)[0];
}

/** What the arguments of a call say: one name, or a list of them where it is about several files. */
export function toldBy(args: JsonObject): string[] | string | undefined {
  let best: Told | undefined;
  let list: string[] | undefined;
  let looks = 0;
  const look = (object: JsonObject, depth: number): void => {
    for (const [key, value] of Object.entries(object)) {
      looks += 1;
      if (looks > MAX_ARGUMENTS) return;
      const word = key.replace(/[\s._-]/g, '').toLowerCase();
      if (typeof value === 'string') {
        const rank = RANK.get(word);
        const name = rank === undefined ? undefined : nameIn(value, NAMES.has(word));
        if (rank !== undefined && name !== undefined && (!best || rank < best.rank)) best = { name, rank };
      } else if (Array.isArray(value)) {
        const isOfNames = RANK.has(word) || RANK.has(word.replace(/s$/, ''));
        const names = value
          .slice(0, MAX_ARGUMENTS)
          .map((item) => (typeof item === 'string' ? nameIn(item, false) : undefined));
        if (isOfNames && names.length > 0 && names.every((name) => name !== undefined)) list ??= names as string[];
      } else if (isObject(value) && depth < MAX_DEPTH) look(value, depth + 1);
    }
  };
  look(args, 1);
  return best?.name ?? list;
}

/** The name in a path, an address or a plain text. @param isName also where it has no ending */
function nameIn(text: string, isName: boolean): string | undefined {
  if (text.length > MAX_TEXT || NO_NAME.test(text)) return undefined;
  const path = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? pathOf(text) : text;
  const segment = path.split(/[/\\]/).at(-1)?.trim() ?? '';
  if (segment === '' || /[\n\r\0]/.test(segment)) return undefined;
  if (hasEnding(segment)) return segment;
  return isName && segment === path && PLAIN_NAME.test(segment) ? segment : undefined;
}

/** Without query and fragment, and without the host. */
function pathOf(address: string): string {
  const path = address.replace(/[?#].*$/s, '').replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '');
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
