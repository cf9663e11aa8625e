import { jsonIn } from '../json/text.js';
import { isObject, own } from '../json/value.js';
import type { JsonObject, JsonPath, JsonValue } from '../ports/json.js';
import { EACH, MEMBERS } from './argument-path.js';
import { Budget } from './budget.js';
import { Patterns } from './pattern.js';
import { isMembers, itemIn, type MemberRule } from './segments.js';
import { listOf } from './walk.js';

/** Attempts at patterns for one slot of a call: some milliseconds, however many objects are on the way to it. */
const MAX_TRIES = 1_000_000;

/** What one segment of a slot's path means, in a value and in a schema. */
export interface Step {
  /** True for the kind of value that it leads into. */
  fits(value: JsonValue): boolean;
  /**
   * Where it leads in a value, with the key of each place. Of a value that does not fit: nothing.
   * @param budget of `budgetOfNames`
   */
  in(value: JsonValue, budget: Budget): Iterable<[string | number, JsonValue]>;
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
export function budgetOfNames(): Budget {
  return new Budget(MAX_TRIES);
}

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

/** The members of an object that one rule means. A pattern that could take long to try is not tried: it decides nothing. */
class Members implements Step {
  readonly fits = isObject;
  readonly #rule: MemberRule;
  readonly #but: ReadonlySet<string>;
  readonly #patterns = new Patterns();

  constructor(segment: string) {
    this.#rule = ruleOf(segment);
    this.#but = new Set(this.#rule.but);
  }

  /** Without `__proto__`, which cannot be replaced by its path. */
  *in(value: JsonValue, budget: Budget): Generator<[string, JsonValue]> {
    if (!isObject(value)) return;
    for (const [name, inner] of Object.entries(value)) {
      if (name !== '__proto__' && this.#means(name, budget)) yield [name, inner];
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
