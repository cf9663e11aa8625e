import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { JsonDocument } from '../../gateway/json/document.js';
import { Edits, membersOf } from '../../gateway/json/edit.js';
import { type Written, writtenText } from '../../gateway/json/written.js';
import type { JsonObject, JsonPath, JsonValue } from '../../gateway/ports/json.js';
import { parseJson } from '../../gateway/wire/json/parse.js';
import { runs } from '../helpers/effort.js';

/** Keys that meet each other, and such as are hard to find from their end. */
const key = fc.constantFrom('a', 'b', 'c', '"', '\\', 'a\\"', ' ', 'ü', '__proto__x');
const leaf = fc.constantFrom<JsonValue>(1, 'x', '"}', null, true, 'é\u0000"', -0.5);
const { value, object } = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    tie('object'),
    fc.array(tie('value'), { maxLength: 3 }),
  ),
  object: fc.dictionary(key, tie('value'), { maxKeys: 5 }),
}));
const path = fc
  .tuple(key, fc.array(fc.oneof(key, fc.integer({ min: 0, max: 2 })), { maxLength: 3 }))
  .map(([first, rest]): JsonPath => [first, ...rest]);
const edit = fc.oneof(
  fc.record({ how: fc.constant('set' as const), path, value: fc.oneof(leaf, value) }),
  fc.record({ how: fc.constant('write' as const), path, value: fc.constantFrom('', 'file', 'f"\\') }),
  fc.record({ how: fc.constant('remove' as const), path, value: fc.constant(null) }),
);
type Edit = { how: 'set' | 'write' | 'remove'; path: JsonPath; value: JsonValue };
const indent = fc.constantFrom('', ' ', '\n\t');

/** A value that is read when it is sent, cut in two. */
function streamed(text: string): Written {
  const bytes = Buffer.from(JSON.stringify(text));
  const read = async function* () {
    yield bytes.subarray(1, 2);
    yield bytes.subarray(2);
  };
  return { length: bytes.length, pieces: [bytes.subarray(0, 1), read] };
}

async function bytesOf({ length, pieces }: Written): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (const piece of pieces) {
    if (Buffer.isBuffer(piece)) chunks.push(piece);
    else for await (const chunk of piece()) chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  expect(bytes.length).toBe(length);
  return bytes;
}

/** The edits on the value itself, each from its meaning. An item that is not there is not set, and none is removed. */
function expected(before: JsonObject, edits: readonly Edit[]): JsonObject {
  const after = structuredClone(before);
  for (const { how, path: way, value: set } of edits) {
    let at: JsonValue | undefined = after;
    for (const step of way.slice(0, -1)) {
      if (typeof at !== 'object' || at === null) break;
      if (Array.isArray(at)) at = typeof step === 'number' ? at[step] : undefined;
      else {
        if (!Object.hasOwn(at, step) && how !== 'remove') at[step] = {};
        at = Object.hasOwn(at, step) ? at[step] : undefined;
      }
    }
    const last = way.at(-1) as string | number;
    if (typeof at !== 'object' || at === null) continue;
    if (Array.isArray(at)) {
      if (how !== 'remove' && typeof last === 'number' && last < at.length) at[last] = structuredClone(set);
    } else if (how !== 'remove') at[last] = structuredClone(set);
    else if (typeof last === 'string') delete at[last];
  }
  return after;
}

/** An object that was made only to hold what another edit removed may stay or not. */
function withoutEmpty(one: JsonValue): JsonValue {
  if (Array.isArray(one)) return one.map(withoutEmpty);
  if (typeof one !== 'object' || one === null) return one;
  const members = Object.entries(one).map(([name, inner]) => [name, withoutEmpty(inner)] as const);
  return Object.fromEntries(members.filter(([, inner]) => JSON.stringify(inner) !== '{}'));
}

function make(edits: readonly Edit[], all: Edits): void {
  for (const one of edits) {
    if (one.how === 'set') all.set(one.path, one.value);
    else if (one.how === 'remove') all.remove(one.path);
    else all.write(one.path, streamed(one.value as string));
  }
}

function collected(document: JsonDocument, edits: readonly Edit[]): Edits {
  const all = new Edits(document);
  make(edits, all);
  document.find(all.paths());
  return all;
}

/** Each leaf with its path. */
function* leaves(one: JsonValue, at: JsonPath = []): Generator<JsonPath> {
  if (typeof one !== 'object' || one === null) yield at;
  else
    for (const [name, inner] of Array.isArray(one) ? one.entries() : Object.entries(one))
      yield* leaves(inner, [...at, name]);
}

const isOnWay = (one: JsonPath, other: JsonPath) =>
  one.slice(0, other.length).every((step, index) => step === other[index]);

