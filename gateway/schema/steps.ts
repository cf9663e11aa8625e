import { jsonIn } from '../json/text.js';
import { isObject, own } from '../json/value.js';
import type { JsonObject, JsonPath, JsonValue } from '../ports/json.js';
import { EACH, MEMBERS } from './argument-path.js';
import { Budget } from './budget.js';
import { Patterns } from './pattern.js';
import { isMembers, itemIn, type MemberRule } from './segments.js';
import { all, not, type Truth } from './truth.js';
import { listOf } from './walk.js';

/** Steps of patterns for one slot of a call: some milliseconds, however many objects are on the way to it. */
const MAX_STEPS = 1_000_000;

/** A place to which a segment leads: its key, what is there, and true where it is not known that the segment means it. */
type Way = readonly [key: string | number, value: JsonValue, isDoubtful?: boolean];

/** What one segment of a slot's path means, in a value and in a schema. */
interface Step {
  /** True for the kind of value that it leads into. */
  fits(value: JsonValue): boolean;
  /**
   * Where it leads in a value. Of a value that does not fit: nothing.
   * @param names of `patternsOfCall`
   */
  in(value: JsonValue, names: Patterns): Iterable<Way>;
  /** Where a schema has the schema of those places. */
  below(schema: JsonObject): { key: JsonPath; inner: JsonValue | undefined };
}

/** By the path: its rules may have patterns, and each call asks three times. */
const READ = new WeakMap<readonly string[], readonly Step[]>();

/** The steps of a slot's path. */
export function stepsOf(path: readonly string[]): readonly Step[] {
  const steps = READ.get(path) ?? path.map(stepOf);
  READ.set(path, steps);
  return steps;
}

/** For all names of one call on the way to one slot. */
export function patternsOfCall(): Patterns {
  const budget = new Budget(MAX_STEPS);
  return new Patterns((steps) => budget.take(steps));
}

/** The step that a segment of a path stands for: a member, each item, one item by its index, or members by a pattern. */
export function stepOf(segment: string): Step {
  if (segment === EACH) return EACH_ITEM;
  if (isMembers(segment)) return new Members(segment);
  const index = itemIn(segment);
  return index === undefined ? named(segment) : oneItem(index);
}

function named(name: string): Step {
  return {
    fits: isObject,
    in: (value) => (isObject(value) && Object.hasOwn(value, name) ? [[name, value[name] as JsonValue]] : []),
    below: ({ properties }) => ({
      key: ['properties', name],
      inner: isObject(properties) ? own(properties, name) : undefined,
    }),
  };
}

const EACH_ITEM: Step = {
  fits: Array.isArray,
  in: (value) => (Array.isArray(value) ? value.entries() : []),
  below: ({ items }) => ({ key: ['items'], inner: items }),
};

function oneItem(index: number): Step {
  return {
    fits: Array.isArray,
    in: (value) => (Array.isArray(value) && index < value.length ? [[index, value[index] ?? null]] : []),
    below: (schema) => {
      const by = Array.isArray(schema.prefixItems) ? 'prefixItems' : 'items';
      const listed = schema[by];
      return { key: [by, index], inner: Array.isArray(listed) ? listed[index] : undefined };
    },
  };
}

/** The members of an object that one rule means. */
class Members implements Step {
  readonly fits = isObject;
  readonly #rule: MemberRule;
  readonly #but: ReadonlySet<string>;

  constructor(segment: string) {
    this.#rule = ruleOf(segment);
    this.#but = new Set(this.#rule.but);
  }

  *in(value: JsonValue, names: Patterns): Generator<Way> {
    if (!isObject(value)) return;
    for (const [name, inner] of Object.entries(value)) {
      // one of that name cannot be replaced by its path
      const isMeant = name === '__proto__' ? undefined : this.#means(name, names);
      if (isMeant !== false) yield [name, inner, isMeant === undefined];
    }
  }

  below({ patternProperties, additionalProperties }: JsonObject): { key: JsonPath; inner: JsonValue | undefined } {
    const { like } = this.#rule;
    if (like === undefined) return { key: ['additionalProperties'], inner: additionalProperties };
    return {
      key: ['patternProperties', like],
      inner: isObject(patternProperties) ? own(patternProperties, like) : undefined,
    };
  }

  #means(name: string, names: Patterns): Truth {
    const { like, unlike = [] } = this.#rule;
    if (this.#but.has(name)) return false;
    const isLike = like === undefined || names.has(like, name);
    return isLike === false ? false : all([isLike, ...unlike.map((pattern) => not(names.has(pattern, name)))]);
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
