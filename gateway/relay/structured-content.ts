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
  return schema === undefined || judge(schema, path, schema, MAX_REFS) === 'any';
}

function judge(
  node: JsonValue | undefined,
  path: readonly (string | number)[],
  root: JsonObject,
  refs: number,
): Verdict {
  if (node === undefined || node === true) return 'any';
  if (!isObject(node)) return 'none';
  if (typeof node.$ref === 'string') {
    const target = refs > 0 ? resolve(root, node.$ref) : undefined;
    return target === undefined ? 'depends' : judge(target, path, root, refs - 1);
  }
  const verdicts: Verdict[] = [judgeHere(node, path, root, refs)];
  const branches = (keyword: string): Verdict[] | undefined => {
    const list = node[keyword];
    return Array.isArray(list) ? list.map((branch) => judge(branch, path, root, refs)) : undefined;
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

function judgeHere(node: JsonObject, path: readonly (string | number)[], root: JsonObject, refs: number): Verdict {
  if (NARROWING.some((keyword) => keyword in node)) return 'depends';
  const [key, ...rest] = path;
  const due = key === undefined ? 'string' : typeof key === 'number' ? 'array' : 'object';
  const { type } = node;
  if (type !== undefined && type !== due && !(Array.isArray(type) && type.includes(due))) return 'none';
  if ('const' in node || 'enum' in node) return 'none';
  return key === undefined ? 'any' : judge(childOf(node, key), rest, root, refs);
}

function childOf(node: JsonObject, key: string | number): JsonValue | undefined {
  if (typeof key === 'number') {
    const prefix = Array.isArray(node.prefixItems) ? node.prefixItems[key] : undefined;
    return prefix ?? (Array.isArray(node.items) ? node.items[key] : node.items);
  }
  // which of them apply is more than can be told here
  if (isObject(node.patternProperties)) return { not: {} };
  const named = isObject(node.properties) ? node.properties[key] : undefined;
  return named ?? node.additionalProperties;
}

/** True when the schema declares the string at `path` to be base64: `contentEncoding: base64`. */
export function isDeclaredBase64(schema: JsonObject | undefined, path: readonly (string | number)[]): boolean {
  return schema !== undefined && declares(schema, path, schema, MAX_REFS);
}

function declares(
  node: JsonValue | undefined,
  path: readonly (string | number)[],
  root: JsonObject,
  refs: number,
): boolean {
  if (!isObject(node)) return false;
  if (typeof node.$ref === 'string') return refs > 0 && declares(resolve(root, node.$ref), path, root, refs - 1);
  const [key, ...rest] = path;
  if (key === undefined ? declaresBase64(node) : declares(childOf(node, key), rest, root, refs)) return true;
  return ['anyOf', 'oneOf', 'allOf'].some((keyword) => {
    const branches = node[keyword];
    return Array.isArray(branches) && branches.some((branch) => declares(branch, path, root, refs));
  });
}

function declaresBase64(node: JsonObject): boolean {
  return typeof node.contentEncoding === 'string' && node.contentEncoding.toLowerCase() === 'base64';
}

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
    const copy: JsonObject = {};
    for (const [key, value] of Object.entries(node)) {
      // lengths, patterns and formats were those of the base64 text
      const dropped =
        declares && (key.startsWith('content') || key === 'pattern' || key === 'format' || key === 'maxLength');
      if (!dropped) copy[key] = walk(value);
    }
    return copy;
  };
  const rewritten = walk(schema);
  return changed && isObject(rewritten) ? rewritten : undefined;
}

/** A local reference, `#/$defs/File`. */
function resolve(root: JsonObject, ref: string): JsonValue | undefined {
  if (!ref.startsWith('#')) return undefined;
  let node: JsonValue | undefined = root;
  for (const segment of ref.slice(1).split('/').slice(1)) {
    const key = decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~');
    node = Array.isArray(node) ? node[Number(key)] : isObject(node) ? node[key] : undefined;
  }
  return node;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
