import { isObject } from '../../json/value.js';
import type { Encoding, FileSlot } from '../../ports/file-slot.js';
import type { JsonObject, JsonValue } from '../../ports/json.js';
import { EACH } from '../../schema/argument-path.js';
import { placeOf } from '../../schema/place.js';

/** What an argument's name says of its encoding and not of the file. */
const ENCODING = /(?:base64|b64|data|content|bytes|uri)$/;

/** Encodings with the name in them. */
const CARRIES_NAME = new Set<Encoding>(['dataUriNamed', 'object']);

/** Arguments for the name of the only file beside them. */
const ALONE: readonly string[] = ['filename', 'originalfilename', 'originalname'];

/**
 * The slots of a tool, with the arguments that are given their files' names. A server that declares a file and cannot
 * be told its name inside of it has a separate argument for that, which only its own name points out: `photo_name` of
 * `photo`. What the operator configured, and what a declaration names itself, is not guessed at.
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
  return !deliveries.some((delivery) => delivery.kind === 'encoded' && CARRIES_NAME.has(delivery.encoding));
}

function nameCompanion({ path: whole }: FileSlot, families: Families): string | undefined {
  const isList = whole.at(-1) === EACH;
  const path = isList ? whole.slice(0, -1) : whole;
  const key = path.at(-1);
  if (key === undefined || key === EACH) return undefined;
  const { files, siblings } = families.at(path.slice(0, -1));
  const called = (wanted: readonly string[]) => siblings?.first(wanted, isList, files);
  const name = called(namesFor(key)) ?? (files.size === 1 ? called(ALONE) : undefined);
  return name && (isList ? `${name}${EACH}` : name);
}

/** The arguments that stand beside each other in one object of a tool. */
interface Family {
  /** Those that are files, or have files in them. */
  files: ReadonlySet<string>;
  siblings: Siblings | undefined;
}

/** The objects of a tool in which slots stand. Each is looked through once, however many slots are in it. */
class Families {
  readonly #tool: JsonObject;
  readonly #slots: readonly FileSlot[];
  readonly #known = new Map<string, Family>();
  /** By their `properties`: one schema may stand in many places. */
  readonly #siblings = new Map<JsonObject, Siblings>();

  constructor(tool: JsonObject, slots: readonly FileSlot[]) {
    this.#tool = tool;
    this.#slots = slots;
  }

  at(parent: readonly string[]): Family {
    const id = JSON.stringify(parent);
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

/** The arguments of one object that may be given names, found by their own. */
class Siblings {
  readonly #ofOne = new Map<string, string[]>();
  readonly #ofLists = new Map<string, string[]>();
  readonly #places = new Map<string, number>();

  constructor(properties: JsonObject) {
    for (const [name, schema] of Object.entries(properties)) {
      if (holdsNames(schema, false)) note(this.#ofOne, plain(name, false), name);
      if (holdsNames(schema, true)) note(this.#ofLists, plain(name, true), name);
      this.#places.set(name, this.#places.size);
    }
  }

  /** The first in the tool's order that is called one of these. */
  first(wanted: readonly string[], isList: boolean, files: ReadonlySet<string>): string | undefined {
    const known = isList ? this.#ofLists : this.#ofOne;
    let first: string | undefined;
    for (const word of wanted) {
      const found = known.get(word)?.find((name) => !files.has(name));
      if (found !== undefined && (first === undefined || this.#placeOf(found) < this.#placeOf(first))) first = found;
    }
    return first;
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

/** `photo_name`, `photoName` and `photo-name` are one; of a list, a plural is its singular. */
function plain(name: string, isList: boolean): string {
  const letters = name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
  return isList ? letters.replace(/names$/, 'name') : letters;
}

/** A text that may be any, or a list of them. */
function holdsNames(schema: JsonValue | undefined, isList: boolean): boolean {
  if (!isObject(schema)) return false;
  if (isList) return schema.type === 'array' && holdsNames(schema.items, false);
  const branches = [schema.anyOf, schema.oneOf].flatMap((union) => (Array.isArray(union) ? union : []));
  if (branches.length > 0) return branches.some((branch) => holdsNames(branch, false));
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  return types.includes('string') && schema.enum === undefined && schema.const === undefined;
}

/** Whether a tool takes the size of a slot's file as text. */
export function sizeIsText(tool: JsonObject, { path, companions: { size } }: FileSlot): boolean {
  if (size === undefined) return false;
  const beside = path.slice(0, path.at(-1) === EACH ? -2 : -1);
  const key = size.endsWith(EACH) ? [size.slice(0, -EACH.length), EACH] : [size];
  return placeOf(tool, [...beside, ...key])?.schema.type === 'string';
}
