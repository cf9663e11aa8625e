import { declaredEncoding } from '../encodings.js';
import { isObject } from '../json/value.js';
import type { JsonObject, JsonPatch, JsonPath, JsonValue } from '../ports/json.js';
import { addAll } from '../wire/add-all.js';
import { withoutNames } from './anchors.js';
import { argumentOf, EACH, isEach } from './argument-path.js';
import { Budget } from './budget.js';
import { pointed } from './reference.js';
import { isSpecial } from './segments.js';
import { stepOf, stepsOf } from './steps.js';
import { conditionalsOf, followed, UNIONS } from './walk.js';

/** A chain of local references may refer to itself, and each target may be a large object that is copied. */
const MAX_STEPS = 16;

/** A reference's target is copied for each slot: most characters and values of a plausible argument schema. */
const MAX_COPY = 64 * 1024;
const MAX_COPIED_VALUES = 1000;

/** Whether a schema is small enough to be copied: needed for each slot and each of its siblings. */
const SMALL = new WeakMap<JsonObject, boolean>();

/** JSON has seven types; a list of more says nothing that is worth keeping for each slot. */
const MOST_TYPES = 16;

/** A union whose references are followed, and which of its branches leads on to a member. */
interface Union {
  branches: readonly (JsonValue | undefined)[];
  leading: Map<string | undefined, number>;
}

/** By the root and the branches as written: each slot goes through its unions a dozen times. */
const UNIONS_OF = new WeakMap<JsonObject, Map<readonly JsonValue[], Union>>();

/** By the root and a schema: what holds there on a condition, as far as its references lead. Each slot asks again. */
const CONDITIONAL = new WeakMap<JsonObject, Map<JsonObject, readonly JsonObject[]>>();

/** Where the schema of a slot is in a tool. */
interface SchemaPlace {
  at: JsonPath;
  schema: JsonObject;
  /** Copies that replace local references on the way, so that the shared definitions do not change. */
  copies: JsonPatch[];
  /** The other branches of the unions of which it is one, as far as their references lead. */
  beside: (JsonValue | undefined)[];
}

/** The items of an array of files, as far as the tool declares them. */
export interface ItemCounts {
  readonly minItems?: number;
  readonly maxItems?: number;
  /** How many come before them, each with a schema of its own (`prefixItems`). */
  readonly before?: number;
}

/** How many items the list of a slot may have, by its schema; nothing for a slot of one value. */
export function itemCountsOf(tool: JsonObject, slot: readonly string[]): ItemCounts {
  if (!isEach(slot)) return {};
  const { minItems, maxItems, prefixItems } = placeOf(tool, argumentOf(slot), EACH)?.schema ?? {};
  const before = Array.isArray(prefixItems) ? prefixItems.length : 0;
  return {
    ...(isCount(minItems) && { minItems }),
    ...(isCount(maxItems) && { maxItems }),
    ...(before > 0 && { before }),
  };
}

