import { isObject } from '../json/value.js';
import type { JsonObject, JsonValue } from '../ports/json.js';
import { EACH } from '../schema/argument-path.js';
import { Budget } from '../schema/budget.js';
import { meaningsOf } from '../schema/meanings.js';
import { wordsOf } from './words.js';

/** A value in a tool's arguments that may be a file. */
export interface Argument {
  /** `['pages', '[]', 'data']` */
  path: readonly string[];
  /** Its key: `data`. */
  name: string;
  /** `text`: a string. `bytes`: a list of numbers, as which zod writes integers too. */
  shape: 'text' | 'bytes';
  /** Its schema allows a boolean too: the text is the word "true" or "false", which some servers also take. */
  isFlag: boolean;
  /** Without references and unions; for `bytes` the items' schema. */
  schema: JsonObject;
  /** Its own description, and that of the list that it is an item of; without the names of its siblings. */
  description: string;
  /** The other values in the same object. */
  siblings: Readonly<Record<string, JsonObject>>;
  tool: ToolWords;
}

/** A map in a tool's arguments, which may represent a file as a whole. */
export interface ArgumentMap {
  path: readonly string[];
  properties: Readonly<Record<string, JsonObject>>;
}

interface ToolWords {
  name: string;
  description: string;
}

interface Arguments {
  values: Argument[];
  maps: ArgumentMap[];
}

/** Schemas read in one tool; a recursive one would never end. */
const MOST_VISITS = 2000;
const MOST_DEPTH = 12;
const MOST_PROPERTIES = 200;

/** Every string and every map in the arguments of a tool. */
export function argumentsOf(tool: JsonObject): Arguments {
  const found: Arguments = { values: [], maps: [] };
  const root = isObject(tool.inputSchema) ? tool.inputSchema : {};
  const facts = { name: textOf(tool.name), description: `${textOf(tool.title)} ${textOf(tool.description)}`.trim() };
  const budget = new Budget(MOST_VISITS);

  function visit(place: Place, written: JsonValue | undefined, depth: number): void {
    const meanings = meaningsOf(written, root);
    const isFlag = meanings.some((schema) => typesOf(schema).includes('boolean'));
    for (const schema of meanings) {
      if (!budget.take() || depth > MOST_DEPTH) return;
      const said = `${place.said} ${textOf(schema.title)} ${textOf(schema.description)}`.trim();
      const at = { ...place, said, isFlag };
      const shape = shapeOf(schema);
      if (shape === 'map') visitMap(at, schema, depth);
      if (shape === 'list') visitList(at, schema, depth);
      if (shape === 'text' && place.path.length > 0) add('text', at, schema);
    }
  }

  function visitMap(place: Place, schema: JsonObject, depth: number): void {
    const properties = propertiesOf(schema, root);
    if (place.path.length > 0) found.maps.push({ path: place.path, properties });
    for (const [name, property] of writtenProperties(schema)) {
      const { [name]: _, ...siblings } = properties;
      visit({ path: [...place.path, name], name, said: '', isFlag: false, siblings }, property, depth + 1);
    }
  }

  function visitList(place: Place, schema: JsonObject, depth: number): void {
    const [items] = meaningsOf(schema.items, root);
    if (items?.type === 'integer' || items?.type === 'number') add('bytes', place, items);
    else visit({ ...place, path: [...place.path, EACH] }, schema.items, depth + 1);
  }

  function add(shape: Argument['shape'], { said, ...place }: Place, schema: JsonObject): void {
    const description = withoutNames(said, place.siblings);
    found.values.push({ ...place, shape, schema, description, tool: facts });
  }

  visit({ path: [], name: '', said: '', isFlag: false, siblings: {} }, { ...root, description: '', title: '' }, 0);
  return found;
}

/** "Alternative to localPath" says nothing of the argument itself. A name of one word may be a word of the sentence. */
function withoutNames(said: string, siblings: Argument['siblings']): string {
  return said.replace(/[\w-]+/g, (word) => (Object.hasOwn(siblings, word) && wordsOf(word).length > 1 ? '…' : word));
}

interface Place {
  path: readonly string[];
  name: string;
  said: string;
  isFlag: boolean;
  siblings: Readonly<Record<string, JsonObject>>;
}

function propertiesOf(schema: JsonObject, root: JsonObject): Record<string, JsonObject> {
  return Object.fromEntries(
    writtenProperties(schema).map(([name, property]) => [name, meaningsOf(property, root)[0] ?? {}]),
  );
}

function writtenProperties({ properties }: JsonObject): [string, JsonValue][] {
  return Object.entries(isObject(properties) ? properties : {}).slice(0, MOST_PROPERTIES);
}

function shapeOf(schema: JsonObject): 'map' | 'list' | 'text' | undefined {
  const types = typesOf(schema);
  if (types.includes('string')) return 'text';
  if (types.includes('object') || isObject(schema.properties)) return 'map';
  if (types.includes('array') || schema.items !== undefined) return 'list';
  return schema.type === undefined ? 'text' : undefined;
}

/** The only value that a schema allows, if it names one. */
export function fixedValue(schema: JsonObject | undefined): JsonValue | undefined {
  if (schema?.const !== undefined) return schema.const;
  return Array.isArray(schema?.enum) && schema.enum.length === 1 ? schema.enum[0] : undefined;
}

function typesOf({ type }: JsonObject): readonly (JsonValue | undefined)[] {
  return Array.isArray(type) ? type : [type];
}

/** UTF-16 code units that are read of a text in a schema: names of files and types come early in it. */
const MOST_READ = 4000;

/** A text of a schema, as much of it as is read; of anything else none. */
export function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value.slice(0, MOST_READ) : '';
}
