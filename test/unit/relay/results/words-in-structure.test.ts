import { describe, expect, it } from '@jest/globals';
import type { ToolSettings } from '../../../../gateway/ports/file-slot.js';
import type { JsonObject } from '../../../../gateway/ports/json.js';
import { someBytes } from '../../../helpers/bytes.js';
import { call, inPieces, type LabOptions, NO_LEAKS, type Relayed, RelayLab, request } from '../relay-lab.js';

const LIMITS = { inlineImage: 300, inlineOther: 90, inlineResource: 600, file: 10_000, spool: 400, response: 40_000 };
const PIECES = [1, 7, 97, Number.MAX_SAFE_INTEGER];
/** Begins as nothing that is known. */
const BYTES = Buffer.concat([Buffer.from([1, 2, 3, 4]), someBytes(1296)]);
const DATA = BYTES.toString('base64');
const PDF = Buffer.concat([Buffer.from('%PDF-1.4\n'), someBytes(1203)]);
const AS_PDF = PDF.toString('base64');
const URI = `data:image/png;base64,${DATA}`;
const WORDS = `# Report é\n\n![chart](${URI})\n"as drawn", 7\n`;
const LINK = /http:\/\/store\.test\/[\w/-]+/g;

const bodyOf = (result: JsonObject) => JSON.stringify({ jsonrpc: '2.0', id: 1, result });
const textOf = (text: string) => [{ type: 'text', text }];
const resultOf = ({ text }: Relayed) => JSON.parse(text).result;

async function everyPiece(
  body: string,
  check: (relayed: Relayed, lab: RelayLab) => Promise<void> | void,
  options: LabOptions = {},
): Promise<void> {
  for (const size of PIECES) {
    const lab = new RelayLab({ limits: LIMITS, ...options });
    await check(await lab.relay(inPieces(body, size), 'json', [call('1')]), lab);
    expect(await lab.leaks()).toEqual(NO_LEAKS);
  }
}

const shownTo = (outputSchema: JsonObject): LabOptions => ({ tools: [{ name: 't', outputSchema }] });
const withResult = (result: JsonObject): LabOptions => shownTo({ type: 'object', properties: { result } });

