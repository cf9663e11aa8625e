import type { JsonObject, JsonValue } from '../ports/dialect.js';

/** JSON Schema keywords that a link may or may not satisfy where base64 does. */
const NARROWING = [
  'pattern',
  'format',
  'maxLength',
  'contentEncoding',
  'contentMediaType',
  'not',
  'if',
  'dependentSchemas',
] as const;

/** Guards against a `$ref` that leads back to itself. */
const MAX_REFS = 16;

/**
 * Schemas looked at for one question. Ten branches that each refer back to their union are 10^16 ways to go: one
 * hostile tool must not stop the process.
 */
const MAX_STEPS = 10_000;

/** One question to a schema. */
interface Walk {
  root: JsonObject;
  stepsLeft: number;
}

/**
 * What a schema says of a string at a place: every string will do, none will (the place or its type is another), or
 * it depends on the string.
 */
type Verdict = 'any' | 'none' | 'depends';

/**
 * True when the tool's outputSchema accepts any string at `path`, so that a link may take the place of base64 there.
 * A client validates structuredContent against this schema and refuses the whole result if it does not fit. Where the
 * schema is too clever to be sure, the answer is no and the string becomes `""`.
 */
export function acceptsAnyString(schema: JsonObject | undefined, path: readonly (string | number)[]): boolean {
  return schema === undefined || judge(schema, path, { root: schema, stepsLeft: MAX_STEPS }, MAX_REFS) === 'any';
}

function judge(node: JsonValue | undefined, path: readonly (string | number)[], walk: Walk, refs: number): Verdict {
  if (walk.stepsLeft-- <= 0) return 'depends';
  if (node === undefined || node === true) return 'any';
  if (!isObject(node)) return 'none';
  const verdicts: Verdict[] = [judgeHere(node, path, walk, refs)];
  if (typeof node.$ref === 'string') {
    const target = refs > 0 ? resolve(walk.root, node.$ref) : undefined;
    verdicts.push(target === undefined ? 'depends' : judge(target, path, walk, refs - 1));
  }
  const branches = (keyword: string): Verdict[] | undefined => {
    const list = node[keyword];
    return Array.isArray(list) ? list.map((branch) => judge(branch, path, walk, refs)) : undefined;
  };
  for (const union of [branches('anyOf'), branches('oneOf')]) if (union) verdicts.push(either(union));
  verdicts.push(...(branches('allOf') ?? []));
  return verdicts.find((verdict) => verdict !== 'any') ?? 'any';
}

/** Of a union, only the branches count that take a string at this place at all. */
function either(branches: readonly Verdict[]): Verdict {
  const possible = branches.filter((verdict) => verdict !== 'none');
  if (possible.length === 0) return 'none';
  return possible.every((verdict) => verdict === 'any') ? 'any' : 'depends';
}

function judgeHere(node: JsonObject, path: readonly (string | number)[], walk: Walk, refs: number): Verdict {
  if (NARROWING.some((keyword) => keyword in node)) return 'depends';
  const [key, ...rest] = path;
  const due = key === undefined ? 'string' : typeof key === 'number' ? 'array' : 'object';
  const { type } = node;
  if (type !== undefined && type !== due && !(Array.isArray(type) && type.includes(due))) return 'none';
  if ('const' in node || 'enum' in node) return 'none';
  return key === undefined ? 'any' : judge(childOf(node, key), rest, walk, refs);
}

function childOf(node: JsonObject, key: string | number): JsonValue | undefined {
  if (typeof key === 'number') {
    const prefix = Array.isArray(node.prefixItems) ? node.prefixItems[key] : undefined;
    return prefix ?? (Array.isArray(node.items) ? node.items[key] : node.items);
  }
  // which of them apply is more than can be told here
  if (isObject(node.patternProperties)) return { not: {} };
  const named = isObject(node.properties) ? own(node.properties, key) : undefined;
  return named ?? node.additionalProperties;
}

/** True when the schema declares the string at `path` to be base64: `contentEncoding: base64`. */
export function isDeclaredBase64(schema: JsonObject | undefined, path: readonly (string | number)[]): boolean {
  return schema !== undefined && declares(schema, path, { root: schema, stepsLeft: MAX_STEPS }, MAX_REFS);
}

function declares(node: JsonValue | undefined, path: readonly (string | number)[], walk: Walk, refs: number): boolean {
  if (walk.stepsLeft-- <= 0 || !isObject(node)) return false;
  const { $ref } = node;
  if (typeof $ref === 'string' && refs > 0 && declares(resolve(walk.root, $ref), path, walk, refs - 1)) return true;
  const [key, ...rest] = path;
  if (key === undefined ? declaresBase64(node) : declares(childOf(node, key), rest, walk, refs)) return true;
  return ['anyOf', 'oneOf', 'allOf'].some((keyword) => {
    const branches = node[keyword];
    return Array.isArray(branches) && branches.some((branch) => declares(branch, path, walk, refs));
  });
}

function declaresBase64(node: JsonObject): boolean {
  return typeof node.contentEncoding === 'string' && node.contentEncoding.toLowerCase() === 'base64';
}

/** Lengths, patterns and formats were those of the base64 text. */
const OF_THE_TEXT: ReadonlySet<string> = new Set(['pattern', 'format', 'minLength', 'maxLength']);

/** Keywords whose lists hold values and no schemas. */
const VALUES: ReadonlySet<string> = new Set(['enum', 'examples', 'const', 'default', 'required']);

/**
 * The outputSchema as clients get it: where it declared base64 there will be a link, so the declaration goes.
 * Undefined when there is nothing to rewrite.
 */
export function withoutBase64Declarations(schema: JsonObject): JsonObject | undefined {
  let changed = false;
  const walk = (node: JsonValue): JsonValue => {
    if (Array.isArray(node)) return node.map(walk);
    if (!isObject(node)) return node;
    const declares = declaresBase64(node);
    if (declares) changed = true;
    // fromEntries keeps a property called __proto__ one
    return Object.fromEntries(
      Object.entries(node)
        .filter(([key]) => !declares || !(key.startsWith('content') || OF_THE_TEXT.has(key)))
        .map(([key, value]) => [key, VALUES.has(key) && !isObject(value) ? value : walk(value)]),
    );
  };
  const rewritten = walk(schema);
  return changed && isObject(rewritten) ? rewritten : undefined;
}

/** A local reference, `#/$defs/File`. */
function resolve(root: JsonObject, ref: string): JsonValue | undefined {
  if (!ref.startsWith('#')) return undefined;
  let node: JsonValue | undefined = root;
  for (const segment of ref.slice(1).split('/').slice(1)) {
    const key = plain(segment).replaceAll('~1', '/').replaceAll('~0', '~');
    node = Array.isArray(node) ? node[Number(key)] : isObject(node) ? own(node, key) : undefined;
  }
  return node;
}

/** A fragment is percent-encoded; one that is not well-formed is taken as it stands, it must not cost the result. */
function plain(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** A property may well be called `constructor`. */
function own(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
