import { describe, expect, it } from '@jest/globals';
import { namesBack } from '../../../../gateway/relay/channels/rename-ids.js';
import { call, framed, inPieces, NO_LEAKS, RelayLab } from '../relay-lab.js';

const RESPONSE = 20_000;
const KINDS = ['json', 'sse', 'lines'] as const;

/** Filled with words to exactly so many bytes. */
type Shape = (size: number) => string;

function filled(before: string, after: string): Shape {
  return (size) => before + 'word '.repeat(size).slice(0, size - before.length - after.length) + after;
}

/** As `filled`, with line breaks. */
function breaks(before: string, after: string): Shape {
  return (size) => {
    const rest = size - before.length - after.length;
    return before + ' '.repeat(rest % 2) + '\\n'.repeat(Math.floor(rest / 2)) + after;
  };
}

const END = `"}]},"jsonrpc":"2.0","id":1}`;
const IMAGE = `{"type":"image","data":"${Buffer.alloc(150, 7).toString('base64')}","mimeType":"image/png"}`;
const TEXT = `{"type":"text","text":"`;

const SHAPES: readonly [string, Shape][] = [
  ['a text', filled(`{"result":{"content":[${TEXT}`, END)],
  ['a text behind ten images that stay', filled(`{"result":{"content":[${`${IMAGE},`.repeat(10)}${TEXT}`, END)],
  ['a text that is JSON', filled(`{"result":{"content":[${TEXT}{\\"a\\":\\"`, `\\"}${END}`)],
  ['a text that is a data: URI of words', filled(`{"result":{"content":[${TEXT}data:text/plain,`, END)],
  ['a text of line breaks', breaks(`{"result":{"content":[${TEXT}`, END)],
  ['a text of line breaks behind a bracket', breaks(`{"result":{"content":[${TEXT}[`, END)],
  ['structured content', filled(`{"result":{"structuredContent":{"a":"`, `"},"content":[]},"jsonrpc":"2.0","id":1}`)],
  ['an error', filled(`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"`, `"}}`)],
  [
    'a batch',
    filled(`[{"result":{"content":[${TEXT}`, `${END},${`{"jsonrpc":"2.0","id":2,"result":{}},`.repeat(50)}{}]`),
  ],
];

describe('limits.response', () => {
  it.each(SHAPES)('is the bytes of a message, whatever is noted beside them: %s', async (_, shape) => {
    for (const kind of KINDS) {
      for (const piece of [97, 4096, Number.MAX_SAFE_INTEGER]) {
        for (const size of [RESPONSE - 600, RESPONSE - 1, RESPONSE, RESPONSE + 1]) {
          const lab = new RelayLab({ limits: { inlineImage: 300, response: RESPONSE } });
          const body = shape(size);
          const { messages } = await lab.relay(inPieces(kind === 'json' ? body : framed(body, kind), piece), kind);
          const [text] = messages.map(String);
          if (size <= RESPONSE) expect([kind, piece, size, text]).toEqual([kind, piece, size, body]);
          else expect(text).toContain(`"code":"response_too_large","limit":"limits.response","allowed":${RESPONSE}`);
          expect(await lab.leaks()).toEqual(NO_LEAKS);
        }
      }
    }
  });

  it('counts what is noted beside a message beyond 300 places, too', async () => {
    const body = `[${`{"jsonrpc":"2.0","id":1,"result":{}},`.repeat(200)}{}]`;
    const places = 200 * 3;
    const least = body.length + (places - 300) * 200;
    for (const kind of KINDS) {
      const relay = (response: number) =>
        new RelayLab({ limits: { response } }).relay(inPieces(kind === 'json' ? body : framed(body, kind), 4096), kind);
      expect((await relay(least)).text).toBe(body);
      const { text } = await relay(least - 1);
      expect(JSON.parse(text)[0].error.data).toMatchObject({
        code: 'response_too_large',
        limit: 'limits.response',
        allowed: least - 1,
        actual: least,
      });
    }
  });
});

describe('the name that a client gave its request', () => {
  const own = `"${'n'.repeat(800)}"`;
  const relay = (body: string) =>
    new RelayLab({ limits: { response: RESPONSE } }).relay(
      inPieces(`${body}\n`, 4096),
      'lines',
      [call('1')],
      (message, edits) => namesBack(message, edits, () => ({ id: own, progressToken: undefined })),
    );
  const shape = filled(`{"result":{"content":[${TEXT}`, END);

  it('is given back to an answer of exactly limits.response', async () => {
    for (const size of [RESPONSE - 1, RESPONSE]) {
      const body = shape(size);
      expect((await relay(body)).text).toBe(body.replace('"id":1', `"id":${own}`));
    }
    expect((await relay(shape(RESPONSE + 1))).text).toContain(`"allowed":${RESPONSE},"actual":${RESPONSE + 1}`);
  });

  it('is not given back a hundred times, which would make of a few bytes very many', async () => {
    const { text } = await relay(`{"jsonrpc":"2.0","result":{},${'"id":1,'.repeat(100)}"id":1}`);
    expect(JSON.parse(text).error.data).toMatchObject({ code: 'response_too_large', limit: 'limits.response' });
  });
});
