import { describe, expect, it } from '@jest/globals';
import type { ToolSettings } from '../../../../gateway/ports/file-slot.js';
import { someBytes } from '../../../helpers/bytes.js';
import { call, inPieces, type LabOptions, NO_LEAKS, type Relayed, RelayLab } from '../relay-lab.js';

const LIMITS = { inlineImage: 300, inlineOther: 90, inlineResource: 600, file: 10_000, spool: 400, response: 20_000 };
const PIECES = [1, 7, 97, Number.MAX_SAFE_INTEGER];
/** Begins as nothing that is known. */
const BYTES = Buffer.concat([Buffer.from([1, 2, 3, 4]), someBytes(1296)]);
const DATA = BYTES.toString('base64');
const PDF = Buffer.concat([Buffer.from('%PDF-1.4\n'), someBytes(1203)]);
const AS_PDF = PDF.toString('base64');
const JPEG = Buffer.concat([Buffer.from('ffd8ffe000104a46494600010100', 'hex'), someBytes(1201)]);
const AS_JPEG = JPEG.toString('base64');
const URI = `data:image/png;base64,${DATA}`;
const CAPITALS = `DATA:image/png;name=a%20b.png;BASE64,${DATA}`;
const LINK = /http:\/\/store\.test\/[\w/-]+/g;

const bodyOf = (text: string) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text }] } });

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