describe('edits of a JSON text', () => {
  it('do to any text what they do to its value, one after the other', async () => {
    await fc.assert(
      fc.asyncProperty(object, fc.array(edit, { maxLength: 8 }), indent, async (before, edits, space) => {
        const text = Buffer.from(` ${JSON.stringify(before, null, space)}\n`);
        const after = await bytesOf(collected(JsonDocument.of(text), edits).applied());
        expect(withoutEmpty(parseJson(after.toString()) as JsonValue)).toEqual(withoutEmpty(expected(before, edits)));
      }),
      { numRuns: runs(3000) },
    );
  });

  it('are the same whether new members are added in one piece or one by one, between any others', async () => {
    const added = { n: { a: 1 }, m: 'x' };
    const name = fc.constantFrom('n', 'm', 'a');
    const inner = fc.tuple(name, fc.array(name, { maxLength: 1 })).map(([first, rest]) => ['o', first, ...rest]);
    const any = fc.oneof(
      edit,
      edit.chain((one) => inner.map((way): Edit => ({ ...one, path: way }))),
    );
    const some = fc.array(any, { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(object, some, some, fc.boolean(), indent, async (o, early, late, isStage, space) => {
        const text = Buffer.from(JSON.stringify({ o }, null, space));
        const made = async (add: (edits: Edits) => void) => {
          const document = JsonDocument.of(text);
          const all = new Edits(document);
          make(early, all);
          add(all);
          if (isStage) all.nextStage();
          make(late, all);
          document.find(all.paths());
          const has = [
            ['o', 'n'],
            ['o', 'n', 'a'],
            ['o', 'm'],
          ].map((way) => all.has(way));
          return { has, value: parseJson((await bytesOf(all.applied())).toString()) };
        };
        const inOnePiece = await made((all) => all.add(['o'], membersOf(added)));
        const oneByOne = await made((all) => {
          for (const [key, value] of Object.entries(added)) all.set(['o', key], value);
        });
        expect(inOnePiece).toEqual(oneByOne);
      }),
      { numRuns: runs(3000) },
    );
  });

  it('leave every byte outside of the edited values as it came', async () => {
    const spelled = (text: string) => text.replaceAll('x', '\\u0078').replaceAll(/\b1\b/g, '1.00e0');
    await fc.assert(
      fc.asyncProperty(object, fc.array(edit, { maxLength: 4 }), indent, async (before, edits, space) => {
        const text = Buffer.from(spelled(JSON.stringify(before, null, space)));
        const all = collected(JsonDocument.of(text), edits);
        const after = await bytesOf(all.applied());
        // between two spans stands what stood there
        let from = 0;
        let to = 0;
        for (const { start, end, length } of all.spans()) {
          expect(after.subarray(to, to + start - from).equals(text.subarray(from, start))).toBe(true);
          to += start - from + length;
          from = end;
        }
        expect(after.subarray(to).equals(text.subarray(from))).toBe(true);
        const kept = [...leaves(parseJson(text.toString()) as JsonValue)].filter(
          (one) => !edits.some((other) => isOnWay(one, other.path) || isOnWay(other.path, one)),
        );
        const was = JsonDocument.of(text).find(kept);
        const is = JsonDocument.of(after).find(kept);
        const at = ({ slice }: JsonDocument, range: { start: number; end: number } | undefined, of: JsonDocument) =>
          range && slice.call(of, range.start, range.end).toString();
        for (const one of kept) expect(at(is, is.at(one), is)).toBe(at(was, was.at(one), was));
      }),
      { numRuns: runs(1500) },
    );
  });

  it('find in steps what they find at once, in a batch too', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(object, { minLength: 1, maxLength: 3 }), path, async (messages, way) => {
        const text = Buffer.from(JSON.stringify(messages, null, 1));
        const paths = messages.map((_, index) => [index, ...way]);
        const once = JsonDocument.of(text, true).find(paths);
        const inSteps = await JsonDocument.of(text, true).findInSteps(paths);
        for (const one of paths) expect(inSteps.at(one)).toEqual(once.at(one));
        const document = JsonDocument.of(text, true);
        const all = new Edits(document);
        for (const one of paths) all.set(one, 'new');
        await document.findInSteps(all.paths());
        const after = await bytesOf(all.applied());
        const oracle = messages.map((message) => expected(message, [{ how: 'set', path: way, value: 'new' }]));
        expect(parseJson(after.toString())).toEqual(oracle);
      }),
      { numRuns: runs(500) },
    );
  });

  it('put items at the end of a list, whatever it has and whatever stands in it', () => {
    fc.assert(
      fc.property(
        fc.array(value, { maxLength: 3 }),
        fc.array(value, { minLength: 1, maxLength: 3 }),
        indent,
        (list, more, space) => {
          const text = Buffer.from(JSON.stringify({ list, after: 1 }, null, space));
          const document = JsonDocument.of(text);
          const all = new Edits(document);
          for (const one of more) all.append(['list'], writtenText(JSON.stringify(one)));
          document.find(all.paths());
          const { pieces } = all.applied();
          const after = parseJson(Buffer.concat(pieces as Buffer[]).toString());
          expect(after).toEqual(parseJson(JSON.stringify({ list: [...list, ...more], after: 1 })));
        },
      ),
    );
  });
});
