import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { GatewayError } from '../../gateway/errors.js';
import { type ClientMessages, readMessages } from '../../gateway/mcp/request.js';
import type { JsonObject, JsonValue } from '../../gateway/ports/json.js';
import { readArguments } from '../../gateway/relay/arguments/heavy-arguments.js';
import { EACH } from '../../gateway/schema/argument-path.js';
import { runs } from '../helpers/effort.js';

const RUNS = 2000;
const LIGHT = { depth: 1000, values: 1_000_000, batch: 1000 };
/** Everything is read in steps, and what is asked for is still made. */
const HEAVY = { depth: 1000, values: 0, batch: 1000 };

const scalar = fc.oneof(fc.string(), fc.integer(), fc.constantFrom<JsonValue>(null, true, 1e300, 'a"b\\', ''));
const METHODS = ['tools/call', 'resources/read', 'notifications/cancelled', 'initialize', 'files/authorizeUpload'];
const params = fc.dictionary(
  fc.constantFrom('name', 'uri', 'taskId', 'requestId', 'protocolVersion', 'size', 'mimeType', 'arguments'),
  scalar,
);
const id = fc.oneof(fc.integer(), fc.string(), fc.constant(undefined), fc.constant(1.5));
const message = fc
  .tuple(id, fc.option(fc.constantFrom(...METHODS), { nil: undefined }), fc.option(params, { nil: undefined }))
  .map(([own, method, given]) => ({ jsonrpc: '2.0', id: own, method, params: given }));
const body = fc.oneof(message, fc.array(message, { minLength: 1, maxLength: 4 }));

const about = ({ requests, cancelled, firstMethod, isBatch, statelessVersion }: ClientMessages) => ({
  requests: requests.map(({ id: own, method, subject, params: given, base }) => ({
    own,
    method,
    subject,
    given,
    base,
  })),
  cancelled,
  firstMethod,
  isBatch,
  statelessVersion,
});

/** What is understood, or why nothing is. */
async function read(bytes: Buffer, limits: typeof LIGHT) {
  try {
    return about(await readMessages(bytes, limits));
  } catch (error) {
    return (error as Error).message;
  }
}

describe("a client's message that is read in steps", () => {
  it('is understood as one that is parsed', async () => {
    await fc.assert(
      fc.asyncProperty(body, fc.constantFrom('', ' ', '\n\t'), async (value, blanks) => {
        const bytes = Buffer.from(blanks + JSON.stringify(value, null, blanks) + blanks);
        const parsed = await read(bytes, LIGHT);
        // a value of none is one all the same
        expect(await read(bytes, { ...HEAVY, values: 1 })).toEqual(parsed);
      }),
      { numRuns: runs(RUNS) },
    );
  });

  it.each([
    ['{"method":"a"', 'json_malformed'],
    ['{"method":"a"}{}', 'json_malformed'],
    ['[1,2]', 'request_invalid'],
    ['"text"', 'request_invalid'],
    ['{"id":[1],"method":"a"}', 'request_invalid'],
    ['{"id":{"a":1},"method":"a"}', 'request_invalid'],
    ['{"id":null,"method":"a"}', 'request_invalid'],
    ['{"id":1,"method":["a"]}', 'request_invalid'],
    ['{"id":1,"method":"a","params":["b"]}', 'request_invalid'],
    ['{"id":1,"method":"a","params":"b"}', 'request_invalid'],
    ['{"id":1,"method":"tools/call","params":{"name":["b"]}}', 'request_invalid'],
    ['{"method":"tools/call","params":{"name":"b"}}', 'request_invalid'],
    ['{"id":1,"method":"a","method":"b"}', 'request_invalid'],
    ['{"id":1,"method":"a","params":{"_meta":{"a":[1,2,3]}}}', 'request_invalid'],
    ['{"id":1,"method":"a","params":{"name":"a","name":"b"}}', 'request_invalid'],
    ['{"id":1,"method":"a","params":{"_meta":{"progressToken":1,"progressToken":2}}}', 'request_invalid'],
    ['{"id":1,"method":"a","jsonrpc":"2.0","jsonrpc":"1.0"}', 'request_invalid'],
    ['{"id":1,"method":"a","Method":"b"}', 'request_invalid'],
    ['[{"id":1,"method":"a","params":{"argument\\u017f":{}}}]', 'request_invalid'],
    ['{"id":1,"method":"a","params":{"_meta":{"ProgressToken":1}}}', 'request_invalid'],
    [`{"id":"${'i'.repeat(2000)}","method":"a"}`, 'request_invalid'],
    [`[${'{},'.repeat(1000)}{}]`, 'batch_too_long'],
    [`{"a":${'['.repeat(1001)}${']'.repeat(1001)}}`, 'too_deep'],
  ])('is refused where it must be: %.60s', async (text, code) => {
    const limits = { ...HEAVY, values: 2 };
    await expect((async () => readMessages(Buffer.from(text), limits))()).rejects.toMatchObject({ code });
  });
});