describe('a file among the words of a text becomes a link where it stands, and every other byte is as it was', () => {
  it.each<[string, string, string, Buffer]>([
    ['an image of Markdown', `# Chart\n\n![x](${URI})\n\nDone "now".`, URI, BYTES],
    ['an image of HTML', `<p>é</p><img alt="x" src="${URI}"><p>€</p>`, URI, BYTES],
    ['an address of CSS', `a { background: url('${URI}') }`, URI, BYTES],
    ['a cell of a table', `name,data\na.png,${URI},7\n`, URI, BYTES],
    ['a text that begins with a line break', `\n![x](${URI})\n`, URI, BYTES],
    ['a text that begins with a quote', `"x" ${URI} "y"`, URI, BYTES],
    ['the end of a text', `Here it is: ${URI}`, URI, BYTES],
    ['a URI in capitals, with parameters', `see ${CAPITALS}.`, CAPITALS, BYTES],
    ['a text that begins like JSON', `[INFO] saved ${URI}`, URI, BYTES],
    ['a text that begins with a date', `[2026-11-28 10:00] saved ${URI}`, URI, BYTES],
    ['a link of Markdown', `[figure.png](${URI})`, URI, BYTES],
    ['a text that begins with a number in brackets', `[1] ${URI}`, URI, BYTES],
    ['a text that begins with a box', `[ ] ![x](${URI})`, URI, BYTES],
    ['a text that begins with braces', `{} ${URI}`, URI, BYTES],
    ['a text that begins with a letter of "data"', `done: ${URI}`, URI, BYTES],
    [
      'an image of Markdown in a string of JSON',
      JSON.stringify({ name: 'a.md', md: `# A\n![x](${URI}) 1` }),
      URI,
      BYTES,
    ],
    [
      'an image of HTML in a string of JSON',
      JSON.stringify([{ html: `<p>é\n<img src="${URI}"></p>` }, 7], null, 2),
      URI,
      BYTES,
    ],
    ['a URI before a line of words in JSON', JSON.stringify({ md: `see ${URI}\nThen more` }), URI, BYTES],
    ['a URI in a string of JSON in JSON', JSON.stringify({ inner: JSON.stringify({ md: `a ${URI} b` }) }), URI, BYTES],
    ['a URI in lines of JSON', `{"a":1}\n${JSON.stringify({ md: `see ![x](${URI}) ok` })}\n`, URI, BYTES],
    ['a URI in a remark behind JSON', `{"a":1}\nsee ![x](${URI}`, URI, BYTES],
    ['base64 of a known format behind words', `Here is your file: ${AS_PDF}`, AS_PDF, PDF],
    ['base64 of a known format between quotes', `\`\`\`json\n{"data": "${AS_PDF}"}\n\`\`\``, AS_PDF, PDF],
    ['base64 of a JPEG', `![x](${AS_JPEG})`, AS_JPEG, JPEG],
    ['base64 of a known format in a line of its own', `file:\n${AS_PDF}\nnext`, AS_PDF, PDF],
  ])('%s', async (_what, text, file, bytes) => {
    await everyPiece(bodyOf(text), async (relayed, lab) => {
      const { content, _meta } = JSON.parse(relayed.text).result;
      const [link] = content[0].text.match(LINK);
      expect(content).toEqual([{ type: 'text', text: text.replace(file, link) }]);
      const listed = expect.objectContaining({ url: link, size: bytes.length, contentIndex: 0 });
      expect(_meta['dev.wharf/files']).toEqual([listed]);
      expect(await lab.at(link)).toEqual(bytes);
    });
  });

  it.each([
    ['both signs', '==', '\\u003d\\u003d'],
    ['both, in capitals', '==', '\\u003D\\u003D'],
    ['the second sign', '==', '=\\u003d'],
    ['the first sign', '==', '\\u003d='],
  ])('also where its padding is written as an escape, as Gson does: %s', async (_what, signs, escaped) => {
    expect(DATA).toMatch(/[^=]==$/);
    for (const behind of [' b', '', '\\n', '\\/c']) {
      const body = bodyOf(`a ${URI}`).replace(signs, escaped + behind);
      await everyPiece(body, async (relayed, lab) => {
        const text: string = JSON.parse(relayed.text).result.content[0].text;
        const link = text.slice(2).split(/[ \n]|\/c/)[0] as string;
        expect(text).toBe(`a ${link}${JSON.parse(`"${behind}"`)}`);
        expect(await lab.at(link)).toEqual(BYTES);
      });
    }
  });

  it('however often there is one, and equal ones are stored once', async () => {
    const text = `a,${URI}\nb,${AS_PDF}\nc,${URI}\n`;
    await everyPiece(bodyOf(text), async (relayed, lab) => {
      const { content, _meta } = JSON.parse(relayed.text).result;
      const links = content[0].text.match(LINK);
      expect(content[0].text).toBe(`a,${links[0]}\nb,${links[1]}\nc,${links[0]}\n`);
      expect(_meta['dev.wharf/files'].map(({ mimeType }: { mimeType: string }) => mimeType)).toEqual([
        'image/png',
        'application/pdf',
        'image/png',
      ]);
      expect(await lab.keys()).toHaveLength(2);
    });
  });

  it.each([
    ['slashes, as PHP does', (body: string) => body.replaceAll('/', '\\/')],
    ['plus signs, as .NET does', (body: string) => body.replaceAll('+', '\\u002B')],
  ])('where a writer of JSON escapes %s', async (_what, escaped) => {
    const bytes = Buffer.concat([BYTES, Buffer.from('fb5fffbeffff', 'hex'), BYTES]);
    const text = `![x](data:image/png;base64,${bytes.toString('base64')}) ok`;
    await everyPiece(
      escaped(bodyOf(text)),
      async (relayed, lab) => {
        const [link] = JSON.parse(relayed.text).result.content[0].text.match(LINK);
        expect(JSON.parse(relayed.text).result.content[0].text).toBe(`![x](${link}) ok`);
        expect(await lab.at(link)).toEqual(bytes);
      },
      { limits: { ...LIMITS, spool: 20_000 } },
    );
  });

  it('and so does the same base64 in another text of the result, where nothing says that it is one', async () => {
    const words = { type: 'text', text: `see ![x](${URI}) ok` };
    const json = { type: 'text', text: JSON.stringify({ chart: DATA, n: 1 }) };
    for (const content of [
      [words, json],
      [json, words],
    ]) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content } });
      await everyPiece(body, async ({ text }, lab) => {
        const { result } = JSON.parse(text);
        const [link] = text.match(LINK) ?? [];
        const shown = (one: string) =>
          one === words.text ? `see ![x](${link}) ok` : JSON.stringify({ chart: link, n: 1 });
        expect(result.content).toEqual(content.map((block) => ({ type: 'text', text: shown(block.text) })));
        expect(result._meta['dev.wharf/files']).toEqual(
          [0, 1].map((contentIndex) => expect.objectContaining({ mimeType: 'image/png', url: link, contentIndex })),
        );
        expect(await lab.at(link ?? '')).toEqual(BYTES);
      });
    }
  });

  it('in a string of JSON too, wherever the text is cut on its way and however the JSON is escaped', async () => {
    const said = JSON.stringify({ title: 'é', md: `![a](${URI})\n![b](${URI}), ok`, end: [1, 'x'] });
    for (const text of [said, said.replaceAll('/', '\\/')]) {
      const body = Buffer.from(bodyOf(text));
      for (let at = 1; at < body.length; at += 1) {
        const lab = new RelayLab({ limits: { ...LIMITS, spool: 20_000 } });
        const relayed = await lab.relay([body.subarray(0, at), body.subarray(at)], 'json', [call('1')]);
        const { content, _meta } = JSON.parse(relayed.text).result;
        const [{ url }] = _meta['dev.wharf/files'];
        expect(JSON.parse(content[0].text)).toEqual(JSON.parse(said.replaceAll(URI, url)));
      }
    }
  });

  it('of a known format also where its first characters are escapes', async () => {
    const png = Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), someBytes(600)]);
    for (const [bytes, characters] of [
      [JPEG, /\//g],
      [png, /[A-Za-z]/g],
    ] as const) {
      const data = bytes.toString('base64');
      const asCode = (char: string) => `\\u00${char.charCodeAt(0).toString(16)}`;
      const body = bodyOf(`see ${data}.`).replace(
        data,
        data.slice(0, 11).replaceAll(characters, asCode) + data.slice(11),
      );
      await everyPiece(body, async ({ text }, lab) => {
        const [link] = JSON.parse(text).result.content[0].text.match(LINK);
        expect(JSON.parse(text).result.content[0].text).toBe(`see ${link}.`);
        expect(await lab.at(link)).toEqual(bytes);
      });
    }
  });

  it('with the name that its URI gives it', async () => {
    await everyPiece(bodyOf(`see data:image/png;name=my%20cat.png;base64,${DATA}`), ({ text }) => {
      expect(JSON.parse(text).result._meta['dev.wharf/files'][0]).toMatchObject({ name: 'my cat.png' });
    });
  });
});

