import { isObject } from '../json/value.js';
import type { JsonObject, JsonValue } from '../ports/json.js';
import { EACH } from './argument-path.js';
import { type Budget, budgetOfTool } from './budget.js';
import { pointed } from './reference.js';
import { isSpecial, itemsIn, unnamedIn } from './segments.js';

/** Schemas nest and may refer to themselves; a tool's arguments rarely do. */
const MAX_DEPTH = 16;

/** Characters of a reference that are followed in the time of one step. */
const CHARACTERS_PER_STEP = 100;

/**
 * Keywords in which a schema may be one level deeper. Pydantic writes a reference with a description as an `allOf` with
 * one branch.
 */
export const UNIONS = ['anyOf', 'oneOf', 'allOf'] as const;

/** The branches of a schema's unions. */
function branchesOf(schema: JsonObject): JsonValue[] {
  return UNIONS.flatMap((word) => listOf(schema[word]));
}

/** Most of an object's `dependentSchemas` that are read: each slot below asks for them again. */
const MAX_DEPENDENT = 50;

/** A schema that holds for the value itself on a condition, and its place below that value's schema. */
type Conditional = readonly [key: readonly string[], schema: JsonValue];

/** Listed once for each schema, because such an object may have a hundred thousand members. */
const DEPENDENT = new WeakMap<JsonObject, readonly Conditional[]>();

function dependentIn(schemas: JsonObject): readonly Conditional[] {
  const known = DEPENDENT.get(schemas);
  if (known) return known;
  const first = Object.entries(schemas).slice(0, MAX_DEPENDENT);
  const found = first.map(([name, schema]) => [['dependentSchemas', name], schema] as const);
  DEPENDENT.set(schemas, found);
  return found;
}

/** What a value must be if it is, or has, something else. The condition itself (`if`) asks for nothing. */
export function conditionalsOf({ then, else: otherwise, dependentSchemas }: JsonObject): Conditional[] {
  return [
    ...(then === undefined ? [] : [[['then'], then] as const]),
    ...(otherwise === undefined ? [] : [[['else'], otherwise] as const]),
    ...(isObject(dependentSchemas) ? dependentIn(dependentSchemas) : []),
  ];
}

/** The items of an array; of anything else none. */
export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

/**
 * A schema merged with the target of its `$ref`, and of that one's; keywords beside a reference take precedence.
 * @param follow asked before each reference. @returns undefined when a reference leads nowhere, or not to an object
 */
export function followed(
  schema: JsonObject,
  root: JsonValue | undefined,
  follow: (target: JsonObject) => boolean,
): JsonObject | undefined {
  let whole = schema;
  while (typeof whole.$ref === 'string') {
    const { $ref, ...beside }: JsonObject = whole;
    const target = pointed(root, whole.$ref);
    if (!isObject(target) || !follow(target)) return undefined;
    // a name of the target's own would then be that of two schemas, which validators refuse
    const { $anchor, $dynamicAnchor, $id, ...meant }: JsonObject = target;
    whole = { ...meant, ...beside };
  }
  return whole;
}

/**
 * Everything that a value may or must be under a schema: the schema itself, the targets of its references, the branches
 * of its unions, recursively. Undefined means that it cannot be decided: not a schema, a broken reference, or too deep.
 */
export function* alternatives(
  schema: JsonValue | undefined,
  root: JsonValue | undefined,
  budget: Budget,
): Generator<JsonObject | undefined> {
  const waiting: { node: JsonValue | undefined; depth: number }[] = [{ node: schema, depth: 0 }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { node, depth } = next;
    if (!budget.take() || depth > MAX_DEPTH || !isObject(node)) {
      yield undefined;
      if (budget.isSpent) return;
      continue;
    }
    yield node;
    // the last one waiting is visited first
    for (const branch of branchesOf(node).reverse()) waiting.push({ node: branch, depth: depth + 1 });
    if (typeof node.$ref === 'string') waiting.push({ node: pointed(root, node.$ref), depth: depth + 1 });
  }
}

/** An argument that a tool's schema describes, at any depth. */
export interface DescribedArgument {
  schema: JsonObject;
  /** In the form of a slot's path: `['pages', '[]', 'data']`. */
  path: readonly string[];
  /** The properties it is one of, or the array that it is an item of. */
  siblings: JsonObject | undefined;
}

interface WalkOptions {
  budget?: Budget;
  /** Follows `properties` alone, not lists, unions or references. */
  propertiesOnly?: boolean;
}

/**
 * Visits all arguments of a tool: through properties and other members, items, the branches of unions, what holds on a condition,
 * and local references.
 * @param visit returns true when it has handled the argument and everything below it
 */
export function eachArgument(
  inputSchema: JsonValue | undefined,
  visit: (argument: DescribedArgument) => boolean,
  { budget = budgetOfTool(), propertiesOnly = false }: WalkOptions = {},
): void {
  const walk = (node: JsonValue | undefined, at: Omit<DescribedArgument, 'schema'>, depth: number): void => {
    if (!budget.take() || depth > MAX_DEPTH || !isObject(node)) return;
    const { path, siblings } = at;
    if (path.length > 0 && visit({ schema: node, path, siblings })) return;
    if (!propertiesOnly) {
      if (typeof node.$ref === 'string' && budget.take(Math.floor(node.$ref.length / CHARACTERS_PER_STEP)))
        walk(pointed(inputSchema, node.$ref), at, depth + 1);
      for (const branch of branchesOf(node)) walk(branch, at, depth + 1);
      for (const [, schema] of conditionalsOf(node)) walk(schema, at, depth + 1);
    }
    if (isObject(node.properties)) {
      for (const [key, child] of Object.entries(node.properties)) {
        // it would be taken for other members
        if (isSpecial(key) && !propertiesOnly) continue;
        walk(child, { path: [...path, key], siblings: node.properties }, depth + 1);
      }
    }
    if (propertiesOnly) return;
    for (const { segment, schema } of unnamedIn(node))
      walk(schema, { path: [...path, segment], siblings: undefined }, depth + 1);
    for (const { segment, schema } of itemsIn(node)) walk(schema, { path: [...path, segment], siblings }, depth + 1);
    if (isObject(node.items)) walk(node.items, { path: [...path, EACH], siblings }, depth + 1);
  };
  walk(inputSchema, { path: [], siblings: undefined }, 0);
}
