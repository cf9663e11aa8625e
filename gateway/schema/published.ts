import { declaredEncoding } from '../encodings.js';
import { isObject } from '../json/value.js';
import type { JsonObject, JsonValue } from '../ports/json.js';
import { Budget } from './budget.js';
import { pointed } from './reference.js';
import { listOf } from './walk.js';

/** Keywords about the content that a text encodes: annotations, which validators do not enforce. */
const OF_THE_CONTENT: ReadonlySet<string> = new Set(['contentEncoding', 'contentMediaType', 'contentSchema']);

/** Lengths, patterns and formats applied to the base64 text. */
const OF_THE_TEXT: ReadonlySet<string> = new Set(['pattern', 'format', 'minLength', 'maxLength']);

/** Keywords with one schema, with a list of schemas, and with named schemas, which apply whenever the whole does. */
const SCHEMAS = [
  'items',
  'additionalItems',
  'unevaluatedItems',
  'additionalProperties',
  'unevaluatedProperties',
  'then',
  'else',
] as const;
const LISTS = ['allOf', 'anyOf', 'prefixItems', 'items'] as const;
const MAPS = ['properties', 'patternProperties', 'dependentSchemas', 'dependencies'] as const;

/** Keywords under which a valid value may make the whole invalid: their schemas must not be widened. */
const FIXED = ['not', 'if', 'propertyNames'] as const;

/** With one of these a reference may lead anywhere, so no schema may be widened. */
const ELSEWHERE = ['$id', 'id', '$anchor', '$dynamicAnchor', '$dynamicRef', '$recursiveRef'] as const;

/** Most branches of a `oneOf` that are compared with each other. */
const MAX_BRANCHES = 20;

/** Names, types and values that are compared for all unions of a schema: some 30 ms. A real one has a thousandth of them. */
const MAX_COMPARED = 1_000_000;
/** What a required name takes, in comparisons. */
const STEPS_OF_NAME = 50;

/** Cached, because a tool's schema is needed for each of its results. */
const PUBLISHED = new WeakMap<JsonObject, JsonObject>();

/** In either alphabet, because both are read as one. */
export function declaresBase64(schema: JsonObject): boolean {
  const encoding = declaredEncoding(schema);
  return encoding === 'base64' || encoding === 'base64url';
}

/**
 * An outputSchema as clients get it. Where it declares base64 there will be a link, so it loses that declaration and
 * the keywords about the base64 text. Every value that was valid stays valid.
 * @returns the schema itself when there is nothing to rewrite
 */
export function publishedSchema(schema: JsonObject): JsonObject {
  const known = PUBLISHED.get(schema);
  if (known) return known;
  const published = rewritten(schema);
  PUBLISHED.set(schema, published);
  return published;
}

function rewritten(schema: JsonObject): JsonObject {
  if (!holdsBase64(schema)) return schema;
  const seen = reachable(schema);
  if (![...seen.nodes.keys()].some(declaresBase64)) return schema;
  const rewrite = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map(rewrite);
    if (!isObject(value)) return value;
    const isFixed = seen.nodes.get(value);
    const goes = (key: string) =>
      OF_THE_CONTENT.has(key) || (OF_THE_TEXT.has(key) && isFixed === false && !seen.leadsElsewhere);
    const declares = isFixed !== undefined && declaresBase64(value);
    // with fromEntries, a property named __proto__ stays a property
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => !declares || !goes(key))
        .map(([key, inner]) => [key, rewrite(inner)]),
    );
  };
  return rewrite(schema) as JsonObject;
}

/** Whether any object in it declares base64. In few schemas one does, and to find out what applies to a value takes longer. */
function holdsBase64(schema: JsonObject): boolean {
  const waiting: JsonValue[] = [schema];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (isObject(next) && declaresBase64(next)) return true;
    for (const inner of Array.isArray(next) ? next : Object.values(next as JsonObject))
      if (typeof inner === 'object' && inner !== null) waiting.push(inner);
  }
  return false;
}

interface Reachable {
  /** Every schema that may apply to a value, and whether it must not be widened. */
  nodes: Map<JsonObject, boolean>;
  leadsElsewhere: boolean;
}