it('as many files as limits.files become links in the texts of a message, and all others stay as they are', async () => {
  const uris = Array.from({ length: 5 }, (_, at) => `data:image/png;base64,${someBytes(600 + at).toString('base64')}`);
  const text = uris.map((uri) => `![x](${uri})`).join('\n');
  for (const piece of PIECES) {
    const lab = new RelayLab({ limits: { ...LIMITS, files: 3 } });
    const relayed = await lab.relay(inPieces(bodyOf(text), piece), 'json', [call('1')]);
    const { content, _meta } = JSON.parse(relayed.text).result;
    expect(uris.map((uri) => content[0].text.includes(uri))).toEqual([false, false, false, true, true]);
    expect(_meta['dev.wharf/files']).toHaveLength(3);
    expect(await lab.leaks()).toEqual(NO_LEAKS);
  }
});

it('strings of a text that stay in it do not count as files of the message', async () => {
  const text = JSON.stringify({ id: 7, payloads: [DATA, DATA.slice(4), DATA.slice(8)] });
  const images = [601, 602].map((size) => ({
    type: 'image',
    mimeType: 'image/png',
    data: someBytes(size).toString('base64'),
  }));
  const result = { content: [{ type: 'text', text }, ...images] };
  const lab = new RelayLab({ limits: { ...LIMITS, files: 3 } });
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, result });
  const relayed = JSON.parse((await lab.relay(inPieces(body, 97), 'json', [call('1')])).text);
  expect(relayed.result.content[0]).toEqual(result.content[0]);
  expect(relayed.result._meta['dev.wharf/files']).toHaveLength(2);
  expect(await lab.leaks()).toEqual(NO_LEAKS);
});

