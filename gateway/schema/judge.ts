import { isObject } from '../json/value.js';
import type { JsonObject, JsonValue } from '../ports/json.js';
import { Budget } from './budget.js';
import { equal, type Instance, isMap, isText, LongText } from './instance.js';
import { Patterns } from './pattern.js';
import { pointed } from './reference.js';
import { hasContent, hasFormat, longEnough, shortEnough } from './text-rules.js';
import { all, any, count, ifRead, not, type Truth } from './truth.js';

/** Schemas, members and values read for one result. */
const MAX_STEPS = 50_000;

/** Steps of a pattern, or characters that are counted, in the time of one step. */
const TRIES_PER_STEP = 100;

/** How deep a schema is followed, including references. */
const MAX_DEPTH = 200;

/** Keywords that restrict a value but are not understood here. Any other unknown keyword is an annotation. */
const BEYOND = new Set([
  '$dynamicRef',
  '$recursiveRef',
  'extends',
  'disallow',
  'divisibleBy',
  'formatMinimum',
  'formatMaximum',
  'formatExclusiveMinimum',
  'formatExclusiveMaximum',
]);

/** Answers questions about one schema within a budget. */
export class Judge {
  readonly root: JsonObject;
  readonly #budget = new Budget(MAX_STEPS);
  readonly #patterns = new Patterns((steps) => this.look(Math.ceil(steps / TRIES_PER_STEP)));

  constructor(root: JsonObject) {
    this.root = root;
  }

  /** Takes steps. @returns false once the budget is used up: then no more can be decided */
  look(steps = 1): boolean {
    return this.#budget.take(steps);
  }

  /** False for a schema that cannot be read: below another `$id` its references lead elsewhere. */
  isReadable(schema: JsonValue | undefined, depth: number): schema is JsonObject {
    if (!isObject(schema) || depth > MAX_DEPTH || !this.look(Object.keys(schema).length)) return false;
    if (schema !== this.root && (schema.$id !== undefined || typeof schema.id === 'string')) return false;
    return !Object.keys(schema).some((key) => BEYOND.has(key));
  }

  /** The target of a `$ref`. */
  target(reference: JsonValue | undefined): JsonValue | undefined {
    return typeof reference === 'string' ? pointed(this.root, reference) : undefined;
  }

  /** Whether a value is valid for every reader: drafts of JSON Schema differ, and so do clients' validators. */
  truth(schema: JsonValue | undefined, value: Instance, depth = 0): Truth {
    if (!this.look()) return undefined;
    if (typeof schema === 'boolean') return schema;
    if (!this.isReadable(schema, depth)) return undefined;
    const isReference = schema.$ref !== undefined;
    const truths = Object.keys(schema).map((keyword) => {
      const one = this.keyword(keyword, schema, value, depth);
      // until 2019 keywords beside a reference were ignored
      return isReference && keyword !== '$ref' ? ifRead(one) : one;
    });
    return all(truths);
  }

