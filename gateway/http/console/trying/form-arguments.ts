import { jsonIn } from '../../../json/text.js';
import { isObject, valueAt } from '../../../json/value.js';
import type { JsonObject, JsonValue } from '../../../ports/json.js';
import { EACH } from '../../../schema/argument-path.js';
import type { Field } from './tool-form.js';

/** What a person has filled in: a text for each field, by its index, and the arguments without a field as JSON. */
interface Filled {
  values: ReadonlyMap<number, string>;
  others: string;
}

/** The arguments of a call, and what is wrong with what was filled in: by field, or in the others. */
interface FormArguments {
  args: JsonObject;
  problems: ReadonlyMap<number | 'others', string>;
}

/** A number as JSON writes it. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * The arguments that a filled form stands for. An empty field is left out, unless the tool requires a text there: then
 * it is an empty one.
 */
export function argumentsOf(fields: readonly Field[], { values, others }: Filled): FormArguments {
  const problems = new Map<number | 'others', string>();
  const written = others.trim() === '' ? {} : jsonIn(others);
  if (!isObject(written)) problems.set('others', 'This is not a JSON object.');
  // made here, so that values are put into it: a copy of it for each of a hundred fields took seconds
  const args: JsonObject = isObject(written) ? written : {};
  for (const [index, field] of fields.entries()) {
    const read = readValue(field, values.get(index) ?? '');
    if ('problem' in read) problems.set(index, read.problem);
    else if (read.value !== undefined) {
      const isPut = field.path.includes(EACH)
        ? putInItems(args, field.path, read.value)
        : put(args, field.path, read.value);
      if (!isPut) problems.set(index, aroundText(field.path));
    }
  }
  for (const [index, { hasInner, isRequired, path }] of fields.entries())
    if (hasInner && isRequired && !problems.has(index) && !Object.hasOwn(args, path[0] ?? ''))
      problems.set(index, REQUIRED);
  return { args, problems };
}

const REQUIRED = 'This is required.';

function aroundText(path: readonly string[]): string {
  return path.includes(EACH)
    ? `What is written in ${path[0]} is not a list of objects.`
    : `There is no object around it: fill in ${path[0]} first.`;
}

type Read = { value: JsonValue | undefined } | { problem: string };

function readValue({ kind, isRequired, hasInner, choices, isMany }: Field, given: string): Read {
  // browsers send other ends of lines than servers expect
  const text = given.replaceAll('\r\n', '\n');
  const plain = text.trim();
  if (kind === 'text') return { value: text === '' && !isRequired ? undefined : text };
  if (plain === '') return isRequired && !hasInner ? { problem: REQUIRED } : { value: undefined };
  switch (kind) {
    case 'number':
    case 'integer':
      return numberOf(plain, kind);
    case 'choice':
      return choices.includes(plain) ? { value: jsonIn(plain) } : { problem: 'This is not one of the values.' };
    case 'file': {
      const handles = plain.split(/\s+/);
      if (!isMany && handles.length > 1) return { problem: 'This takes one file.' };
      return { value: isMany ? handles : handles[0] };
    }
    case 'json': {
      const value = jsonIn(plain);
      return value === undefined ? { problem: 'This is not JSON. A text stands in quotes.' } : { value };
    }
  }
}

function numberOf(text: string, kind: 'number' | 'integer'): Read {
  const value = Number(text);
  if (!NUMBER.test(text) || !Number.isFinite(value)) return { problem: 'This is not a number.' };
  if (kind === 'integer' && !Number.isInteger(value)) return { problem: 'This is not a whole number.' };
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    return {
      problem:
        'This is too large to be sent exactly; write it among the other arguments as a text, if the tool takes one.',
    };
  return { value };
}

/** Puts a value at a path, as the last member. @returns false where something else than an object is on the way */
function put(args: JsonObject, [key = '', ...rest]: readonly string[], value: JsonValue): boolean {
  if (rest.length === 0) return putMember(args, key, value);
  const inner = Object.hasOwn(args, key) ? args[key] : undefined;
  const within = inner === undefined ? {} : inner;
  return isObject(within) && put(within, rest, value) && putMember(args, key, within);
}

function putMember(args: JsonObject, key: string, value: JsonValue): true {
  delete args[key];
  // not by assignment, which would set the prototype by a key of that name
  Object.defineProperty(args, key, { value, enumerable: true, writable: true, configurable: true });
  return true;
}

/** Puts one value into each item of a list that has none yet, in order, and into new items for the rest. */
function putInItems(args: JsonObject, path: readonly string[], values: JsonValue): boolean {
  const list = path.indexOf(EACH);
  const [above, within] = [path.slice(0, list), path.slice(list + 1)];
  const items = valueAt(args, above) ?? [];
  if (!Array.isArray(items) || !Array.isArray(values)) return false;
  let index = 0;
  for (const value of values) {
    while (valueAt(items[index], within) !== undefined) index += 1;
    const item = items[index] ?? {};
    if (!isObject(item) || !put(item, within, value)) return false;
    items[index] = item;
  }
  return put(args, above, items);
}
