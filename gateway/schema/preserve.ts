import { isObject } from '../json/value.js';
import type { JsonObject, JsonPath, JsonValue } from '../ports/json.js';
import { equal, type Instance, member } from './instance.js';
import type { Judge } from './judge.js';
import type { Truth } from './truth.js';

/**
 * How a change of a value affects its validity. `keeps`: a valid value stays valid. `restores`: an invalid one stays
 * invalid.
 */
interface Effect {
  keeps: boolean;
  restores: boolean;
}

const NONE: Effect = { keeps: true, restores: true };
const ANY: Effect = { keeps: false, restores: false };

/** A value before and after a change at one path below it; the rest is the same. */
interface Change {
  before: Instance;
  after: Instance;
  path: JsonPath;
}

/**
 * What else matters besides a schema's verdict. `unevaluatedProperties` and `-Items` depend on the members that the
 * schemas around them have evaluated, and a branch that fails evaluates none.
 * - `free`: nothing else
 * - `noted`: part of such a schema, holds whenever that one does
 * - `strict`: a branch of one, must have the same verdict before and after
 */
type Mode = 'free' | 'noted' | 'strict';

/** Where a schema is met. */
interface Place {
  depth: number;
  mode: Mode;
}

const OUTERMOST: Place = { depth: 0, mode: 'free' };

/**
 * How a change affects a value's validity under a schema. It need not be known whether the value is valid: other parts
 * of it may have patterns that only the clients run.
 */
export function effectOf(
  judge: Judge,
  schema: JsonValue | undefined,
  change: Change,
  { depth, mode: around }: Place = OUTERMOST,
): Effect {
  if (typeof schema === 'boolean') return NONE;
  if (!judge.look() || !judge.isReadable(schema, depth)) return ANY;
  const { before, after, path } = change;
  const [key] = path;
  if (key === undefined) return told(judge.truth(schema, before, depth), judge.truth(schema, after, depth));
  const inner = childOf(change, key);
  if (!inner) return ANY;
  const asks = 'unevaluatedProperties' in schema || 'unevaluatedItems' in schema;
  const mode = around === 'free' && asks ? 'noted' : around;
  const here = (one: JsonValue | undefined, own: Mode) => effectOf(judge, one, change, { depth: depth + 1, mode: own });
  const below = (one: JsonValue | undefined) => effectOf(judge, one, inner, { depth: depth + 1, mode: 'free' });
  const effects = Object.keys(schema).map((keyword): Effect => {
    const own = inPlace(keyword, schema, here, { judge, mode, before });
    const effect = own ?? inChild(keyword, schema, change, { judge, key, below });
    if (isSame(effect) || (own && mode !== 'free')) return effect;
    const [was, is] = [before, after].map((value) => judge.keyword(keyword, schema, value, depth));
    return either(effect, told(was, is));
  });
  const effect = together(effects);
  if (isSame(effect)) return effect;
  if (mode === 'strict') return ANY;
  const [was, is] = [before, after].map((value) => judge.truth(schema, value, depth));
  // the verdict alone does not show which members were evaluated
  return either(effect, mode === 'free' ? told(was, is) : { keeps: was === false, restores: is === false });
}