  /** Verdict of one keyword of a schema on a value. */
  keyword(keyword: string, schema: JsonObject, value: Instance, depth: number): Truth {
    if (this.#budget.isSpent) return undefined;
    const told = this.#keyword(keyword, schema, value, depth);
    // a check skipped for lack of steps could have had any result
    return this.#budget.isSpent ? undefined : told;
  }

  #keyword(keyword: string, schema: JsonObject, value: Instance, depth: number): Truth {
    const said = schema[keyword] as JsonValue;
    switch (keyword) {
      case 'type':
        return this.#hasType(value, said, schema.nullable === true);
      case 'const':
        return equal(value, said, (steps) => this.look(steps));
      case 'enum':
        return Array.isArray(said)
          ? any(this.#each(said, (one) => equal(value, one, (steps) => this.look(steps))))
          : undefined;
      case 'not':
        return not(this.truth(said, value, depth + 1));
      case 'allOf':
        return this.#list(said, (branches) => all(branches.map((one) => this.truth(one, value, depth + 1))));
      case 'anyOf':
        return this.#list(said, (branches) => any(branches.map((one) => this.truth(one, value, depth + 1))));
      case 'oneOf':
        return this.#list(said, (branches) => {
          const { least, most } = count(branches.map((one) => this.truth(one, value, depth + 1)));
          return least > 1 || most === 0 ? false : least === 1 && most === 1 ? true : undefined;
        });
      case 'if':
        return this.#conditional(schema, value, depth);
      case '$ref':
        return this.truth(this.target(said), value, depth + 1);
    }
    if (isText(value))
      return keyword === 'pattern' ? this.#hasPattern(value, said) : this.#ofText(keyword, said, value);
    if (typeof value === 'number') return ofNumber(keyword, said, value);
    if (Array.isArray(value)) return this.#ofArray(keyword, schema, value, depth);
    return isMap(value) ? this.#ofMap(keyword, schema, value, depth) : true;
  }

  #conditional(schema: JsonObject, value: Instance, depth: number): Truth {
    const branch = (name: 'then' | 'else') =>
      schema[name] === undefined ? true : this.truth(schema[name], value, depth + 1);
    const condition = this.truth(schema.if, value, depth + 1);
    if (condition !== undefined) return branch(condition ? 'then' : 'else');
    const [one, other] = [branch('then'), branch('else')];
    return one === other ? one : undefined;
  }

  #ofArray(keyword: string, schema: JsonObject, value: Instance[], depth: number): Truth {
    const said = schema[keyword] as JsonValue;
    const truth = (inner: JsonValue | undefined, index: number) =>
      this.truth(inner, value[index] as Instance, depth + 1);
    const from = (first: number) => this.#indexes(value, first);
    switch (keyword) {
      case 'minItems':
        return typeof said === 'number' ? value.length >= said : undefined;
      case 'maxItems':
        return typeof said === 'number' ? value.length <= said : undefined;
      case 'uniqueItems':
        return said === false || value.length < 2 ? true : undefined;
      case 'prefixItems':
        return this.#list(said, (items) =>
          all(
            from(0)
              .slice(0, items.length)
              .map((i) => ifRead(truth(items[i], i))),
          ),
        );
      case 'items': {
        if (Array.isArray(said))
          return all(
            from(0)
              .slice(0, said.length)
              .map((i) => truth(said[i], i)),
          );
        const prefix = Array.isArray(schema.prefixItems) ? schema.prefixItems.length : 0;
        return all(from(0).map((i) => (i < prefix ? ifRead(truth(said, i)) : truth(said, i))));
      }
      case 'additionalItems': {
        const first = Array.isArray(schema.items) ? schema.items.length : value.length;
        return all(from(first).map((i) => ifRead(truth(said, i))));
      }
      case 'contains': {
        const { minContains = 1, maxContains = Number.POSITIVE_INFINITY } = schema;
        if (typeof minContains !== 'number' || typeof maxContains !== 'number') return undefined;
        const { least, most } = count(from(0).map((i) => truth(said, i)));
        // both bounds are from 2019: before, one match was required and enough
        if (least >= Math.max(minContains, 1) && most <= maxContains) return true;
        return most < Math.min(minContains, 1) ? false : undefined;
      }
      case 'unevaluatedItems':
        return said === true || value.length === 0 ? true : undefined;
      default:
        return true;
    }
  }

  #ofMap(keyword: string, schema: JsonObject, value: { [key: string]: Instance }, depth: number): Truth {
    const said = schema[keyword] as JsonValue;
    const keys = () => {
      const found = Object.keys(value);
      return this.look(found.length) ? found : [];
    };
    const truth = (inner: JsonValue | undefined, key: string) => this.truth(inner, value[key] as Instance, depth + 1);
    switch (keyword) {
      case 'required':
        return this.#list(said, (names) => all(this.#each(names, (name) => Object.hasOwn(value, String(name)))));
      case 'minProperties':
        return typeof said === 'number' ? keys().length >= said : undefined;
      case 'maxProperties':
        return typeof said === 'number' ? keys().length <= said : undefined;
      case 'properties':
        if (!isObject(said)) return undefined;
        return all(keys().map((key) => (Object.hasOwn(said, key) ? truth(said[key], key) : true)));
      case 'patternProperties':
      case 'additionalProperties':
        return all(
          keys().flatMap((key) =>
            this.childrenOf(schema, key)
              .filter(({ by }) => by === keyword)
              .map((child) => (child.isSure ? truth(child.schema, key) : ifRead(truth(child.schema, key)))),
          ),
        );
      case 'propertyNames':
        return all(keys().map((key) => this.truth(said, key, depth + 1)));
      case 'dependentSchemas':
      case 'dependentRequired':
      case 'dependencies':
        if (!isObject(said)) return undefined;
        return all(
          keys().map((key) => {
            const needed = Object.hasOwn(said, key) ? said[key] : true;
            if (Array.isArray(needed)) {
              return this.look(needed.length)
                ? ifRead(all(needed.map((name) => Object.hasOwn(value, String(name)))))
                : undefined;
            }
            return ifRead(this.truth(needed, value, depth + 1));
          }),
        );
      case 'unevaluatedProperties':
        return said === true || keys().length === 0 ? true : undefined;
      default:
        return true;
    }
  }

  /** The schemas that `properties` and related keywords have for a member, and whether they certainly apply. */
  childrenOf(schema: JsonObject, key: string): { by: string; schema: JsonValue | undefined; isSure: boolean }[] {
    const { properties, patternProperties, additionalProperties } = schema;
    const isNamed = isObject(properties) && Object.hasOwn(properties, key);
    const found = isNamed ? [{ by: 'properties', schema: properties[key], isSure: true }] : [];
    let isCovered: Truth = isNamed;
    for (const [pattern, inner] of isObject(patternProperties) ? Object.entries(patternProperties) : []) {
      if (!this.look()) break;
      const fits = this.#hasPattern(key, pattern);
      if (fits !== false) found.push({ by: 'patternProperties', schema: inner, isSure: fits === true });
      if (isCovered === false) isCovered = fits;
      else if (fits === true) isCovered = true;
    }
    if (additionalProperties !== undefined && isCovered !== true) {
      found.push({ by: 'additionalProperties', schema: additionalProperties, isSure: isCovered === false });
    }
    return found;
  }

  #hasPattern(text: string | LongText, pattern: JsonValue): Truth {
    if (typeof pattern !== 'string' || text instanceof LongText) return undefined;
    return this.#patterns.has(pattern, text);
  }

  /** A list of types may be as long as the schema. */
  #hasType(value: Instance, said: JsonValue, isNullable: boolean): Truth {
    const isRead = !Array.isArray(said) || this.look(said.length);
    return isRead ? hasType(value, said, isNullable) : undefined;
  }

  /** All of a text may be read for one keyword. */
  #ofText(keyword: string, said: JsonValue, value: string | LongText): Truth {
    const isRead = value instanceof LongText || this.look(Math.floor(value.length / TRIES_PER_STEP));
    return isRead ? ofText(keyword, said, value) : undefined;
  }

  #list(said: JsonValue, ask: (list: readonly JsonValue[]) => Truth): Truth {
    return Array.isArray(said) && this.look(said.length) ? ask(said) : undefined;
  }

  *#each<Item>(list: readonly Item[], ask: (item: Item) => Truth): Generator<Truth> {
    for (const item of list) yield this.look() ? ask(item) : undefined;
  }

  #indexes(value: readonly Instance[], first: number): number[] {
    const length = this.look(value.length) ? value.length : 0;
    return Array.from({ length: Math.max(length - first, 0) }, (_, index) => index + first);
  }
}