describe('a file among the words of a string in structuredContent becomes the link that the text has', () => {
  it.each<[string, string, string, Buffer]>([
    ['an image of Markdown', WORDS, URI, BYTES],
    ['an image of HTML', `<p>é</p><img alt="x" src="${URI}"><p>€</p>`, URI, BYTES],
    ['base64 of a known format behind words', `Here is your file: ${AS_PDF}`, AS_PDF, PDF],
    ['an image of Markdown in a string of JSON', JSON.stringify({ md: `# A\n![x](${URI}) 1` }), URI, BYTES],
    ['the data of a block in JSON', JSON.stringify({ type: 'image', data: DATA, mimeType: 'image/png' }), DATA, BYTES],
    ['many words before it', `${'no file, but many words. '.repeat(40)}${URI}, ok`, URI, BYTES],
    ['many letters before it', `${'x'.repeat(250)} ${URI}`, URI, BYTES],
  ])('%s', async (_what, words, file, bytes) => {
    for (const structuredContent of [{ result: words }, { pages: [{ n: 1 }, { md: words }] }]) {
      const content = textOf(words);
      for (const result of [
        { content, structuredContent },
        { structuredContent, content },
      ]) {
        await everyPiece(bodyOf(result), async (relayed, lab) => {
          const { _meta, ...sent } = resultOf(relayed);
          const [link] = sent.content[0].text.match(LINK);
          const shown = words.replace(file, link);
          expect(sent.content).toEqual(textOf(shown));
          expect(sent.structuredContent).toEqual(
            'result' in structuredContent ? { result: shown } : { pages: [{ n: 1 }, { md: shown }] },
          );
          const pointer = 'result' in structuredContent ? '/result' : '/pages/1/md';
          expect(_meta['dev.wharf/files']).toEqual([
            expect.objectContaining({ url: link, size: bytes.length, contentIndex: 0 }),
            expect.objectContaining({ url: link, size: bytes.length, pointer }),
          ]);
          expect(await lab.keys()).toHaveLength(1);
          expect(await lab.at(link)).toEqual(bytes);
        });
      }
    }
  });

  it.each<[string, LabOptions]>([
    ['the host shows it to a model', { host: { structured: 'with-blocks' } }],
    ['the operator names the place', { settings: { t: { files: [], results: { text: 'auto', files: ['md'] } } } }],
  ])('also where no text repeats it, if %s', async (_why, options) => {
    const body = bodyOf({ content: textOf('Done.'), structuredContent: { md: WORDS } });
    const check = async (relayed: Relayed, lab: RelayLab) => {
      const { structuredContent } = resultOf(relayed);
      const [link] = structuredContent.md.match(LINK);
      expect(structuredContent).toEqual({ md: WORDS.replace(URI, link) });
      expect(await lab.at(link)).toEqual(BYTES);
    };
    await everyPiece(body, check, options);
  });

  it('and stays where no text repeats it, for a client that may be a program', async () => {
    const said = { content: textOf('Done.'), structuredContent: { md: WORDS, json: JSON.stringify({ md: URI }) } };
    await everyPiece(bodyOf(said), async (relayed, lab) => {
      expect(resultOf(relayed)).toEqual(said);
      expect(await lab.keys()).toEqual([]);
    });
  });

  it('wherever the string is cut on its way and however it is escaped', async () => {
    const words = `é "a" \\ ![a](${URI})\n![b](${URI}), ok`;
    const said = bodyOf({ structuredContent: { a: [words] }, content: [] });
    for (const body of [said, said.replaceAll('/', '\\/')].map((text) => Buffer.from(text))) {
      for (let at = 1; at < body.length; at += 1) {
        const lab = new RelayLab({ limits: { ...LIMITS, spool: 20_000 }, host: { structured: 'with-blocks' } });
        const relayed = await lab.relay([body.subarray(0, at), body.subarray(at)], 'json', [call('1')]);
        const { structuredContent, _meta } = resultOf(relayed);
        const [{ url }] = _meta['dev.wharf/files'];
        expect(structuredContent).toEqual({ a: [words.replaceAll(URI, url)] });
      }
    }
  });

  it('as many as limits.files in structuredContent, besides those in texts', async () => {
    const uris = Array.from(
      { length: 5 },
      (_, at) => `data:image/png;base64,${someBytes(600 + at).toString('base64')}`,
    );
    const text = uris.map((uri) => `![x](${uri})`).join('\n');
    const left = [false, false, false, true, true];
    await everyPiece(
      bodyOf({ structuredContent: { result: text }, content: textOf(text) }),
      (relayed) => {
        const { structuredContent, content } = resultOf(relayed);
        expect(uris.map((uri) => structuredContent.result.includes(uri))).toEqual(left);
        expect(structuredContent.result).toBe(content[0].text);
      },
      { limits: { ...LIMITS, files: 3 } },
    );
  });
});

