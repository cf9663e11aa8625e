import { describe, it } from '@jest/globals';
import fc from 'fast-check';
import { parseExactly } from '../../gateway/wire/json/parse.js';
import { sha256Url } from '../helpers/bytes.js';
import { cutAt } from '../helpers/chunked.js';
import { runs, seed } from '../helpers/effort.js';
import { NO_LEAKS, type Relayed, RelayLab, request } from '../unit/relay/relay-lab.js';
import { FILES, LIMITS, type Spec, specs, type Written, write } from './cut-oracle.js';
import { cuts, expectSame, positions } from './wire-oracle.js';

/** About five seconds each; 15,000 and 5,000 of other seeds were run when this was written. */
const RUNS = 500;
const SEED = seed(2_026_1121);
const TIMEOUT = 600_000;

type Kind = 'json' | 'sse' | 'lines';
const kinds = fc.constantFrom<Kind>('json', 'sse', 'lines');

interface Sent {
  url: string;
  size: number;
  digest: string;
  contentIndex?: number;
  pointer?: string;
}

interface Result {
  /** Of a task. */
  result?: Result;
  _meta: { [FILES]: Sent[] };
  content: unknown[];
  messages?: { content: unknown }[];
  contents: unknown[];
}

function framed(kind: Kind, messages: readonly string[]): Buffer {
  if (kind === 'json') return Buffer.from(messages.join(' \n'));
  if (kind === 'lines') return Buffer.from(messages.map((text) => `${text}\n`).join(''));
  return Buffer.from(messages.map((text) => `id: 1\ndata: ${text.replaceAll('\n', '\ndata: ')}\n\n`).join(':x\n'));
}

const requestsFor = (methods: readonly string[]) =>
  methods.map((method, index) => request(String(index + 1), method, 't'));

/** What a message must be, and which links are in it. */
async function check(spec: Spec, written: Written, text: string, lab: RelayLab): Promise<string[]> {
  if (written.due.length === 0) {
    expectSame(text, written.expected([], []));
    return [];
  }
  // its numbers are written again below
  const { result: outer } = parseExactly(text) as { result: Result };
  const result = (spec.method === 'tasks/get' ? outer.result : outer) as Result;
  const list = result._meta[FILES];
  expectSame(list.length, written.due.length);
  const isList = spec.method === 'tools/call' || spec.method === 'tasks/get';
  const blocks: unknown[][] = [];
  for (const [position, { bytes, at, extras }] of written.due.entries()) {
    const file = list[position] as Sent;
    const digest = `sha-256:${sha256Url(bytes)}`;
    expectSame([file.size, file.digest, await lab.at(file.url)], [bytes.length, digest, bytes]);
    if ('pointer' in at) expectSame(file.pointer, at.pointer);
    else {
      // a text block and a link in the place of each block in a list
      expectSame(file.contentIndex, at.index + (isList ? position : 0));
      const index = file.contentIndex as number;
      if (isList) blocks.push(result.content.slice(index, index + 2));
      else blocks.push([result.messages ? result.messages[index]?.content : result.contents[index]]);
      expectSame(JSON.stringify(blocks.at(-1)).includes(JSON.stringify(file.url)), true);
      const [first] = blocks.at(-1) as [Record<string, unknown>];
      for (const [key, json] of Object.entries(extras)) expectSame(JSON.stringify(first[key]), json);
    }
  }
  expectSame(text, written.expected(list, blocks));
  return list.map(({ url }) => url);
}

describe('any results in any spelling and any chunks', () => {
  it(
    'become what a reader of the whole message would make of them, byte for byte (G4)',
    async () => {
      await fc.assert(
        fc.asyncProperty(kinds, fc.array(specs, { minLength: 1, maxLength: 3 }), cuts, async (kind, all, fractions) => {
          const written = all.map((spec, index) => write(spec, index + 1, kind !== 'lines'));
          const body = framed(
            kind,
            written.map(({ sent }) => sent),
          );
          const lab = new RelayLab({ limits: LIMITS });
          const { messages, error } = await lab.relay(
            cutAt(body, positions(fractions, body.length)),
            kind,
            requestsFor(all.map(({ method }) => method)),
          );
          expectSame([error, messages.length], [undefined, all.length]);
          const urls: string[] = [];
          for (const [index, message] of messages.entries()) {
            urls.push(...(await check(all[index] as Spec, written[index] as Written, String(message), lab)));
          }
          const keys = await lab.keys();
          expectSame(keys.sort(), [...new Set(urls.map((url) => url.slice(url.indexOf('f/'))))].sort());
          expectSame(await lab.leaks(), NO_LEAKS);
        }),
        { numRuns: runs(RUNS), seed: SEED },
      );
    },
    TIMEOUT,
  );
});

