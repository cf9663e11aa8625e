import type { JsonObject, JsonValue } from '../ports/json.js';

/** A value in a tool's arguments that may be a file. */
export interface Argument {
  /** `['pages', '[]', 'data']` */
  path: readonly string[];
  /** The key it stands under: `data`. */
  name: string;
  /** `text`: a string. `bytes`: a list of integers. */
  shape: 'text' | 'bytes';
  /** Without references and unions; of `bytes` the items' schema. */
  schema: JsonObject;
  /** What is said of it, and of the list that it is an item of. */
  description: string;
  /** The values beside it, without itself. */
  siblings: Readonly<Record<string, JsonObject>>;
  tool: ToolFacts;
}

/** A map in a tool's arguments: the whole of it may stand for a file. */
export interface ArgumentMap {
  path: readonly string[];
  properties: Readonly<Record<string, JsonObject>>;
}

export interface ToolFacts {
  name: string;
  description: string;
}

export interface Arguments {
  values: Argument[];
  maps: ArgumentMap[];
  /** Paths of schemas that hold a keyword by which a server itself declares a file. */
  declared: { path: readonly string[]; by: string }[];
}

/** Schemas that are looked at in one tool; a recursive one would never end. */
const MOST_VISITS = 2000;
const MOST_DEPTH = 12;
const MOST_REFERENCES = 16;
const MOST_BRANCHES = 8;
const MOST_PROPERTIES = 200;
/** Unions of unions. */
const MOST_UNIONS = 2;

/** Keywords of SEP-2356, by which a server says that a string is a file. */
const FILE_KEYWORDS = ['x-mcp-file', 'mcpFile'];

/** Every string and every map in the arguments of a tool. */
export function argumentsOf(tool: JsonObject): Arguments {
  const found: Arguments = { values: [], maps: [], declared: [] };
  const root = isObject(tool.inputSchema) ? tool.inputSchema : {};
  const facts = { name: textOf(tool.name), description: `${textOf(tool.title)} ${textOf(tool.description)}`.trim() };
  let visits = 0;

  function visit(place: Place, written: JsonValue | undefined, depth: number): void {
    for (const schema of branchesOf(written, root)) {
      if (++visits > MOST_VISITS || depth > MOST_DEPTH) return;
      const said = `${place.said} ${textOf(schema.title)} ${textOf(schema.description)}`.trim();
      const at = { ...place, said };
      const keyword = FILE_KEYWORDS.find((name) => Object.hasOwn(schema, name));
      if (keyword !== undefined) found.declared.push({ path: place.path, by: keyword });
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
      visit({ path: [...place.path, name], name, said: '', siblings }, property, depth + 1);
    }
  }

  function visitList(place: Place, schema: JsonObject, depth: number): void {
    const [items] = branchesOf(schema.items, root);
    if (items?.type === 'integer') add('bytes', place, items);
    else visit({ ...place, path: [...place.path, '[]'] }, schema.items, depth + 1);
  }

  function add(shape: Argument['shape'], { path, name, said, siblings }: Place, schema: JsonObject): void {
    found.values.push({ path, name, shape, schema, description: said, siblings, tool: facts });
  }

  visit({ path: [], name: '', said: '', siblings: {} }, { ...root, description: '', title: '' }, 0);
  return found;
}

interface Place {
  path: readonly string[];
  name: string;
  said: string;
  siblings: Readonly<Record<string, JsonObject>>;
}

function propertiesOf(schema: JsonObject, root: JsonObject): Record<string, JsonObject> {
  return Object.fromEntries(
    writtenProperties(schema).map(([name, property]) => [name, branchesOf(property, root)[0] ?? {}]),
  );
}

function writtenProperties({ properties }: JsonObject): [string, JsonValue][] {
  return Object.entries(isObject(properties) ? properties : {}).slice(0, MOST_PROPERTIES);
}

/** A schema's meanings: each branch of its unions, local references followed, and never null. */
function branchesOf(written: JsonValue | undefined, root: JsonObject, depth = 0): JsonObject[] {
  const schema = resolved(written, root);
  if (schema === undefined || schema.type === 'null') return [];
  const { anyOf, oneOf, allOf, ...own } = schema;
  const parts = Array.isArray(allOf) ? allOf.slice(0, MOST_BRANCHES) : [];
  const whole = parts.reduce<JsonObject>((sum, part) => merged(sum, resolved(part, root)), own);
  const union = [anyOf, oneOf].find((list): list is JsonValue[] => Array.isArray(list));
  if (union === undefined || depth === MOST_UNIONS) return [whole];
  return union.slice(0, MOST_BRANCHES).flatMap((branch) => {
    return branchesOf(branch, root, depth + 1).map((one) => merged(whole, one));
  });
}

function merged(a: JsonObject, b: JsonObject | undefined): JsonObject {
  if (b === undefined) return a;
  const properties = {
    ...(isObject(a.properties) ? a.properties : {}),
    ...(isObject(b.properties) ? b.properties : {}),
  };
  const said = [a.description, b.description].filter((text) => typeof text === 'string').join(' ');
  return {
    ...a,
    ...b,
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(said ? { description: said } : {}),
  };
}

/** Follows `$ref` within the schema; what stands beside it counts as well. */
function resolved(written: JsonValue | undefined, root: JsonObject): JsonObject | undefined {
  let schema = isObject(written) ? written : undefined;
  for (let step = 0; schema !== undefined && typeof schema.$ref === 'string'; step++) {
    if (step === MOST_REFERENCES) return undefined;
    const { $ref, ...own }: JsonObject = schema;
    const target = pointed(root, String($ref));
    schema = target && { ...target, ...own };
  }
  return schema;
}

function pointed(root: JsonObject, reference: string): JsonObject | undefined {
  if (!reference.startsWith('#/')) return undefined;
  let value: JsonValue | undefined = root;
  for (const step of reference.slice(2).split('/')) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return isObject(value) ? value : undefined;
}

function shapeOf(schema: JsonObject): 'map' | 'list' | 'text' | undefined {
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  if (types.includes('string')) return 'text';
  if (types.includes('object') || isObject(schema.properties)) return 'map';
  if (types.includes('array') || schema.items !== undefined) return 'list';
  return schema.type === undefined ? 'text' : undefined;
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value.slice(0, 4000) : '';
}