describe('the outputSchema of its tool', () => {
  it.each<[string, JsonObject]>([
    ['any string', { type: 'string' }],
    ['a longest length', { type: 'string', maxLength: 5000 }],
    ['a shortest length', { type: 'string', minLength: 20 }],
    ['a pattern that the words with a link match', { type: 'string', pattern: '^# Report' }],
  ])('allows the link: %s', async (_what, schema) => {
    const body = bodyOf({ content: textOf(WORDS), structuredContent: { result: WORDS } });
    await everyPiece(
      body,
      (relayed) => {
        const { content, structuredContent } = resultOf(relayed);
        expect(structuredContent.result).toBe(content[0].text);
        expect(structuredContent.result).toMatch(LINK);
      },
      withResult(schema),
    );
  });

  it.each<[string, JsonObject]>([
    ['a pattern', { type: 'string', pattern: 'base64,' }],
    ['a shortest length', { type: 'string', minLength: 1000 }],
    ['one value', { type: 'string', const: WORDS }],
    ['some values', { enum: [WORDS, 'none'] }],
    ['no such value', { not: { type: 'string', maxLength: 500 } }],
  ])('forbids it, and the string stays as it came: %s', async (_what, schema) => {
    const structuredContent = { result: WORDS };
    await everyPiece(
      bodyOf({ content: textOf(WORDS), structuredContent }),
      (relayed) => {
        const { content, structuredContent: sent, _meta } = resultOf(relayed);
        expect(content[0].text).toMatch(LINK);
        expect(sent).toEqual(structuredContent);
        expect(_meta['dev.wharf/files']).toHaveLength(1);
      },
      withResult(schema),
    );
  });

  it('that forbids what is left where a file is left out makes the whole result an error', async () => {
    const limits = { ...LIMITS, acceptResults: [{ source: 'limits.acceptResults', types: ['application/pdf'] }] };
    await everyPiece(
      bodyOf({ content: textOf(WORDS), structuredContent: { result: WORDS } }),
      (relayed) => expect(JSON.parse(relayed.text).error.data).toMatchObject({ code: 'file_type_refused' }),
      { ...withResult({ type: 'string', const: WORDS }), limits },
    );
  });

  it('forbids it, and nothing is stored for a file that only that string has', async () => {
    const body = bodyOf({ content: textOf('Done.'), structuredContent: { result: WORDS } });
    await everyPiece(
      body,
      async (relayed, lab) => {
        expect(relayed.text).toBe(body);
        expect(await lab.keys()).toEqual([]);
      },
      withResult({ type: 'string', const: WORDS }),
    );
  });
});

describe('a string in structuredContent stays as it is', () => {
  const off: Record<string, ToolSettings> = { t: { files: [], results: { text: 'off', files: [] } } };

  it.each<[string, string, Record<string, ToolSettings>]>([
    ['with base64 of bytes that begin as no format', `Here: ${DATA}`, {}],
    ['with a short file', `![x](data:image/png;base64,${DATA.slice(0, 100)}) ${'ok '.repeat(200)}`, {}],
    ['with base64 of a known format and nothing else, which a program may decode', AS_PDF, {}],
    ['with such base64 and a blank before it', ` ${AS_PDF}`, {}],
    ['that is a URI and nothing else, which a program may read', URI, {}],
    ['that begins as a URI', `${URI} and more`, {}],
    ['with base64 that breaks off', `![x](data:image/png;base64,${DATA.slice(0, 701)}) ok`, {}],
    ['that is JSON with base64 of which nothing says that it is a file', JSON.stringify({ id: 7, scan: DATA }), {}],
    ['with a URI in the key of a member', JSON.stringify({ [`see ${URI} ok`]: 1 }), {}],
    ['where the config says so', WORDS, off],
    ['with words alone', 'é "quoted" \\ and / and \n lines. '.repeat(40), {}],
  ])('%s', async (_what, words, settings) => {
    const body = bodyOf({ content: [], structuredContent: { n: 1, result: words } });
    await everyPiece(
      body,
      async (relayed, lab) => {
        expect(relayed.text).toBe(body);
        expect(await lab.keys()).toEqual([]);
      },
      { settings },
    );
  });

  const LINED = PDF.toString('base64').repeat(12).replaceAll(/.{76}/g, '$&\n');

  it.each<[string, string, Record<string, ToolSettings>]>([
    ['among words', `Here:\n${LINED}\nend`, {}],
    ['in JSON', JSON.stringify({ type: 'image', data: LINED, mimeType: 'image/png' }), {}],
    ['where the config says so', `Here:\n${LINED}\nend`, off],
  ])(
    'with base64 in lines that fill limits.response, which a program gets line by line: %s',
    async (_what, words, settings) => {
      const body = bodyOf({ content: textOf('Done.'), structuredContent: { n: 1, result: words } });
      await everyPiece(
        body,
        async (relayed, lab) => {
          expect(relayed.text).toBe(body);
          expect(await lab.keys()).toEqual([]);
        },
        { settings, limits: { ...LIMITS, response: body.length + 1024, file: 100_000 } },
      );
    },
  );

  it('becomes the link only where base64 in lines would not go through limits.response', async () => {
    const body = bodyOf({ content: textOf('Done.'), structuredContent: { result: `Here:\n${LINED}\nend` } });
    await everyPiece(
      body,
      (relayed) => expect(resultOf(relayed).structuredContent.result.replace(LINK, '')).toBe('Here:\n\nend'),
      { limits: { ...LIMITS, response: body.length - 1000, file: 100_000 } },
    );
  });

  it('where its message breaks off in it, wherever that is', async () => {
    const body = Buffer.from(bodyOf({ structuredContent: { result: `${'many words. '.repeat(20)}"é` }, content: [] }));
    for (let end = 70; end < body.length - 20; end += 1) {
      for (const size of [1, 1000]) {
        const broken = `${body.subarray(0, end).toString('latin1')}\u0001"}}}`;
        const lab = new RelayLab({ limits: LIMITS });
        const { text } = await lab.relay(inPieces(Buffer.from(broken, 'latin1'), size), 'lines', [call('1')]);
        expect(Buffer.from(text).toString('latin1')).toContain(broken);
      }
    }
  });
});

