import { jsonIn } from '../json/text.js';
import { isObject, own } from '../json/value.js';
import type { JsonObject, JsonPath, JsonValue } from '../ports/json.js';
import { EACH, MEMBERS } from './argument-path.js';
import { Budget } from './budget.js';
import { Patterns } from './pattern.js';

/** Most characters of the names and patterns beside some members: each slot below them keeps these. */
const MAX_RULE = 4096;

/** Most patterns that one object may have. */
const MAX_PATTERNS = 20;

/** Attempts at patterns for one object of a call: some milliseconds. */
const MAX_TRIES = 1_000_000;

/** Which members of an object have one schema: those that match a pattern, or those that have no schema of their own. */
interface MemberRule {
  like?: string;
  /** Names with a schema of their own. */
  but?: readonly string[];
  /** Patterns with a schema of their own. */
  unlike?: readonly string[];
}

/** True for every segment that means members whatever their names, of which `{}` means all. */
export function isMembers(segment: string): boolean {
  return segment.startsWith(MEMBERS);
}

/** The index of the one item that a segment means. */
export function itemIn(segment: string): number | undefined {
  return segment.length > EACH.length && segment.startsWith(EACH) ? Number(segment.slice(EACH.length)) : undefined;
}

/** True for a segment that is not the name of a member. */
export function isSpecial(segment: string): boolean {
  return isMembers(segment) || segment.startsWith(EACH);
}

/** A place below a schema that has no name. */
interface Unnamed {
  segment: string;
  schema: JsonValue | undefined;
}

/** The members of an object that `patternProperties` and `additionalProperties` describe. */
export function unnamedIn(schema: JsonObject): Unnamed[] {
  const { additionalProperties: rest, patternProperties, properties } = schema;
  const ofPatterns = isObject(patternProperties) ? Object.entries(patternProperties) : [];
  if ((ofPatterns.length === 0 && !isObject(rest)) || ofPatterns.length > MAX_PATTERNS) return [];
  const but = isObject(properties) ? Object.keys(properties) : [];
  const found: Unnamed[] = [];
  const add = (rule: MemberRule, inner: JsonValue | undefined) => {
    const segment = isObject(inner) ? segmentOf(rule) : undefined;
    if (segment !== undefined) found.push({ segment, schema: inner });
  };
  for (const [like, inner] of ofPatterns) add({ like, but }, inner);
  add({ but, unlike: ofPatterns.map(([pattern]) => pattern) }, rest);
  return found;
}

function segmentOf({ like, but = [], unlike = [] }: MemberRule): string | undefined {
  let room = MAX_RULE;
  for (const text of [...(like === undefined ? [] : [like]), ...unlike, ...but]) {
    room -= text.length + 1;
    if (room < 0) return undefined;
  }
  const rule = { ...(like !== undefined && { like }), ...(but.length > 0 && { but }) };
  const text = JSON.stringify({ ...rule, ...(unlike.length > 0 && { unlike }) });
  return text === '{}' ? MEMBERS : MEMBERS + text;
}

/** The items of a list that have a schema each. Before 2020-12 these stood in `items`. */
export function itemsIn({ prefixItems, items }: JsonObject): Unnamed[] {
  const own = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
  return own.map((schema, index) => ({ segment: `${EACH}${index}`, schema }));
}

/** Where a schema has that of a slot's next segment. */
export function below(schema: JsonObject, segment: string): { key: JsonPath; inner: JsonValue | undefined } {
  const { items, prefixItems, properties, patternProperties, additionalProperties } = schema;
  if (segment === EACH) return { key: ['items'], inner: items };
  const item = itemIn(segment);
  if (item !== undefined) {
    const by = Array.isArray(prefixItems) ? 'prefixItems' : 'items';
    const listed = schema[by];
    return { key: [by, item], inner: Array.isArray(listed) ? listed[item] : undefined };
  }
  if (!isMembers(segment))
    return { key: ['properties', segment], inner: isObject(properties) ? own(properties, segment) : undefined };
  const { like } = ruleOf(segment);
  if (like === undefined) return { key: ['additionalProperties'], inner: additionalProperties };
  return {
    key: ['patternProperties', like],
    inner: isObject(patternProperties) ? own(patternProperties, like) : undefined,
  };
}

/** Tells which members a segment means. A pattern that could take long to try is not tried: it decides nothing. */
export class MemberNames {
  readonly #rule: MemberRule;
  readonly #but: ReadonlySet<string>;
  readonly #patterns = new Patterns();

  constructor(segment: string) {
    this.#rule = ruleOf(segment);
    this.#but = new Set(this.#rule.but);
  }

  /** The members of one object, without `__proto__`, which cannot be replaced by its path. */
  *in(object: JsonObject): Generator<[string, JsonValue]> {
    const budget = new Budget(MAX_TRIES);
    for (const [name, value] of Object.entries(object)) {
      if (name !== '__proto__' && this.#means(name, budget)) yield [name, value];
    }
  }

  #means(name: string, budget: Budget): boolean {
    const { like, unlike = [] } = this.#rule;
    if (this.#but.has(name)) return false;
    const has = (pattern: string) => this.#patterns.has(pattern, name, (tries) => budget.take(tries));
    return (like === undefined || has(like) === true) && unlike.every((pattern) => has(pattern) === false);
  }
}

function ruleOf(segment: string): MemberRule {
  // an operator's path may have such a name, with something else behind it
  const rule = segment.length > MEMBERS.length ? jsonIn(segment.slice(MEMBERS.length)) : {};
  if (!isObject(rule)) return {};
  const texts = (list: JsonValue | undefined) => listOf(list).filter((text) => typeof text === 'string');
  return {
    ...(typeof rule.like === 'string' && { like: rule.like }),
    but: texts(rule.but),
    unlike: texts(rule.unlike),
  };
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