it('a body with very many values is refused for the fault that it would be refused for if it had few', async () => {
  const whole = '{"id":1,"method":"a","params":{"b":[1,2,{"c":"d"},[],3]}}';
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length), fc.constantFrom('', '{', '}', ',', '"', '1 ', '\ufeff'), async (at, odd) => {
      const text = `${whole.slice(0, at)}${odd}${whole.slice(at + 1)}`;
      const reasonFor = (limits: typeof HEAVY) =>
        (async () => readMessages(Buffer.from(text), limits))().then(
          () => undefined,
          (error) => (error instanceof GatewayError && error.code === 'json_malformed' ? error.message : undefined),
        );
      const [light, heavy] = [await reasonFor({ ...HEAVY, values: 1000 }), await reasonFor({ ...HEAVY, values: 2 })];
      // where there is more than one thing wrong, each of them may be found first
      if (light !== undefined && heavy !== undefined) expect(heavy).toBe(light);
    }),
    { numRuns: runs(RUNS) },
  );
});

const key = fc.constantFrom('a', 'b', 'c', 'd');
const { object: args } = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar as fc.Arbitrary<JsonValue>,
    tie('object'),
    fc.array(tie('value'), { maxLength: 3 }),
  ),
  object: fc.dictionary(key, tie('value'), { maxKeys: 4 }),
}));
const slotPath = fc.array(fc.oneof({ weight: 3, arbitrary: key }, fc.constant(EACH)), { minLength: 1, maxLength: 4 });

/** The values at a path, each with where it stands. */
function at(value: JsonValue | undefined, path: readonly string[], where = ''): [string, JsonValue][] {
  const [segment, ...rest] = path;
  if (value === undefined || value === null) return [];
  if (segment === undefined) return [[where, value]];
  if (segment === EACH) {
    if (!Array.isArray(value)) return rest.length === 0 ? [[`${where}!`, value]] : [];
    return value.flatMap((item, index) => at(item, rest, `${where}/${index}`));
  }
  if (typeof value !== 'object' || Array.isArray(value) || !Object.hasOwn(value, segment)) return [];
  return at(value[segment], rest, `${where}/${segment}`);
}

it('arguments of which only some are made have those where they stand in all of them', async () => {
  await fc.assert(
    fc.asyncProperty(args, fc.array(slotPath, { minLength: 1, maxLength: 4 }), async (value, found) => {
      const paths = found.filter(([first]) => first !== EACH);
      const made = await readArguments(Buffer.from(JSON.stringify(value)), paths, {}, { values: 1000 });
      for (const path of paths) expect(at(made, path)).toEqual(at(value, path));
    }),
    { numRuns: runs(RUNS) },
  );
});

it('of arguments of which only some are made, a million empty lists on the way to a file are left out', async () => {
  const text = `{"a":[${'[],'.repeat(1_000_000)}["x"]]}`;
  const read = (paths: string[][]) => readArguments(Buffer.from(text), paths, {}, { values: 1000 });
  const { a } = (await read([['a', EACH, EACH]])) as { a: JsonValue[] };
  expect(a.filter((one) => one !== null)).toEqual([['x']]);
  await expect(
    read([
      ['a', EACH],
      ['a', EACH, EACH],
    ]),
  ).rejects.toMatchObject({ code: 'request_invalid' });
});