it('a file that is left out among such words leaves nothing there, and its text says why', async () => {
  const body = bodyOf({ content: textOf(WORDS), structuredContent: { result: WORDS } });
  const limits = { ...LIMITS, acceptResults: [{ source: 'limits.acceptResults', types: ['application/pdf'] }] };
  await everyPiece(
    body,
    (relayed) => {
      const { content, structuredContent } = resultOf(relayed);
      expect(content[0].text).toMatch(/is left out/);
      expect(structuredContent).toEqual({ result: WORDS.replace(URI, '') });
    },
    { limits },
  );
});

it('a host that shows structuredContent beside the blocks gets the link in both, and no block more', async () => {
  const body = bodyOf({ content: textOf('Done.'), structuredContent: { md: WORDS } });
  await everyPiece(
    body,
    (relayed) => {
      const { content, structuredContent } = resultOf(relayed);
      expect(content).toEqual(textOf('Done.'));
      expect(structuredContent.md).toMatch(LINK);
      expect(structuredContent.md).not.toContain('base64,');
    },
    { host: { structured: 'with-blocks' } },
  );
});

it('a structuredContent that becomes text has the link in it, and programs are told of its block', async () => {
  const image = { type: 'image', data: someBytes(900).toString('base64'), mimeType: 'image/png' };
  const body = bodyOf({ content: [image], structuredContent: { md: WORDS, n: 7 } });
  await everyPiece(
    body,
    (relayed) => {
      const { content, structuredContent, _meta } = resultOf(relayed);
      expect(structuredContent).toBeUndefined();
      const said = JSON.parse(content.at(-1).text);
      const [link] = said.md.match(LINK);
      expect(said).toEqual({ md: WORDS.replace(URI, link), n: 7 });
      const listed = expect.objectContaining({ url: link, contentIndex: content.length - 1 });
      expect(_meta['dev.wharf/files']).toContainEqual(listed);
    },
    { host: { structured: 'drop' } },
  );
});

it('a result with too much written into it is refused, and its words count for what its server has written', async () => {
  const structuredContent = { md: `${'many words. '.repeat(200)}${URI} ok` };
  await everyPiece(
    bodyOf({ content: [], structuredContent }),
    (relayed) => expect(JSON.parse(relayed.text).error.message).toMatch(/^The server's message came with 2\.[56] kB/),
    { limits: { ...LIMITS, response: 2750 }, host: { structured: 'with-blocks' } },
  );
});

it('tasks have such links in their results as well', async () => {
  const result = { content: textOf(WORDS), structuredContent: { result: WORDS } };
  const lab = new RelayLab({ limits: LIMITS });
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { status: 'completed', result } });
  const relayed = await lab.relay(inPieces(body, 97), 'json', [request('1', 'tasks/get')]);
  const sent = resultOf(relayed).result;
  expect(sent.structuredContent.result).toBe(sent.content[0].text);
});
