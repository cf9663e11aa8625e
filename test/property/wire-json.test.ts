import { describe, it } from '@jest/globals';
import fc from 'fast-check';
import { anyText } from '../helpers/any-text.js';
import { cutAt } from '../helpers/chunked.js';
import { runs } from '../helpers/effort.js';
import { type Kind, readChunks } from '../unit/wire/record.js';
import { cuts, expectSame, jsonValues, messages, oracleSlots, positions, TREE } from './wire-oracle.js';

/** 63,000 in this file, 48,000 in wire-base64.test.ts. */
const RUNS = 9_000;

const kinds = fc.constantFrom<Kind>('json', 'sse', 'lines');
const slotMins = fc.constantFrom(0, 1, 2, 8, 20, 64);

function framed(kind: Kind, json: string | Buffer): Buffer {
  const bytes = Buffer.from(json as string);
  if (kind === 'json') return bytes;
  return kind === 'lines'
    ? Buffer.concat([bytes, Buffer.from('\n')])
    : Buffer.concat([Buffer.from('data: '), bytes, Buffer.from('\n\n')]);
}

const latin1 = (text: string) => Buffer.from(text).toString('latin1');

/** Raw bytes of a string as JSON.stringify spells it. */
const rawLength = (text: string) => Buffer.byteLength(JSON.stringify(text)) - 2;

describe('any JSON in any chunks', () => {
  it('comes out byte for byte', () => {
    fc.assert(
      fc.property(jsonValues, fc.constantFrom(0, 1, 2), cuts, slotMins, (value, indent, fractions, slotMin) => {
        const json = JSON.stringify(value, null, indent);
        const bytes = Buffer.from(json);
        const { messages, error } = readChunks('json', TREE, cutAt(bytes, positions(fractions, bytes.length)), {
          slotMin,
        });
        expectSame(
          [error, messages.length, messages[0]?.malformed, messages[0]?.whole],
          [undefined, 1, undefined, latin1(json)],
        );
      }),
      { numRuns: runs(RUNS) },
    );
  });

  it('is cut exactly where walking the parsed value says (G5)', () => {
    fc.assert(
      fc.property(messages, cuts, slotMins, (value, fractions, slotMin) => {
        const bytes = Buffer.from(JSON.stringify(value));
        const { messages: seen } = readChunks('json', TREE, cutAt(bytes, positions(fractions, bytes.length)), {
          slotMin,
        });
        const parsed: unknown = JSON.parse(bytes.toString());
        const expected = oracleSlots(parsed, rawLength, slotMin);
        expectSame(
          seen[0]?.slots.map(({ text }) => JSON.parse(`"${Buffer.from(text, 'latin1').toString()}"`)).sort(),
          expected.map(({ text }) => text).sort(),
        );
        expectSame(
          seen[0]?.slots.map(({ path }) => path).sort(),
          expected.map(({ path }) => (JSON.parse(path) as (string | number)[]).join('/')).sort(),
        );
        // throws where it is not JSON
        JSON.parse(Buffer.from(seen[0]?.skeleton ?? '', 'latin1').toString());
      }),
      { numRuns: runs(RUNS) },
    );
  });

  it('is seen the same however it is cut up', () => {
    fc.assert(
      fc.property(kinds, messages, cuts, slotMins, (kind, value, fractions, slotMin) => {
        const bytes = framed(kind, JSON.stringify(value));
        const whole = readChunks(kind, TREE, [bytes], { slotMin });
        expectSame(readChunks(kind, TREE, cutAt(bytes, positions(fractions, bytes.length)), { slotMin }), whole);
      }),
      { numRuns: runs(RUNS) },
    );
  });
});

/** A change to a few bytes, as damage or malice would make it. */
const mutations = fc.array(
  fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    remove: fc.integer({ min: 0, max: 3 }),
    insert: fc.oneof(
      fc.constantFrom(
        '"',
        '\\',
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        ' ',
        '\n',
        '\r',
        '\r\n\r\n',
        'data: ',
        '\u0000',
        '\\u00',
        '0',
        '-',
        'e',
        'true',
      ),
      anyText({ maxLength: 3 }),
    ),
  }),
  { minLength: 1, maxLength: 3 },
);

function mutated(bytes: Buffer, changes: { at: number; remove: number; insert: string }[]): Buffer {
  let result = bytes;
  for (const { at, remove, insert } of changes) {
    const start = Math.floor(at * result.length);
    result = Buffer.concat([result.subarray(0, start), Buffer.from(insert), result.subarray(start + remove)]);
  }
  return result;
}

describe('damaged bytes', () => {
  it('are seen the same however they are cut up, and never crash a reader', () => {
    fc.assert(
      fc.property(kinds, messages, mutations, cuts, slotMins, (kind, value, changes, fractions, slotMin) => {
        const bytes = mutated(framed(kind, JSON.stringify(value)), changes);
        const options = { slotMin, maxDepth: 5, maxHeld: 2000 };
        const whole = readChunks(kind, TREE, [bytes], options);
        const cut = readChunks(kind, TREE, cutAt(bytes, positions(fractions, bytes.length)), options);
        expectSame(cut, whole);
      }),
      { numRuns: runs(2 * RUNS) },
    );
  });

  it('are malformed exactly when JSON.parse says so, where nothing is cut', () => {
    fc.assert(
      fc.property(messages, mutations, (value, changes) => {
        const bytes = mutated(Buffer.from(JSON.stringify(value)), changes);
        // as one event, so that the whole of it is one message
        fc.pre(!bytes.includes(0x0a) && !bytes.includes(0x0d));
        const [message] = readChunks('sse', TREE, [framed('sse', bytes)], {
          slotMin: Number.POSITIVE_INFINITY,
        }).messages;
        expectSame(message?.malformed === undefined && !message?.empty, parses(bytes));
        expectSame(message?.whole, bytes.toString('latin1'));
      }),
      { numRuns: runs(RUNS) },
    );
  });
});

function parses(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString());
    return true;
  } catch {
    return false;
  }
}
