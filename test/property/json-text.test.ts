import { isDeepStrictEqual } from 'node:util';
import { describe, it } from '@jest/globals';
import fc from 'fast-check';
import type { ToolSettings } from '../../gateway/ports/file-slot.js';
import { cutAt } from '../helpers/chunked.js';
import { runs, seed } from '../helpers/effort.js';
import { call, NO_LEAKS, RelayLab } from '../unit/relay/relay-lab.js';
import { cuts, expectSame, positions } from './wire-oracle.js';

/** About three seconds; 9,000 of other seeds were run when this was written. */
const RUNS = 500;
const SEED = seed(2_026_1122);
const TIMEOUT = 120_000;

const LIMITS = { inlineImage: 300, inlineOther: 90, file: 100_000, spool: 100_000, response: 1_000_000 };
const SETTINGS: Record<string, ToolSettings> = { t: { files: [], results: { text: 'json', files: [] } } };

const base64 = fc
  .tuple(
    fc.uint8Array({ minLength: 91, maxLength: 700 }),
    fc.constantFrom('base64', 'base64url'),
    fc.integer({ max: 90 }),
  )
  .map(([bytes, alphabet, line]) => {
    const text = Buffer.from(bytes).toString(alphabet as 'base64');
    return line < 20 ? text : text.replaceAll(new RegExp(`.{${line}}(?=.)`, 'g'), '$&\n');
  });
/** Strings that are files, nearly files, and made to be taken for the ends of others. */
const strings = fc.oneof(
  base64,
  base64.map((text) => `data:image/png;base64,${text}`),
  base64.map((text) => `data:image/svg+xml;name="a/b";base64,${text}`),
  fc
    .tuple(fc.constantFrom('', ' ', '"', '\\', 'é', 'data:,'), base64, fc.constantFrom('', '"', '\\', '=A', ' '))
    .map((parts) => parts.join('')),
  fc.constantFrom('', 'data:', '\\"', '":"', '\\u0022', 'a "quoted" \\ word', '\n\u0000😀'),
);
const values = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, strings, fc.integer(), fc.constant(null), tie('list'), tie('map')),
  list: fc.array(tie('value'), { maxLength: 3 }),
  map: fc.dictionary(fc.oneof(fc.constantFrom('data', 'k'), strings), tie('value'), { maxKeys: 3 }),
})).value;

/** How a writer spells the characters that it need not escape. */
type Writer = (char: string) => string;
const unicode = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
const WRITERS: Record<string, Writer> = {
  plain: (char) => char,
  php: (char) => (char === '/' ? '\\/' : char),
  gson: (char) => (/[<>&='+]/.test(char) ? unicode(char) : char),
  dotnet: (char) => (/[<>&'+\u0080-\uffff]/.test(char) ? unicode(char).toUpperCase().replace('U', 'u') : char),
  // not of what says that a data: URI begins
  some: (char) => (/[3-7k-su-z]/.test(char) ? unicode(char) : char),
};
const writers = fc.constantFrom(...Object.keys(WRITERS));

/** JSON of a value as a writer has it; .NET spells the quotes in a string as an escape, too. */
function written(value: unknown, name: string, indent?: number): string {
  const json = JSON.stringify(value, null, indent);
  return json.replaceAll(/"(?:[^"\\]|\\.)*"/gs, (string) =>
    string.replaceAll(/\\u[0-9a-f]{4}|\\.|[^"\\]/gs, (char) => {
      if (char === '\\"' && name === 'dotnet') return '\\u0022';
      return char.length > 1 ? char : (WRITERS[name] as Writer)(char);
    }),
  );
}

/** The bytes of a string that is a file and too long to stay. */
function fileIn(text: string): Buffer | undefined {
  const head = /^data:[^,]*;base64,/.exec(text)?.[0] ?? '';
  const body = text.slice(head.length);
  if (!/^[\w+/\n-]+={0,2}$/.test(body)) return undefined;
  const bytes = Buffer.from(body, 'base64');
  return bytes.length > LIMITS.inlineOther ? bytes : undefined;
}

/** What marks a string as a file: members of the object around it. */
const marks = fc.constantFrom<Record<string, unknown>>(
  {},
  {},
  { mimeType: 'image/png' },
  { media_type: 'application/x-a+b; c="d"' },
  { type: 'image' },
  { type: 'audio', name: 'a.wav' },
  { type: 'text' },
  { uri: 'x:y' },
  { path: 'image/' },
  { type: 'images/png' },
);
const marked = fc
  .tuple(marks, fc.constantFrom('data', 'blob', 'text', 'content'), strings, fc.boolean())
  .map(([around, key, text, isFirst]) => (isFirst ? { [key]: text, ...around } : { ...around, [key]: text }));

/** What the rule says of a string in an object, in other words than the code. */
function isMarked(key: string, around: Record<string, unknown>): boolean {
  if (key === 'text') return false;
  if ('mimeType' in around || 'media_type' in around) return true;
  return key === 'data' ? around.type === 'image' || around.type === 'audio' : key === 'blob' && 'uri' in around;
}

/** The value with a word for each file that has to be cut. */
function withoutFiles(value: unknown, isHere = false): unknown {
  if (typeof value === 'string') {
    const isFile = fileIn(value) !== undefined && (isHere || value.startsWith('data:'));
    return isFile ? 'a link' : value;
  }
  if (Array.isArray(value)) return value.map((one) => withoutFiles(one));
  if (typeof value !== 'object' || value === null) return value;
  const around = value as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(around).map(([key, inner]) => [key, withoutFiles(inner, isMarked(key, around))]),
  );
}

/** The value with that word for each link. */
function withoutLinks(value: unknown, lab: RelayLab): unknown {
  if (typeof value === 'string') return lab.isLink(value) ? 'a link' : value;
  if (Array.isArray(value)) return value.map((one) => withoutLinks(one, lab));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutLinks(inner, lab)]));
}