/** Visits each schema at most twice: as one that may be widened, and as one that may not. */
function reachable(root: JsonObject): Reachable {
  const found: Reachable = { nodes: new Map(), leadsElsewhere: false };
  const waiting: { node: JsonValue | undefined; isFixed: boolean }[] = [{ node: root, isFixed: false }];
  const budget = new Budget(MAX_COMPARED);
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { node, isFixed } = next;
    if (!isObject(node)) continue;
    const known = found.nodes.get(node);
    if (known === true || known === isFixed) continue;
    found.nodes.set(node, isFixed);
    const go = (inner: JsonValue | undefined, fixed = isFixed) => waiting.push({ node: inner, isFixed: fixed });
    if (node !== root && ELSEWHERE.some((key) => typeof node[key] === 'string')) found.leadsElsewhere = true;
    if (typeof node.$ref === 'string') {
      const target = pointed(root, node.$ref);
      if (target === undefined) found.leadsElsewhere = true;
      go(target);
    }
    for (const key of SCHEMAS) go(node[key]);
    for (const key of LISTS) for (const inner of listOf(node[key])) go(inner);
    for (const key of MAPS) {
      const members = node[key];
      if (isObject(members)) for (const inner of Object.values(members)) go(inner);
    }
    for (const key of FIXED) go(node[key], true);
    go(node.contains, isFixed || node.maxContains !== undefined);
    const branches = listOf(node.oneOf);
    const apart = branches.length <= MAX_BRANCHES ? apartIn(branches, root, budget) : [];
    for (const [index, branch] of branches.entries()) go(branch, isFixed || apart[index] !== true);
  }
  return found;
}

/** What distinguishes the values of one branch of a union from those of the others. */
interface Kind {
  /** JSON types; undefined when every type is allowed. */
  types: readonly string[] | undefined;
  /** Required members, with the few texts that each allows. */
  tags: ReadonlyMap<string, ReadonlySet<JsonValue>>;
}

/**
 * For each branch: whether no value that it could ever accept is accepted by another branch. False where that is too much
 * to be found out.
 */
function apartIn(branches: readonly JsonValue[], root: JsonObject, budget: Budget): boolean[] {
  const kinds = branches.map((branch) => kindOf(branch, root, budget));
  return kinds.map((kind, index) => kinds.every((other, at) => at === index || differ(kind, other, budget)));
}

function kindOf(branch: JsonValue, root: JsonObject, budget: Budget): Kind {
  // keywords beside a reference only narrow its target
  const schema = isObject(branch) && typeof branch.$ref === 'string' ? pointed(root, branch.$ref) : branch;
  if (!isObject(schema)) return { types: undefined, tags: new Map() };
  const { type, required, properties } = schema;
  const named = listOf(type).length + listOf(required).length;
  if (!budget.take(named * STEPS_OF_NAME)) return { types: undefined, tags: new Map() };
  const types = type === undefined ? undefined : (Array.isArray(type) ? type : [type]).map(String);
  const tags = new Map<string, ReadonlySet<JsonValue>>();
  // only a certain object must have its required members
  for (const name of type === 'object' && isObject(properties) ? listOf(required) : []) {
    const member = Object.hasOwn(properties as JsonObject, String(name)) && (properties as JsonObject)[String(name)];
    if (!isObject(member)) continue;
    const values = member.const === undefined ? listOf(member.enum) : [member.const];
    if (!budget.take(values.length)) break;
    if (values.length > 0 && values.every((value) => typeof value === 'string'))
      tags.set(String(name), new Set(values));
  }
  return { types, tags };
}

function differ(one: Kind, other: Kind, budget: Budget): boolean {
  const { types } = one;
  if (!budget.take(1 + (types?.length ?? 0) * (other.types?.length ?? 0))) return false;
  // an integer is a number
  const isType = (type: string) => other.types?.some((their) => their === type || isNumber(their, type)) !== false;
  if (types && other.types && !types.some(isType)) return true;
  for (const [name, values] of one.tags) {
    if (!budget.take(1 + values.size)) return false;
    const theirs = other.tags.get(name);
    if (theirs && ![...values].some((value) => theirs.has(value))) return true;
  }
  return false;
}

function isNumber(one: string, other: string): boolean {
  return [one, other].every((type) => type === 'number' || type === 'integer');
}
