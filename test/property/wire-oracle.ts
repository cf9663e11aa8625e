import { isDeepStrictEqual } from 'node:util';
import { expect } from '@jest/globals';
import fc from 'fast-check';
import type { WatchNode } from '../../gateway/wire/json/watch-tree.js';
import { anyText } from '../helpers/any-text.js';

/** Keys of the tree and others, so that generated values meet it often. */
const KEYS = ['result', 'content', 'data', 'id', 'deep', 'type', 'x', 'd\u00e4ta', '__proto__', ''];

export const TREE: WatchNode = {
  keys: {
    id: { capture: 'id' },
    result: { watch: 'result', keys: { content: { items: { keys: { data: { slot: 'data' }, type: {} } } } } },
    deep: { deep: 'deep' },
  },
};

/** The strings that a reader must cut, with their paths, found by walking the parsed value. */
export function oracleSlots(
  value: unknown,
  rawLength: (text: string) => number,
  slotMin: number,
): { path: string; text: string }[] {
  const found: { path: string; text: string }[] = [];
  const walk = (node: WatchNode | undefined, deep: boolean, at: unknown, path: (string | number)[]): void => {
    if (typeof at === 'string') {
      if ((deep || node?.slot !== undefined) && rawLength(at) >= slotMin)
        found.push({ path: JSON.stringify(path), text: at });
    } else if (Array.isArray(at)) {
      const below = path.length === 0 && !deep ? TREE : node?.items;
      for (const [index, item] of at.entries()) {
        walk(path.length === 0 ? TREE : below, deep || node?.deep !== undefined, item, [...path, index]);
      }
    } else if (typeof at === 'object' && at !== null) {
      for (const [key, item] of Object.entries(at)) {
        const child = node?.keys && Object.hasOwn(node.keys, key) ? node.keys[key] : undefined;
        walk(child, deep || node?.deep !== undefined, item, [...path, key]);
      }
    }
  };
  walk(TREE, false, value, []);
  return found;
}

const strings = fc.oneof(
  { weight: 3, arbitrary: fc.string({ maxLength: 60 }) },
  { weight: 2, arbitrary: anyText({ maxLength: 30 }) },
  { weight: 2, arbitrary: fc.base64String({ maxLength: 200 }) },
  { weight: 1, arbitrary: fc.constantFrom('"', '\\', '\\"', '\n', '\u0000', '\ud800', '\u2028', '\u{1f600}') },
);

/** A JSON value of any shape, often with the tree's keys. */
export const jsonValues = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    strings,
    fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 5 }),
    fc
      .array(fc.tuple(fc.oneof(fc.constantFrom(...KEYS), fc.string({ maxLength: 8 })), tie('value')), { maxLength: 5 })
      .map(
        // defines also `__proto__` as a key of its own
        (entries) => Object.fromEntries(entries),
      ),
  ),
})).value;

/** A message of the shape that gateways see, with any values in it. */
export const messages = fc.oneof(
  jsonValues,
  fc
    .record({
      id: fc.oneof(fc.integer(), fc.string()),
      content: fc.array(fc.record({ type: fc.string(), data: strings }), { maxLength: 3 }),
      deep: jsonValues,
    })
    .map(({ id, content, deep }) => ({ jsonrpc: '2.0', result: { content }, deep, id })),
);

/** Positions to cut a text of unknown length at, as fractions. */
export const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });

export function positions(fractions: readonly number[], length: number): number[] {
  return fractions.map((fraction) => Math.floor(fraction * length)).sort((a, b) => a - b);
}

/** `expect(actual).toEqual(expected)` at a twentieth of the cost while it holds, which is 10^5 times. */
export function expectSame(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toStrictEqual(expected);
}