describe('a text stays as it is', () => {
  const usual = {};
  const off: Record<string, ToolSettings> = { t: { files: [], results: { text: 'off', files: [] } } };
  const json: Record<string, ToolSettings> = { t: { files: [], results: { text: 'json', files: [] } } };

  it.each<[string, string, Record<string, ToolSettings>]>([
    ['with base64 of bytes that begin as no format', `Here: ${DATA}`, usual],
    ['with such base64 where any in JSON is a file', `Here: ${DATA}`, json],
    ['that is JSON as a whole, with base64 of a known format', JSON.stringify({ id: 7, scan: AS_PDF }), usual],
    ['with hexadecimal', `sum: ${someBytes(800).toString('hex')} ok`, usual],
    ['with a short file', `![x](data:image/png;base64,${DATA.slice(0, 100)}) ok`, usual],
    ['with a URI in percent-encoding', `![x](data:image/svg+xml,${'%3Csvg%3E'.repeat(100)}) ok`, usual],
    ['with base64 of a known format and nothing else, which a program may decode', AS_PDF, usual],
    ['with such base64 and a line break', `${AS_PDF}\n`, usual],
    ['with base64 that breaks off', `![x](data:image/png;base64,${DATA.slice(0, 701)}) ok`, usual],
    ['with a URI whose padding is percent-encoded', `![x](${URI.replaceAll('=', '%3D')}) ok`, usual],
    ['with such a URI in JSON', JSON.stringify({ md: `![x](${URI.replaceAll('=', '%3D')}) ok` }), usual],
    ['with a URI in the key of a member', JSON.stringify({ [`see ${URI} ok`]: 1 }), usual],
    [
      'with a short URI in a string of JSON',
      JSON.stringify({ md: `see data:image/png;base64,${DATA.slice(0, 100)} ok` }),
      usual,
    ],
    ['with a URI in JSON that goes on behind its padding', JSON.stringify({ md: `see ${URI}${URI} ok` }), usual],
    ['with base64 that ends in a dash', `see ${AS_PDF.slice(0, 1600)}- ok`, usual],
    ['with what only looks like a head', `base64,${DATA} data:,base64,${DATA}`, usual],
    ['where the config says so', `![x](${URI}) ${AS_PDF}`, off],
    ['without any', 'é "quoted" \\ and / and \n lines. '.repeat(40), usual],
  ])('%s', async (_what, text, settings) => {
    const body = bodyOf(text);
    await everyPiece(
      body,
      async (relayed, lab) => {
        expect(relayed.text).toBe(body);
        expect(await lab.keys()).toEqual([]);
      },
      { settings },
    );
  });

  it.each([
    ['that is more than its tool may have in a file, and none', `Here: ${DATA}`],
    ['that is such JSON', JSON.stringify({ id: 7, payload: DATA })],
  ])('with base64 %s', async (_what, text) => {
    const body = bodyOf(text);
    const toolLimits = { t: { limits: { file: BYTES.length - 1 } } };
    await everyPiece(body, (relayed) => expect(relayed.text).toBe(body), { toolLimits });
    // of a file the limit holds
    const { error } = JSON.parse(
      (
        await new RelayLab({ limits: LIMITS, toolLimits }).relay(
          inPieces(bodyOf(`![x](${URI})`), Number.MAX_SAFE_INTEGER),
          'json',
          [call('1')],
        )
      ).text,
    );
    expect(error.data).toMatchObject({ code: 'file_too_large', allowed: BYTES.length - 1, actual: BYTES.length });
  });

  it('with hexadecimal, for a host that cuts it off as well', async () => {
    const text = `sum: ${someBytes(800).toString('hex')} ok`;
    const host = { text: { most: 100, unit: 'characters' as const, per: 'block' as const } };
    await everyPiece(
      bodyOf(text),
      async (relayed, lab) => {
        const [{ url }] = JSON.parse(relayed.text).result._meta['dev.wharf/files'];
        expect(String(await lab.at(url))).toBe(text);
      },
      { host },
    );
  });

  it('where it is not the text of a text block', async () => {
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      result: { content: [{ type: 'hologram', text: `see ${URI}` }] },
    });
    await everyPiece(body, ({ text }) => expect(text).toBe(body));
  });
});

describe('where nothing stays inline', () => {
  const limits = { ...LIMITS, inlineOther: 0, files: 2 };

  it('a file of a few bytes leaves its text too', async () => {
    await everyPiece(
      bodyOf('![x](data:image/png;base64,iVBORw==) ok'),
      async ({ text }, lab) => {
        const [link] = JSON.parse(text).result.content[0].text.match(LINK);
        expect(JSON.parse(text).result.content[0].text).toBe(`![x](${link}) ok`);
        expect(await lab.at(link)).toEqual(Buffer.from('iVBORw==', 'base64'));
      },
      { limits },
    );
  });

  it('the heads of URIs without a character behind them do not count as files', async () => {
    const heads = '(data:image/png;base64,) '.repeat(3);
    await everyPiece(
      bodyOf(`${heads}![x](${URI})`),
      ({ text }) => {
        const [link] = JSON.parse(text).result.content[0].text.match(LINK);
        expect(JSON.parse(text).result.content[0].text).toBe(`${heads}![x](${link})`);
      },
      { limits },
    );
  });
});

it('words behind the padding of a file stay in the text', async () => {
  const padded = Buffer.concat([PDF, Buffer.from([7])]).toString('base64');
  expect(padded).toMatch(/==$/);
  await everyPiece(bodyOf(`x ${padded}behind`), ({ text }) => {
    expect(JSON.parse(text).result.content[0].text).toMatch(/^x http:\/\/store\.test\/\S+behind$/);
  });
});

it('a text that passes its limit while its file is stored leaves nothing behind', async () => {
  const body = bodyOf(`${'long. '.repeat(2000)} ![x](${URI}) ${'long. '.repeat(2000)}`);
  await everyPiece(body, async ({ text }, lab) => {
    expect(JSON.parse(text).error.data).toMatchObject({ code: 'response_too_large', limit: 'limits.response' });
    expect(await lab.keys()).toEqual([]);
  });
});
