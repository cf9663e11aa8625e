import type { JsonObject, JsonPath, JsonValue } from '../../../gateway/ports/dialect.js';

/** A chain of local references may refer to itself. */
const MAX_DEPTH = 16;

/** What may be looked at of one tool: schemas can refer to themselves in ways that grow without end. */
export interface Budget {
  steps: number;
}

export function newBudget(): Budget {
  return { steps: 10_000 };
}

/** What a file argument is: one file, or a list of them. */
export type Shape = 'string' | 'strings';

/** The shape of a schema that may hold data: URIs; through local references and the branches of a union. */
export function shapeOf(schema: JsonValue | undefined, root: JsonValue | undefined, budget: Budget): Shape | undefined {
  const look = (node: JsonValue | undefined, depth: number): Shape | undefined => {
    budget.steps -= 1;
    if (!isObject(node) || depth > MAX_DEPTH || budget.steps < 0) return undefined;
    const types = Array.isArray(node.type) ? node.type : [node.type];
    if (types.includes('string') || (node.type === undefined && node.format === 'uri')) return 'string';
    if (types.includes('array')) return look(node.items, depth + 1) === 'string' ? 'strings' : undefined;
    if (typeof node.$ref === 'string') return look(pointed(root, node.$ref), depth + 1);
    for (const branch of branchesOf(node)) {
      const shape = look(branch, depth + 1);
      if (shape) return shape;
    }
    return undefined;
  };
  return look(schema, 0);
}

/** Pydantic writes a reference with a description as an `allOf` of one. */
export function branchesOf({ anyOf, oneOf, allOf }: JsonObject): JsonValue[] {
  return [anyOf, oneOf, allOf].flatMap((union) => (Array.isArray(union) ? union : []));
}

/** What a local reference points to. */
export function pointed(root: JsonValue | undefined, reference: string): JsonValue | undefined {
  const keys = reference.startsWith('#/') ? reference.slice(2).split('/') : [];
  return keys.reduce<JsonValue | undefined>((value, token) => {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    return isObject(value) ? own(value, key) : undefined;
  }, root);
}

export function valueAt(value: JsonValue | undefined, path: JsonPath): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>(
    (at, key) => (Array.isArray(at) ? at[Number(key)] : isObject(at) ? own(at, String(key)) : undefined),
    value,
  );
}

/** Names come from peers: `constructor` is no property. */
export function own(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