async function compare(sent: unknown, got: unknown, lab: RelayLab): Promise<void> {
  const file = typeof sent === 'string' ? fileIn(sent) : undefined;
  if (file) {
    expectSame(lab.isLink(got), true);
    expectSame(await lab.at(got as string), file);
  } else if (typeof sent === 'object' && sent !== null) {
    expectSame(Object.keys(got as object), Object.keys(sent));
    for (const [key, inner] of Object.entries(sent)) await compare(inner, (got as Record<string, unknown>)[key], lab);
  } else expectSame(got, sent);
}

describe('a text that is JSON', () => {
  it(
    'keeps everything but its files, which become links, whatever wrote it and however it is cut on the way',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.oneof(fc.array(values, { maxLength: 3 }), fc.dictionary(fc.constantFrom('a', 'b'), values)),
          writers,
          writers,
          fc.constantFrom(undefined, 2),
          cuts,
          async (value, inside, outside, indent, at) => {
            const text = written(written(value, inside, indent), outside);
            const body = Buffer.from(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":${text}}]}}`);
            const lab = new RelayLab({ limits: LIMITS, settings: SETTINGS });
            const relayed = await lab.relay(cutAt(body, positions(at, body.length)), 'json', [call('1')]);
            const { content } = JSON.parse(relayed.text).result;
            await compare(value, JSON.parse(content[0].text), lab);
            expectSame(await lab.leaks(), NO_LEAKS);
          },
        ),
        { numRuns: runs(RUNS), seed: SEED },
      );
    },
    TIMEOUT,
  );

  it(
    'of which nothing is configured loses only what it marks as a file, and without any passes byte for byte',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.oneof({ weight: 3, arbitrary: marked }, values), { minLength: 1, maxLength: 4 }),
          writers,
          writers,
          fc.constantFrom(undefined, 2),
          cuts,
          async (value, inside, outside, indent, at) => {
            const text = written(written(value, inside, indent), outside);
            const body = Buffer.from(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":${text}}]}}`);
            const lab = new RelayLab({ limits: LIMITS, settings: {} });
            const relayed = await lab.relay(cutAt(body, positions(at, body.length)), 'json', [call('1')]);
            const left = withoutFiles(value);
            if (isDeepStrictEqual(left, value)) expectSame(relayed.text, body.toString());
            else {
              const { content } = JSON.parse(relayed.text).result;
              expectSame(withoutLinks(JSON.parse(content[0].text), lab), left);
            }
            expectSame(await lab.leaks(), NO_LEAKS);
          },
        ),
        { numRuns: runs(RUNS), seed: SEED },
      );
    },
    TIMEOUT,
  );
});
