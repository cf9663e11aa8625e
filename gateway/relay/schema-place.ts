import type { JsonObject, JsonPatch, JsonPath, JsonValue } from '../ports/json.js';
import { EACH } from './file-slots.js';
import { isObject } from './request.js';

/** A chain of local references may refer to itself. */
const MAX_STEPS = 64;

/** Where the schema of a slot stands in a tool. */
export interface SchemaPlace {
  at: JsonPath;
  schema: JsonObject;
  /** Local references on the way, replaced by copies: what is shared stays as it is elsewhere. */
  copies: JsonPatch[];
}

/**
 * Finds a slot's schema in a tool's inputSchema: through `properties` and `items`, through the branch of an `anyOf` or
 * `oneOf` that is not null, and through local `$ref`s.
 */
export function placeOf(tool: JsonObject, slot: readonly string[]): SchemaPlace | undefined {
  if (!isObject(tool.inputSchema)) return undefined;
  const root = tool.inputSchema;
  const copies: JsonPatch[] = [];
  let at: JsonPath = ['inputSchema'];
  let schema: JsonObject = root;
  let steps = 0;
  const enter = (key: JsonPath, next: JsonValue | undefined): boolean => {
    if (!isObject(next)) return false;
    at = [...at, ...key];
    schema = next;
    return resolve();
  };
  const resolve = (): boolean => {
    for (; steps < MAX_STEPS; steps++) {
      if (typeof schema.$ref === 'string') {
        const target = pointed(root, schema.$ref);
        if (!isObject(target)) return false;
        const { $ref: _, ...beside } = schema;
        schema = { ...structuredClone(target), ...beside };
        copies.push({ path: at, value: schema });
        continue;
      }
      const union = (['anyOf', 'oneOf'] as const).find((word) => Array.isArray(schema[word]));
      if (!union) return true;
      const branches = schema[union] as JsonValue[];
      const index = branches.findIndex((branch) => isObject(branch) && branch.type !== 'null');
      if (index < 0) return false;
      at = [...at, union, index];
      schema = branches[index] as JsonObject;
    }
    return false;
  };
  for (const segment of slot) {
    const found =
      segment === EACH
        ? enter(['items'], schema.items)
        : enter(['properties', segment], isObject(schema.properties) ? schema.properties[segment] : undefined);
    if (!found) return undefined;
  }
  return { at, schema, copies };
}

/** What a `#/…` reference points to. */
function pointed(root: JsonObject, reference: string): JsonValue | undefined {
  if (!reference.startsWith('#')) return undefined;
  let value: JsonValue | undefined = root;
  for (const token of reference.slice(1).split('/').slice(1)) {
    const key = percentDecoded(token).replaceAll('~1', '/').replaceAll('~0', '~');
    value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return value;
}

function percentDecoded(token: string): string {
  try {
    return decodeURIComponent(token);
  } catch {
    return token;
  }
}
