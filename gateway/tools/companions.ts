import { encodingFacts } from '../encodings.js';
import { isObject, textIn } from '../json/value.js';
import { FILLED_WITH_NAME } from '../policy/file-words.js';
import type { FileSlot } from '../ports/file-slot.js';
import type { JsonObject, JsonValue } from '../ports/json.js';
import { argumentOf, besidePath, EACH, isEach, PathKeys } from '../schema/argument-path.js';
import { placeOf } from '../schema/place.js';
import { isSpecial } from '../schema/segments.js';

/** The part of an argument's name about its encoding instead of the file. */
const ENCODING = /(?:base64|b64|data|content|bytes|uri)$/;

/** Arguments for the name of the only file beside them. */
const ALONE: readonly string[] = ['filename', 'originalfilename', 'originalname'];

/**
 * Adds to a tool's slots the arguments for their files' names. If a server's declaration has no place for a file's
 * name, a separate argument takes it, recognisable only by its own name: `photo_name` for `photo`. Nothing is guessed
 * if the operator configured it, or a declaration names it itself.
 */
export function withNameCompanions(tool: JsonObject, slots: readonly FileSlot[]): FileSlot[] {
  const families = new Families(tool, slots);
  return slots.map((slot) => {
    if (slot.declaredBy === 'config' || slot.companions.name !== undefined || !needsName(slot)) return slot;
    const name = nameCompanion(slot, families);
    return name === undefined ? slot : { ...slot, companions: { ...slot.companions, name } };
  });
}

function needsName({ deliveries }: FileSlot): boolean {
  return !deliveries.some((delivery) => delivery.kind === 'encoded' && encodingFacts(delivery.encoding).carriesName);
}

function nameCompanion({ path: whole }: FileSlot, families: Families): string | undefined {
  const isList = isEach(whole);
  const path = argumentOf(whole);
  const key = path.at(-1);
  // the members of a map, and the items of a list, have no names of their own beside them
  if (key === undefined || isSpecial(key)) return undefined;
  const { files, siblings } = families.at(path.slice(0, -1));
  const called = (wanted: readonly string[]) => siblings?.first(wanted, isList, files);
  const ofOnly = () => siblings?.told(isList, files) ?? called(ALONE);
  const name = called(namesFor(key)) ?? (files.size === 1 ? ofOnly() : undefined);
  return name && (isList ? `${name}${EACH}` : name);
}

/** The sibling arguments in one object of a tool. */
interface Family {
  /** Those that are files, or contain files. */
  files: ReadonlySet<string>;
  siblings: Siblings | undefined;
}

/** The objects of a tool that contain slots. Each is searched once, however many slots it has. */
class Families {
  readonly #tool: JsonObject;
  readonly #slots: readonly FileSlot[];
  readonly #known = new Map<string, Family>();
  readonly #keys = new PathKeys();
  /** By their `properties`: one schema may be used in many places. */
  readonly #siblings = new Map<JsonObject, Siblings>();

  constructor(tool: JsonObject, slots: readonly FileSlot[]) {
    this.#tool = tool;
    this.#slots = slots;
  }

  at(parent: readonly string[]): Family {
    const id = this.#keys.of(parent);
    const family = this.#known.get(id) ?? this.#find(parent);
    this.#known.set(id, family);
    return family;
  }

  #find(parent: readonly string[]): Family {
    const beside = this.#slots.filter((slot) => isBeside(slot, parent));
    const files = new Set(beside.map(({ path }) => path[parent.length] as string));
    const schema = parent.length === 0 ? this.#tool.inputSchema : placeOf(this.#tool, parent)?.schema;
    const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : undefined;
    return { files, siblings: properties && this.#of(properties) };
  }

  #of(properties: JsonObject): Siblings {
    const siblings = this.#siblings.get(properties) ?? new Siblings(properties);
    this.#siblings.set(properties, siblings);
    return siblings;
  }
}

/** The arguments of one object that can take names, indexed by their own names. */
class Siblings {
  readonly #ofOne = new Map<string, string[]>();
  readonly #ofLists = new Map<string, string[]>();
  /** Those whose description tells that they are filled with a file's name, as another Wharf's does. */
  readonly #told: string[] = [];
  readonly #places = new Map<string, number>();

  constructor(properties: JsonObject) {
    for (const [name, schema] of Object.entries(properties)) {
      if (holdsNames(schema, false)) note(this.#ofOne, plain(name, false), name);
      if (holdsNames(schema, true)) note(this.#ofLists, plain(name, true), name);
      if (isObject(schema) && textIn(schema, 'description')?.endsWith(FILLED_WITH_NAME)) this.#told.push(name);
      this.#places.set(name, this.#places.size);
    }
  }

  /** The first, in the tool's order, with one of these names. */
  first(wanted: readonly string[], isList: boolean, files: ReadonlySet<string>): string | undefined {
    const known = isList ? this.#ofLists : this.#ofOne;
    let first: string | undefined;
    for (const word of wanted) {
      const found = known.get(word)?.find((name) => !files.has(name));
      if (found !== undefined && (first === undefined || this.#placeOf(found) < this.#placeOf(first))) first = found;
    }
    return first;
  }

  /** The only one that takes a name by its description, of a file or of a list of files. */
  told(isList: boolean, files: ReadonlySet<string>): string | undefined {
    const known = new Set([...(isList ? this.#ofLists : this.#ofOne).values()].flat());
    const [only, ...others] = this.#told.filter((name) => known.has(name) && !files.has(name));
    return others.length === 0 ? only : undefined;
  }

  #placeOf(name: string): number {
    return this.#places.get(name) as number;
  }
}

function note(known: Map<string, string[]>, word: string, name: string): void {
  const names = known.get(word);
  if (names) names.push(name);
  else known.set(word, [name]);
}

function isBeside({ path }: FileSlot, parent: readonly string[]): boolean {
  return path.length > parent.length && parent.every((segment, index) => path[index] === segment);
}

function namesFor(key: string): string[] {
  const own = plain(key, false);
  const stems = new Set([own, own.replace(/s$/, ''), own.replace(ENCODING, '')].filter(Boolean));
  return [...stems].flatMap((stem) => [`${stem}name`, `${stem}filename`]);
}

/** `photo_name`, `photoName` and `photo-name` are equal; for a list, a plural becomes its singular. */
function plain(name: string, isList: boolean): string {
  const letters = name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
  return isList ? letters.replace(/names$/, 'name') : letters;
}

/** An unrestricted text, or a list of them. */
function holdsNames(schema: JsonValue | undefined, isList: boolean): boolean {
  if (!isObject(schema)) return false;
  if (isList) return schema.type === 'array' && holdsNames(schema.items, false);
  const branches = [schema.anyOf, schema.oneOf].flatMap((union) => (Array.isArray(union) ? union : []));
  if (branches.length > 0) return branches.some((branch) => holdsNames(branch, false));
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  return types.includes('string') && schema.enum === undefined && schema.const === undefined;
}

/** True when a tool takes the size of a slot's file as text. */
export function sizeIsText(tool: JsonObject, { path, companions: { size } }: FileSlot): boolean {
  return size !== undefined && placeOf(tool, besidePath(path, size))?.schema.type === 'string';
}
