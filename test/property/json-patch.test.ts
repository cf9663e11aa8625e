import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { patchText, patchValue } from '../../gateway/json/patch.js';
import type { JsonObject, JsonPatch, JsonValue } from '../../gateway/ports/json.js';
import { parseJson } from '../../gateway/wire/json/parse.js';
import { runs } from '../helpers/effort.js';

/** Keys that meet each other, and such as are hard to find from their end. */
const key = fc.constantFrom('a', 'b', 'c', '"', '\\', 'a\\"', ' ', 'ü', '__proto__');
const leaf = fc.constantFrom<JsonValue>(1, 'x', '"}', null, true);
const { object } = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    tie('object'),
    fc.array(tie('value'), { maxLength: 3 }),
  ),
  object: fc.dictionary(key, tie('value'), { maxKeys: 5 }),
}));
const patch = fc.record({
  path: fc.array(key, { minLength: 1, maxLength: 3 }),
  value: fc.option(fc.oneof(leaf, object), { nil: undefined }),
}) as fc.Arbitrary<JsonPatch>;
const indent = fc.constantFrom('', ' ', '\n\t');

/** An object that was made only to hold what another patch removed may stay or not. */
function withoutEmpty(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, inner]) => [name, withoutEmpty(inner)] as const);
  return Object.fromEntries(members.filter(([, inner]) => JSON.stringify(inner) !== '{}'));
}

/** Also where the name is one that assigning would not make a member. */
function put(object: JsonObject, name: string, value: JsonValue): void {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

/** One patch after the other, each written down from its meaning; undefined where one leads through no object. */
function expected(value: JsonObject, patches: readonly JsonPatch[]): JsonObject {
  const copy = structuredClone(value);
  for (const { path, value: member } of patches) {
    let at: JsonValue | undefined = copy;
    for (const step of path.slice(0, -1)) {
      if (typeof at !== 'object' || at === null || Array.isArray(at)) break;
      if (!Object.hasOwn(at, step) && member !== undefined) put(at, String(step), {});
      at = Object.hasOwn(at, step) ? at[step] : undefined;
    }
    if (typeof at !== 'object' || at === null || Array.isArray(at)) continue;
    const last = String(path.at(-1));
    if (member === undefined) delete at[last];
    else put(at, last, structuredClone(member));
  }
  return copy;
}

describe('patches of a JSON text', () => {
  it('do to any text what they do to its value, one after the other', () => {
    fc.assert(
      fc.property(object, fc.array(patch, { maxLength: 8 }), indent, (value, patches, space) => {
        const text = Buffer.from(JSON.stringify(value, null, space));
        const patched = parseJson(patchText(text, patches).toString()) as JsonObject;
        expect(withoutEmpty(patched)).toEqual(withoutEmpty(expected(value, patches)));
      }),
      { numRuns: runs(3000) },
    );
  });

  it('do the same to a value, which stays as it is', () => {
    fc.assert(
      fc.property(object, object, key, (value, member, name) => {
        const before = JSON.stringify(value);
        const patched = patchValue(value, [
          { path: ['new', name], value: member },
          { path: ['new', name, 'x'], value: 1 },
          { path: [name], value: undefined },
        ]);
        const { [name]: _, ...rest } = value;
        expect(patched).toEqual({ ...rest, new: { [name]: { ...member, x: 1 } } });
        expect(JSON.stringify(value)).toBe(before);
      }),
    );
  });

  it('keep every other byte, of members beside removed ones too', () => {
    const text = '\n{ "a" : 1e400,"old\\"":[1, 2],\t"b":12345678901234567890 , "c":{"x":-0,"gone":1},"last":true }';
    const patched = patchText(Buffer.from(text), [
      { path: ['old"'], value: undefined },
      { path: ['c', 'gone'], value: undefined },
      { path: ['last'], value: undefined },
      { path: ['c', 'y'], value: 2 },
    ]);
    expect(patched.toString()).toBe('\n{ "a" : 1e400,\t"b":12345678901234567890 , "c":{"y":2,"x":-0} }');
  });
});
