import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { GatewayError } from '../../gateway/errors.js';
import { anyText } from '../helpers/any-text.js';
import { runs } from '../helpers/effort.js';
import { BOUNDARY, bodyOf, field, file, part, read } from '../unit/http/multipart-bodies.js';

/** Mutated forms per run of the suite: about five seconds. 100,000 were run when this was written. */
const RUNS = 6000;

/** Bytes that matter to a parser of forms turn up far more often than by chance. */
const morsel = fc.oneof(
  fc.constantFrom(
    '\r\n',
    '\r',
    '\n',
    '--',
    `--${BOUNDARY}`,
    `\r\n--${BOUNDARY}`,
    '\r\n\r\n',
    '"',
    '\\',
    ';',
    ' ',
    '\0',
  ),
  fc.constantFrom('Content-Disposition: form-data; name="file"; filename="b"', 'filename="c"', "filename*=UTF-8''d"),
  anyText({ maxLength: 4 }),
);
const content = fc.array(morsel, { maxLength: 8 }).map((pieces) => Buffer.from(pieces.join('')));

const parts = fc.array(
  fc.oneof(
    content.map((bytes) => file(bytes)),
    content.map((bytes) => field('a', bytes)),
    content.map((bytes) => part('name="b"; filename=""', bytes, 'Content-Type: text/plain')),
  ),
  { minLength: 1, maxLength: 3 },
);

/** What is done to a form: a morsel put in the place of some bytes, or nothing. */
const mutation = fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), removed: fc.nat(6), morsel });

function mutate(body: Buffer, mutations: { at: number; removed: number; morsel: string }[]): Buffer {
  return mutations.reduce((bytes, { at, removed, morsel: put }) => {
    const start = Math.floor(at * bytes.length);
    return Buffer.concat([bytes.subarray(0, start), Buffer.from(put), bytes.subarray(start + removed)]);
  }, body);
}

/** A part is the file by its Content-Disposition alone; a mutation may put the same words behind another header's name. */
const NAMES_FILE = /^Content-Disposition:[^\r\n]*;\s*name="?file"?(;|\s|$)/im;

/** The file in a form, found by taking the whole text apart; undefined when its frame is not right. */
function fileByOracle(body: Buffer): Buffer | undefined {
  const text = body.toString('latin1');
  const frame = /^--XbX(.*)\r\n--XbX--(?:\r\n)?$/s.exec(text)?.[1];
  const pieces = frame?.split('\r\n--XbX') ?? [];
  const files = pieces.flatMap((piece) => {
    const [, head, rest] = /^\r\n(.*?)\r\n\r\n(.*)$/s.exec(piece) ?? [];
    return head !== undefined && rest !== undefined && NAMES_FILE.test(head) ? [rest] : [];
  });
  return files.length === 1 && files[0] !== undefined ? Buffer.from(files[0], 'latin1') : undefined;
}

function cut(body: Buffer, sizes: number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let at = 0;
  for (let n = 0; at < body.length; n += 1) {
    const size = sizes[n % sizes.length] ?? 1;
    chunks.push(body.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

const outcomeOf = (chunks: Buffer[]) =>
  read(chunks).then(
    ({ bytes, name }) => ({ bytes, name }),
    (error: unknown) => {
      if (error instanceof GatewayError && error.code === 'upload_malformed') return String(error.facts.reason);
      throw error;
    },
  );

describe('mutated forms', () => {
  it('are refused, or give exactly the bytes of their one file, however they are cut (G9)', async () => {
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(
        parts,
        fc.array(mutation, { maxLength: 3 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 }),
        async (made, mutations, sizes) => {
          const body = mutate(bodyOf(made), mutations);
          const whole = await outcomeOf([body]);
          expect(await outcomeOf(cut(body, sizes))).toEqual(whole);
          if (typeof whole !== 'object') return;
          accepted += 1;
          expect(whole.bytes).toEqual(fileByOracle(body));
        },
      ),
      { numRuns: runs(RUNS, 2600) },
    );
    expect(accepted).toBeGreaterThan(100);
  }, 600_000);
});
