import type { JsonObject, JsonValue } from '../ports/dialect.js';

/** JSON Schema keywords that a string can satisfy only by chance; where one stands, a link may break validation. */
const NARROWING = [
  'enum',
  'const',
  'pattern',
  'format',
  'maxLength',
  'contentEncoding',
  'contentMediaType',
  'not',
  'if',
] as const;

/** Guards against a `$ref` that leads back to itself. */
const MAX_REFS = 16;

/**
 * True when the tool's outputSchema accepts any string at `path`, so that a link may take the place of base64 there.
 * A client validates structuredContent against this schema and refuses the whole result if it does not fit. Where the
 * schema is too clever to be sure, the answer is no and the string becomes `""`.
 */
export function acceptsAnyString(schema: JsonObject | undefined, path: readonly (string | number)[]): boolean {
  if (!schema) return true;
  return accepts(schema, path, schema, MAX_REFS);
}

function accepts(
  node: JsonValue | undefined,
  path: readonly (string | number)[],
  root: JsonObject,
  refs: number,
): boolean {
  if (node === undefined || node === true) return true;
  if (!isObject(node)) return false;
  if (typeof node.$ref === 'string') {
    const target = refs > 0 ? resolve(root, node.$ref) : undefined;
    return target !== undefined && accepts(target, path, root, refs - 1);
  }
  for (const keyword of ['anyOf', 'oneOf', 'allOf'] as const) {
    const branches = node[keyword];
    if (branches === undefined) continue;
    if (!Array.isArray(branches) || !branches.every((branch) => accepts(branch, path, root, refs))) return false;
  }
  const [key, ...rest] = path;
  if (key === undefined) return acceptsString(node);
  return accepts(childOf(node, key), rest, root, refs);
}

function acceptsString(node: JsonObject): boolean {
  if (NARROWING.some((keyword) => keyword in node)) return false;
  const { type } = node;
  return type === undefined || type === 'string' || (Array.isArray(type) && type.includes('string'));
}

function childOf(node: JsonObject, key: string | number): JsonValue | undefined {
  if (typeof key === 'number') {
    const prefix = Array.isArray(node.prefixItems) ? node.prefixItems[key] : undefined;
    return prefix ?? (Array.isArray(node.items) ? node.items[key] : node.items);
  }
  if (isObject(node.patternProperties)) return false;
  const named = isObject(node.properties) ? node.properties[key] : undefined;
  return named ?? node.additionalProperties;
}

/** True when the schema declares the string at `path` to be base64: `contentEncoding: base64`. */
export function isDeclaredBase64(schema: JsonObject | undefined, path: readonly (string | number)[]): boolean {
  let node: JsonValue | undefined = schema;
  for (const key of path) {
    node = deref(node, schema);
    if (!isObject(node)) return false;
    node = childOf(node, key);
  }
  node = deref(node, schema);
  return isObject(node) && declaresBase64(node);
}

function deref(node: JsonValue | undefined, root: JsonObject | undefined): JsonValue | undefined {
  let current = node;
  for (let refs = 0; refs < MAX_REFS && isObject(current) && typeof current.$ref === 'string' && root; refs++) {
    current = resolve(root, current.$ref);
  }
  return current;
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