function isCount(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

/** The JSON types that a tool allows for the value of a slot; undefined when it does not say. */
export function typesOf(tool: JsonObject, slot: readonly string[]): ReadonlySet<string> | undefined {
  const [last = '', ...above] = slot.toReversed();
  const parent = above.length === 0 ? tool.inputSchema : placeOf(tool, above.toReversed())?.schema;
  if (!isObject(tool.inputSchema) || !isObject(parent)) return undefined;
  const root = tool.inputSchema;
  const types = new Set<string>();
  const budget = new Budget(MAX_STEPS);
  const isKnown = (schema: JsonValue | undefined): boolean => {
    if (!budget.take() || !isObject(schema)) return false;
    if (typeof schema.$ref === 'string') return isKnown(pointed(root, schema.$ref));
    const union = schema.anyOf ?? schema.oneOf;
    if (schema.type === undefined && Array.isArray(union)) return union.every(isKnown);
    if (schema.type === undefined && Array.isArray(schema.allOf)) return schema.allOf.some(isKnown);
    const own = Array.isArray(schema.type) ? schema.type : [schema.type];
    if (own.length > MOST_TYPES) return false;
    for (const type of own) types.add(String(type));
    return schema.type !== undefined;
  };
  return isKnown(stepOf(last).below(parent).inner) ? types : undefined;
}

/**
 * Finds a slot's schema in a tool's inputSchema: through `properties`, `items` and related keywords, through the branch of a union that
 * leads there or is not null, what holds on a condition, and through local `$ref`s.
 * @param last a member that the schema itself must have
 */
export function placeOf(tool: JsonObject, slot: readonly string[], last?: string): SchemaPlace | undefined {
  if (!isObject(tool.inputSchema)) return undefined;
  const root = tool.inputSchema;
  const copies: JsonPatch[] = [];
  const beside: (JsonValue | undefined)[] = [];
  let at: JsonPath = ['inputSchema'];
  let schema: JsonObject = root;
  const budget = new Budget(MAX_STEPS);
  const mayCopy = (target: JsonObject) => budget.take() && isSmall(target);
  const enter = (key: JsonPath, inner: JsonValue | undefined, next: string | undefined): boolean => {
    if (!isObject(inner)) return false;
    at = [...at, ...key];
    schema = inner;
    return resolve(next);
  };
  const resolve = (next: string | undefined): boolean => {
    for (;;) {
      const whole = followed(schema, root, mayCopy);
      if (!whole) return false;
      const text = next === undefined ? textOf(whole, (part) => followed(part, root, mayCopy)) : undefined;
      if ((text ?? whole) !== schema) copies.push({ path: at, value: withoutNames(text ?? whole) });
      schema = text ?? whole;
      if (text) return true;
      const way = wayOn(next, schema, root);
      if (way === 'here') return true;
      if (!way || !budget.take()) return false;
      if ('keys' in way) {
        at = [...at, ...way.keys];
        schema = way.schema;
        continue;
      }
      const { union, index } = way;
      const branches = schema[union] as JsonValue[];
      const others = next === undefined && union !== 'allOf' ? othersOf(branches, index, root) : [];
      addAll(beside, others);
      // what is written in one branch may be valid in another as well
      const isAny = union === 'oneOf' && others.some((branch) => isObject(branch) && isString(branch));
      if (isAny) {
        copies.push({ path: [...at, 'anyOf'], value: branches }, { path: [...at, union], value: undefined });
      }
      at = [...at, isAny ? 'anyOf' : union, index];
      schema = branches[index] as JsonObject;
    }
  };
  if (!resolve(slot[0] ?? last)) return undefined;
  for (const [index, step] of stepsOf(slot).entries()) {
    const { key, inner } = step.below(schema);
    if (!enter(key, inner, slot[index + 1] ?? last)) return undefined;
  }
  return { at, schema, copies, beside };
}

/**
 * A schema that is a string by its own type, so that its unions only restrict it. What its `allOf` says is merged: clients
 * look for the description and the keyword of an argument at its top.
 */
function textOf(schema: JsonObject, follow: (part: JsonObject) => JsonObject | undefined): JsonObject | undefined {
  const { allOf, ...own } = schema;
  if (!Array.isArray(allOf)) return isString(schema) ? schema : undefined;
  if (allOf.length > MAX_STEPS) return undefined;
  const parts = allOf.map((part) => (isObject(part) ? follow(part) : undefined));
  const merged = Object.assign({}, ...parts, own) as JsonObject;
  return isString(merged) && parts.every((part) => part && part.allOf === undefined) ? merged : undefined;
}

/** The first branches only: a union may have half a million. */
function othersOf(branches: readonly JsonValue[], index: number, root: JsonObject): (JsonValue | undefined)[] {
  const first = unionOf(branches, root).branches.slice(0, MAX_STEPS);
  return first.filter((_, at) => at !== index);
}

/** Whether a schema allows strings by its `type`. */
export function isString({ type }: JsonObject): boolean {
  return type === 'string' || (Array.isArray(type) && type.includes('string'));
}

/** How a path goes on from a schema: here, in a branch of one of its unions, or in what holds on a condition. */
type WayOn =
  | 'here'
  | { union: (typeof UNIONS)[number]; index: number }
  | { keys: readonly string[]; schema: JsonObject }
  | undefined;

/**
 * Where a schema goes on to a member, or to a string at the end. A schema with the member itself goes on there, even if it has
 * unions too: `anyOf: [{"required": ["url"]}, {"required": ["file"]}]` says which members go together. Only a branch that
 * declares the member as a file, where the schema itself does not, is better.
 */
function wayOn(next: string | undefined, schema: JsonObject, root: JsonObject): WayOn {
  const unions = UNIONS.filter((word) => Array.isArray(schema[word]));
  const isHere = next !== undefined && leadsHere(schema, next);
  if (isHere && declaresFile(schema, next, root)) return 'here';
  for (const union of unions) {
    const branches = schema[union] as JsonValue[];
    const index = leadingIn(next, branches, root);
    const branch = index < 0 ? undefined : target(branches[index] as JsonValue, root);
    if (branch !== undefined && (!isHere || declaresFile(branch, next, root))) return { union, index };
  }
  if (isHere) return 'here';
  for (const [keys, conditional] of next === undefined ? [] : conditionalsOf(schema)) {
    const inner = target(conditional, root);
    if (isObject(conditional) && isObject(inner) && leadsHere(inner, next as string))
      return { keys, schema: conditional };
  }
  return unions.length === 0 ? 'here' : firstBranch(unions, schema);
}

function declaresFile(schema: JsonValue, next: string, root: JsonObject): boolean {
  const member = isObject(schema) ? stepOf(next).below(schema).inner : undefined;
  const meant = member === undefined ? undefined : target(member, root);
  return isObject(meant) && isAnnotated(meant);
}

/** The first branch that is not null. */
function firstBranch([union]: readonly (typeof UNIONS)[number][], schema: JsonObject): WayOn {
  if (union === undefined) return undefined;
  const index = (schema[union] as JsonValue[]).findIndex((branch) => isObject(branch) && branch.type !== 'null');
  return index < 0 ? undefined : { union, index };
}

function leadsHere(schema: JsonObject, next: string): boolean {
  if (isSpecial(next)) return isObject(stepOf(next).below(schema).inner);
  return isObject(schema.properties) && Object.hasOwn(schema.properties, next);
}

/**
 * The branch of a union that leads on, or is a string at the end: one with a declaration of a file, if there is one.
 * @returns -1 when none does
 */
function leadingIn(next: string | undefined, branches: readonly JsonValue[], root: JsonObject): number {
  const union = unionOf(branches, root);
  const index = union.leading.get(next) ?? firstOf(union.branches, leadingTo(next, root));
  union.leading.set(next, index);
  return index;
}

/** Whether a branch leads on. It is found out once for each: a thousand references may be to one schema. */
function leadingTo(next: string | undefined, root: JsonObject): (branch: JsonValue | undefined) => boolean {
  const known = new Map<JsonObject, boolean>();
  const leads = (schema: JsonObject): boolean => {
    if (next === undefined) return schema.type === 'string';
    return leadsHere(schema, next) || conditionalIn(schema, root).some((inner) => leadsHere(inner, next));
  };
  return (branch) => {
    if (!isObject(branch)) return false;
    const isLeading = known.get(branch) ?? leads(branch);
    known.set(branch, isLeading);
    return isLeading;
  };
}

function conditionalIn(schema: JsonObject, root: JsonObject): readonly JsonObject[] {
  const known = CONDITIONAL.get(root) ?? new Map<JsonObject, readonly JsonObject[]>();
  CONDITIONAL.set(root, known);
  const found =
    known.get(schema) ??
    conditionalsOf(schema)
      .map(([, inner]) => target(inner, root))
      .filter(isObject);
  known.set(schema, found);
  return found;
}

function firstOf(branches: Union['branches'], leads: (schema: JsonValue | undefined) => boolean): number {
  const annotated = branches.findIndex((branch) => leads(branch) && isObject(branch) && isAnnotated(branch));
  return annotated >= 0 ? annotated : branches.findIndex(leads);
}

/** Of a string's own keywords none is an object; those of the dialects are. */
function isAnnotated({ type, contentEncoding, ...others }: JsonObject): boolean {
  const isEncoded = contentEncoding !== undefined || declaredEncoding(others) !== undefined;
  return type === 'string' && (isEncoded || Object.values(others).some(isObject));
}

function unionOf(written: readonly JsonValue[], root: JsonObject): Union {
  const known = UNIONS_OF.get(root) ?? new Map<readonly JsonValue[], Union>();
  UNIONS_OF.set(root, known);
  const union = known.get(written) ?? { branches: written.map((one) => target(one, root)), leading: new Map() };
  known.set(written, union);
  return union;
}

function target(branch: JsonValue, root: JsonObject): JsonValue | undefined {
  return isObject(branch) && typeof branch.$ref === 'string' ? pointed(root, branch.$ref) : branch;
}

function isSmall(schema: JsonObject): boolean {
  const small = SMALL.get(schema) ?? measure(schema);
  SMALL.set(schema, small);
  return small;
}

function measure(schema: JsonObject): boolean {
  let room = MAX_COPY;
  let values = MAX_COPIED_VALUES;
  const look = (value: JsonValue | undefined): boolean => {
    values -= 1;
    room -= typeof value === 'string' ? value.length + 1 : 1;
    if (room < 0 || values < 0) return false;
    if (typeof value !== 'object' || value === null) return true;
    if (isKnownAsWide(value)) return false;
    return Object.entries(value).every(([key, inner]) => {
      room -= key.length;
      return look(inner);
    });
  };
  return look(schema);
}

/** A wide object is listed once, however many are around it: references may lead to each of those. */
function isKnownAsWide(value: JsonObject | JsonValue[]): boolean {
  if (Array.isArray(value)) return value.length > MAX_COPIED_VALUES;
  if (SMALL.get(value) === false) return true;
  if (Object.keys(value).length <= MAX_COPIED_VALUES) return false;
  SMALL.set(value, false);
  return true;
}