function hasType(value: Instance, said: JsonValue, isNullable: boolean): Truth {
  const types = Array.isArray(said) ? said : [said];
  if (!types.every((type) => typeof type === 'string')) return undefined;
  const fits = types.some((type) => {
    switch (type) {
      case 'string':
        return isText(value);
      case 'null':
        return value === null;
      case 'boolean':
      case 'number':
        return typeof value === type;
      case 'integer':
        return Number.isInteger(value);
      case 'array':
        return Array.isArray(value);
      case 'object':
        return isMap(value);
      default:
        return false;
    }
  });
  // OpenAPI's keyword, which one validator knows
  return fits || (value === null && isNullable ? undefined : false);
}

function ofText(keyword: string, said: JsonValue, value: string | LongText): Truth {
  switch (keyword) {
    case 'minLength':
      return longEnough(value, said);
    case 'maxLength':
      return shortEnough(value, said);
    case 'format':
      return hasFormat(value, said);
    case 'contentEncoding':
    case 'contentMediaType':
    case 'contentSchema':
      return hasContent(value);
    default:
      return true;
  }
}

function ofNumber(keyword: string, said: JsonValue, value: number): Truth {
  const than = typeof said === 'number' ? said : Number.NaN;
  switch (keyword) {
    case 'minimum':
      return Number.isNaN(than) ? undefined : value >= than;
    case 'maximum':
      return Number.isNaN(than) ? undefined : value <= than;
    case 'exclusiveMinimum':
      return Number.isNaN(than) ? undefined : value > than;
    case 'exclusiveMaximum':
      return Number.isNaN(than) ? undefined : value < than;
    case 'multipleOf':
    case 'format':
      return undefined;
    default:
      return true;
  }
}
