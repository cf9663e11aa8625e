import { describe, it } from '@jest/globals';
import fc from 'fast-check';
import type { Host } from '../../gateway/ports/host.js';
import { sha256Url } from '../helpers/bytes.js';
import { cutAt } from '../helpers/chunked.js';
import { runs, seed } from '../helpers/effort.js';
import { NO_LEAKS, RelayLab } from '../unit/relay/relay-lab.js';
import { FILES, LIMITS, randomFrom, SPELLINGS } from './cut-oracle.js';
import { cuts, expectSame, positions } from './wire-oracle.js';

/** About four seconds; 10,000 of other seeds were run when this was written. */
const RUNS = 500;
const SEED = seed(2_026_1126);
const TIMEOUT = 120_000;

type Json = Record<string, unknown>;

const sizes = fc.oneof(
  fc.integer({ min: 1, max: 120 }),
  fc
    .constantFrom(LIMITS.inlineOther, LIMITS.inlineImage)
    .chain((limit) => fc.integer({ min: limit - 12, max: limit + 2 })),
  fc.integer({ min: 120, max: 900 }),
);
/** Bytes of a file, or a text, which may be as long. */
const contents = fc.tuple(sizes, fc.nat(99), fc.boolean()).map(([size, start, isText]) => {
  const random = randomFrom(size * 100 + start);
  return Buffer.from(Array.from({ length: size }, () => (isText ? 0x61 + random(26) : random(256))));
});
const types = fc.constantFrom('image/png', 'image/tiff', 'text/plain', 'application/json', 'application/pdf');
const blocks = fc.record({
  kind: fc.constantFrom('image', 'audio', 'blob', 'blob', 'text', 'document'),
  bytes: contents,
  mimeType: types,
  spelling: fc.constantFrom(...Object.keys(SPELLINGS)),
});
type Block = typeof blocks extends fc.Arbitrary<infer Value> ? Value : never;

const room = fc.record({
  most: fc.integer({ min: 20, max: 400 }),
  unit: fc.constantFrom('characters' as const, 'bytes' as const),
  per: fc.constantFrom('block' as const, 'result' as const),
});
const hosts: fc.Arbitrary<Host> = fc.record(
  {
    images: fc.constantFrom('keep' as const, 'drop' as const, 'with-text' as const),
    imageTypes: fc.constantFrom(['image/png'], []),
    imageEdge: fc.constantFrom(8000),
    imagesPerResult: fc.nat(2),
    imageBytesPerResult: fc.nat(400),
    errorImages: fc.constantFrom('keep' as const, 'drop' as const),
    blobs: fc.constantFrom('keep' as const, 'drop' as const),
    embeddedTexts: fc.constantFrom('keep' as const, 'keep-pages' as const, 'as-text' as const),
    textsApart: fc.constant(true),
    text: room,
  },
  { requiredKeys: [] },
);

function written({ kind, bytes, mimeType, spelling }: Block, index: number): string {
  const base64 = `"${SPELLINGS[spelling]?.(bytes.toString('base64'))}"`;
  const text = JSON.stringify(textOf(bytes));
  const type = JSON.stringify(mimeType);
  switch (kind) {
    case 'text':
      return `{"type":"text","text":${text}}`;
    case 'document':
      return `{"type":"resource","resource":{"uri":"a:${index}","mimeType":"text/plain","text":${text}}}`;
    case 'blob':
      return `{"type":"resource","resource":{"blob":${base64},"uri":"a:${index}","mimeType":${type}}}`;
    default:
      return `{"data":${base64},"mimeType":${type},"type":"${kind}"}`;
  }
}

/** Not base64, so that it stays a text. */
function textOf(bytes: Buffer): string {
  return `${bytes.toString('hex')}, of ${bytes.length}`;
}

/** All that a client can get at in a result: bytes and texts, in its blocks or by their digests in its list of files. */
function reached(result: Json): { digests: Set<unknown>; texts: Set<unknown> } {
  const list = ((result._meta as Json | undefined)?.[FILES] ?? []) as Json[];
  const digests = new Set<unknown>(list.map(({ digest }) => digest));
  const texts = new Set<unknown>();
  for (const block of result.content as Json[]) {
    const resource = (block.resource ?? {}) as Json;
    for (const base64 of [block.data, resource.blob]) {
      if (typeof base64 === 'string') digests.add(digestOf(Buffer.from(base64, 'base64')));
    }
    for (const text of [block.text, resource.text]) {
      if (typeof text !== 'string') continue;
      for (const one of readings(text)) {
        texts.add(one);
        digests.add(digestOf(Buffer.from(one)));
      }
    }
  }
  return { digests, texts };
}

/** What a text may stand for: an embedded one has its address above it, and one of Wharf's line breaks around it. */
function readings(text: string): string[] {
  const inLines = [text, text.replace(/^\n/, '')].flatMap((one) => [one, one.replace(/\n$/, '')]);
  return inLines.flatMap((one) => [one, one.replace(/^Content of a:\d \([^)]*\):\n/, '')]);
}

function digestOf(bytes: Buffer): string {
  return `sha-256:${sha256Url(bytes)}`;
}

describe('a result for any host', () => {
  it(
    'has every byte and every text that the server has sent, in a block or behind a link',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          hosts,
          fc.array(blocks, { minLength: 1, maxLength: 5 }),
          fc.boolean(),
          cuts,
          async (host, all, isError, fractions) => {
            const lab = new RelayLab({ limits: LIMITS, host });
            const result = `{${isError ? '"isError":true,' : ''}"content":[${all.map(written).join(',')}]}`;
            const body = Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${result}}`);
            const { messages, error } = await lab.relay(cutAt(body, positions(fractions, body.length)));
            expectSame([error, messages.length], [undefined, 1]);
            const { digests, texts } = reached(JSON.parse(String(messages[0])).result);
            for (const { kind, bytes } of all) {
              const isText = kind === 'text' || kind === 'document';
              const isThere = isText
                ? texts.has(textOf(bytes)) || digests.has(digestOf(Buffer.from(textOf(bytes))))
                : digests.has(digestOf(bytes));
              expectSame([kind, isThere], [kind, true]);
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
