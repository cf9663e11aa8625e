import type { JsonObject, JsonValue } from '../../../gateway/ports/dialect.js';
import type { FileSlot } from '../../../gateway/ports/file-slot.js';

/** Schemas nest, and may refer to themselves; a tool's arguments hardly do. */
const MAX_DEPTH = 16;

/** Ten branches that each refer back to their union are 10^16 ways to go: one hostile tool must not stop Wharf. */
const MAX_STEPS = 10_000;

/**
 * Arguments that say by themselves what they hold: JSON Schema's `contentEncoding: base64` is certain, so it needs no
 * configuration.
 */
export function slotsOf(tool: JsonObject): FileSlot[] {
  const slots: FileSlot[] = [];
  const root = tool.inputSchema;
  let steps = 0;
  const walk = (node: JsonValue | undefined, path: readonly string[], depth: number): void => {
    steps += 1;
    if (!isObject(node) || depth > MAX_DEPTH || steps > MAX_STEPS) return;
    if (isBase64(node.contentEncoding) && path.length > 0) {
      slots.push(slot(path, node.contentMediaType));
      return;
    }
    if (typeof node.$ref === 'string') walk(pointed(root, node.$ref), path, depth + 1);
    for (const union of [node.anyOf, node.oneOf, node.allOf]) {
      if (Array.isArray(union)) for (const branch of union) walk(branch, path, depth + 1);
    }
    if (isObject(node.properties)) {
      for (const [key, child] of Object.entries(node.properties)) walk(child, [...path, key], depth + 1);
    }
    if (isObject(node.items)) walk(node.items, [...path, '[]'], depth + 1);
  };
  walk(root, [], 0);
  return slots;
}

/** RFC 2045, which JSON Schema refers to: names of encodings in any case. */
function isBase64(encoding: JsonValue | undefined): boolean {
  return typeof encoding === 'string' && encoding.toLowerCase() === 'base64';
}

function slot(path: readonly string[], mediaType: JsonValue | undefined): FileSlot {
  return {
    path,
    declaredBy: 'mcp-inline',
    deliveries: [{ kind: 'encoded', encoding: 'base64' }],
    companions: {},
    ...(typeof mediaType === 'string' && { accept: [mediaType] }),
  };
}

function pointed(root: JsonValue | undefined, reference: string): JsonValue | undefined {
  const keys = reference.startsWith('#/') ? reference.slice(2).split('/') : [];
  return keys.reduce<JsonValue | undefined>((value, token) => {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }, root);
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
