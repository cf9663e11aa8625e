import type { JsonObject, JsonValue } from '../../../gateway/ports/dialect.js';
import { isObject, own } from './json.js';

/** Schemas nest, and may refer to themselves; a tool's arguments hardly do. */
const MAX_DEPTH = 16;

/** Ten branches that each refer back to their union are 10^16 ways to go: one hostile tool must not stop Wharf. */
const MAX_STEPS = 10_000;

/** A reference is a name and where names stand. */
const MAX_REFERENCE = 512;

/** What may still be looked at of one tool. */
export interface Budget {
  steps: number;
}

export function newBudget(): Budget {
  return { steps: MAX_STEPS };
}

/** Takes a step into a schema. @returns false where it goes too deep, or too much of the tool has been looked at */
export function mayLook(budget: Budget, depth: number): boolean {
  budget.steps -= 1;
  return depth <= MAX_DEPTH && budget.steps >= 0;
}

/** The branches of a union. Pydantic writes a reference with a description as an `allOf` of one. */
export function branchesOf({ anyOf, oneOf, allOf }: JsonObject): JsonValue[] {
  return [anyOf, oneOf, allOf].flatMap((union) => (Array.isArray(union) ? union : []));
}

/** What a local reference points to. */
export function pointed(root: JsonValue | undefined, reference: string): JsonValue | undefined {
  if (reference.length > MAX_REFERENCE) return undefined;
  let value = root;
  for (const token of reference.startsWith('#/') ? reference.slice(2).split('/') : []) {
    if (!isObject(value)) return undefined;
    value = own(value, keyOf(token));
  }
  return value;
}

/** RFC 6901 §6: the pointer is part of a URI. */
function keyOf(token: string): string {
  return percentDecoded(token).replaceAll('~1', '/').replaceAll('~0', '~');
}

function percentDecoded(token: string): string {
  try {
    return decodeURIComponent(token);
  } catch {
    return token;
  }
}

/** An argument that a tool's schema describes, at any depth. */
export interface DescribedArgument {
  schema: JsonObject;
  /** As slots have it: `['pages', '[]', 'data']`. */
  path: readonly string[];
  /** The properties among which it stands, or the array that it is an item of. */
  siblings: JsonObject | undefined;
}

/**
 * Goes through all arguments of a tool: through properties and items, the branches of unions, and local references.
 * @param visit true: it has been dealt with, with all that is below
 */
export function eachArgument(
  inputSchema: JsonValue | undefined,
  visit: (argument: DescribedArgument) => boolean,
  budget = newBudget(),
): void {
  const walk = (node: JsonValue | undefined, at: Omit<DescribedArgument, 'schema'>, depth: number): void => {
    if (!mayLook(budget, depth) || !isObject(node)) return;
    const { path, siblings } = at;
    if (path.length > 0 && visit({ schema: node, path, siblings })) return;
    if (typeof node.$ref === 'string') walk(pointed(inputSchema, node.$ref), at, depth + 1);
    for (const branch of branchesOf(node)) walk(branch, at, depth + 1);
    if (isObject(node.properties)) {
      for (const [key, child] of Object.entries(node.properties)) {
        walk(child, { path: [...path, key], siblings: node.properties }, depth + 1);
      }
    }
    if (isObject(node.items)) walk(node.items, { path: [...path, '[]'], siblings }, depth + 1);
  };
  walk(inputSchema, { path: [], siblings: undefined }, 0);
}