/** Keywords whose schemas describe the value itself. */
function inPlace(
  keyword: string,
  schema: JsonObject,
  here: (one: JsonValue | undefined, mode: Mode) => Effect,
  { judge, mode, before }: { judge: Judge; mode: Mode; before: Instance },
): Effect | undefined {
  const said = schema[keyword] as JsonValue;
  const branch = mode === 'free' ? 'free' : 'strict';
  const areSame = (branches: readonly JsonValue[]) => branches.every((one) => isSame(here(one, branch)));
  switch (keyword) {
    case 'allOf':
      return Array.isArray(said) ? together(said.map((one) => here(one, mode))) : ANY;
    case 'anyOf':
      if (!Array.isArray(said)) return ANY;
      if (mode === 'free') return together(said.map((one) => here(one, mode)));
      return areSame(said) ? NONE : ANY;
    case 'oneOf':
      return Array.isArray(said) && areSame(said) ? NONE : ANY;
    case 'not': {
      const { keeps, restores } = here(said, 'free');
      return { keeps: restores, restores: keeps };
    }
    case 'if':
      if (!areSame([said])) return ANY;
      return together([schema.then ?? true, schema.else ?? true].map((one) => here(one, mode)));
    case '$ref':
      return here(judge.target(said), mode);
    case 'dependentSchemas':
    case 'dependencies': {
      if (!isObject(said)) return ANY;
      const due = Object.keys(said).filter((name) => judge.look() && member(before, name) !== undefined);
      return together(due.map((name) => (Array.isArray(said[name]) ? NONE : here(said[name], mode))));
    }
    default:
      return undefined;
  }
}

/** Keywords whose schemas describe the members or items of the value. */
function inChild(
  keyword: string,
  schema: JsonObject,
  { before, after }: Change,
  { judge, key, below }: { judge: Judge; key: string | number; below: (one: JsonValue | undefined) => Effect },
): Effect {
  const said = schema[keyword] as JsonValue;
  switch (keyword) {
    case 'properties':
    case 'patternProperties':
    case 'additionalProperties': {
      if (typeof key === 'number') return NONE;
      const children = judge.childrenOf(schema, key).filter(({ by }) => by === keyword);
      return together(children.map((child) => below(child.schema)));
    }
    case 'items':
    case 'prefixItems':
      if (typeof key === 'string') return NONE;
      if (!Array.isArray(said)) return below(said);
      return key < said.length ? below(said[key]) : NONE;
    case 'additionalItems':
    case 'unevaluatedItems':
      return typeof key === 'string' ? NONE : below(said);
    case 'unevaluatedProperties':
      return typeof key === 'number' ? NONE : below(said);
    case 'contains': {
      if (typeof key === 'string') return NONE;
      const { keeps, restores } = below(said);
      // an upper limit: one more may be too many
      return schema.maxContains === undefined
        ? { keeps, restores }
        : { keeps: keeps && restores, restores: keeps && restores };
    }
    case 'const':
    case 'enum':
      // only the values themselves can show it
      return ANY;
    case 'uniqueItems':
      return said === true && Array.isArray(before) && Array.isArray(after)
        ? ofUnique(before, after, Number(key), judge)
        : NONE;
    default:
      return NONE;
  }
}

/** The other items stay as unique as they were; the changed one must differ from all of them. */
function ofUnique(before: Instance[], after: Instance[], index: number, judge: Judge): Effect {
  const isLike = (list: Instance[]): Truth => {
    let result: Truth = false;
    for (const [at, item] of list.entries()) {
      if (at === index) continue;
      const one = judge.look() ? equal(item, list[index] as Instance, (steps) => judge.look(steps)) : undefined;
      if (one === true) return true;
      if (one === undefined) result = undefined;
    }
    return result;
  };
  return { keeps: isLike(after) === false, restores: isLike(before) === false };
}

/** The change as it is below the first step of its path. */
function childOf({ before, after, path }: Change, key: string | number): Change | undefined {
  const [old, fresh] = [member(before, key), member(after, key)];
  return old === undefined || fresh === undefined ? undefined : { before: old, after: fresh, path: path.slice(1) };
}

/** The effect that follows from the verdicts on both values. */
function told(before: Truth, after: Truth): Effect {
  return { keeps: after === true || before === false, restores: after === false || before === true };
}

function either(one: Effect, other: Effect): Effect {
  return { keeps: one.keeps || other.keeps, restores: one.restores || other.restores };
}

function isSame({ keeps, restores }: Effect): boolean {
  return keeps && restores;
}

function together(effects: readonly Effect[]): Effect {
  return { keeps: effects.every(({ keeps }) => keeps), restores: effects.every(({ restores }) => restores) };
}