const damages = fc.array(
  fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    remove: fc.constantFrom(0, 0, 1, 2, 40, 100_000),
    insert: fc.constantFrom('', '"', '\\', '}', ']', ',', '!', '=', '\n\n', '\\u00', '\u0000', '"data":"', 'type', '{'),
  }),
  { maxLength: 3 },
);

function damaged(body: Buffer, changes: { at: number; remove: number; insert: string }[]): Buffer {
  let bytes = body;
  for (const { at, remove, insert } of changes) {
    const start = Math.floor(at * bytes.length);
    bytes = Buffer.concat([bytes.subarray(0, start), Buffer.from(insert), bytes.subarray(start + remove)]);
  }
  return bytes;
}

interface Plain {
  texts: readonly (string | undefined)[];
  error: string | undefined;
}

/** In the place of an error that a limit caused. */
const REFUSED = 'refused by a limit';

/**
 * Without what differs from one time to the next: names, moments, and how far something had come. Of several limits
 * that one message passes, whichever is passed first is named: under tight ones an error is as good as another.
 */
function plain({ messages, error }: Relayed, isTight: boolean): Plain {
  const refused = isTight ? /"error":\{"code":-32603.*\}/ : /^$/;
  const texts = messages.map((message) => {
    const ids = new Map<string, number>();
    return message
      ?.toString('latin1')
      .replaceAll(/f_[\w-]{22}/g, (id) => `f_${ids.get(id) ?? ids.set(id, ids.size).size}`)
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'then')
      .replaceAll(/"actual":\d+|\(\d+ so far\)/g, 'some')
      .replace(refused, REFUSED);
  });
  return { texts, error: (error as { code?: string } | undefined)?.code };
}

/**
 * How much of a message is in memory at one time depends on the chunks it comes in, so that under tight limits one may be
 * refused in some and pass in others.
 */
function alike({ texts, error }: Plain, other: Plain): Plain {
  const isRefused = (text: string | undefined) => text?.includes(REFUSED) === true;
  return { texts: texts.map((text, at) => (isRefused(text) || isRefused(other.texts[at]) ? REFUSED : text)), error };
}

describe('damaged results', () => {
  it(
    'come out the same in any chunks, never as an internal error, and leave nothing behind',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          kinds,
          fc.array(specs, { minLength: 1, maxLength: 2 }),
          damages,
          cuts,
          fc.boolean(),
          async (kind, all, changes, fractions, isTight) => {
            const written = all.map((spec, index) => write(spec, index + 1, kind !== 'lines'));
            const body = damaged(
              framed(
                kind,
                written.map(({ sent }) => sent),
              ),
              changes,
            );
            const limits = isTight ? { ...LIMITS, spool: 400, file: 2000, files: 3, response: 5000 } : LIMITS;
            const requests = requestsFor(all.map(({ method }) => method));
            const seen: Plain[] = [];
            for (const chunks of [[body], cutAt(body, positions(fractions, body.length))]) {
              const lab = new RelayLab({ limits });
              const relayed = await lab.relay(chunks, kind, requests);
              seen.push(plain(relayed, isTight));
              // what a message leaves behind is removed in the background: this waits for that
              const leaks = await lab.leaks();
              const lost = (await lab.keys()).filter((key) => !relayed.text.includes(key));
              expectSame([relayed.text.includes('"code":"internal"'), lost, leaks], [false, [], NO_LEAKS]);
              expectSame(relayed.error === undefined || relayed.error instanceof Error, true);
            }
            const [whole, inPieces] = seen as [Plain, Plain];
            expectSame(alike(inPieces, whole), alike(whole, inPieces));
          },
        ),
        { numRuns: runs(RUNS), seed: SEED },
      );
    },
    TIMEOUT,
  );
});
