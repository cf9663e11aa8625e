import { describe, expect, it } from '@jest/globals';
import type { ToolSettings } from '../../../../gateway/ports/file-slot.js';
import { someBytes } from '../../../helpers/bytes.js';
import { call, inPieces, type LabOptions, NO_LEAKS, type Relayed, RelayLab } from '../relay-lab.js';

const LIMITS = { inlineImage: 300, inlineOther: 90, inlineResource: 600, file: 10_000, spool: 400, response: 20_000 };
const PIECES = [1, 7, 97, Number.MAX_SAFE_INTEGER];
const BYTES = someBytes(1300);
const DATA = BYTES.toString('base64');
const OTHER = someBytes(1201).toString('base64url');
const JSON_TEXT: Record<string, ToolSettings> = { t: { files: [], results: { text: 'json', files: [] } } };

const textBlock = (value: unknown) => ({
  type: 'text',
  text: typeof value === 'string' ? value : JSON.stringify(value),
});
const answer = (result: unknown) => JSON.stringify({ jsonrpc: '2.0', id: 1, result });

async function everyPiece(
  body: string,
  check: (relayed: Relayed, lab: RelayLab) => Promise<void> | void,
  options: LabOptions = {},
  requests = [call('1')],
): Promise<void> {
  for (const size of PIECES) {
    const lab = new RelayLab({ limits: LIMITS, settings: JSON_TEXT, ...options });
    await check(await lab.relay(inPieces(body, size), 'json', requests), lab);
    expect(await lab.leaks()).toEqual(NO_LEAKS);
  }
}

const resultOf = (relayed: Relayed) => JSON.parse(relayed.text).result;
const LINK = expect.stringMatching(/^http:\/\/store\.test\//);

describe('base64 in a text block that is itself JSON', () => {
  it('becomes a link where it stands, and every other byte is as it was', async () => {
    const inner = `{ "n": 1e400, "shots":[{"data":"${DATA}","q":"a \\"quoted\\" \\\\ \\u00e9 \u00e9"}, "short"],"x":null}`;
    const body = answer({ content: [textBlock(inner)], n: 1 });
    await everyPiece(body, (relayed) => {
      const { content, _meta } = resultOf(relayed);
      const link = JSON.parse(content[0].text.replace('1e400', '1')).shots[0].data;
      expect(link).toEqual(LINK);
      expect(content[0].text).toBe(inner.replace(DATA, link));
      expect(_meta['dev.wharf/files']).toEqual([expect.objectContaining({ url: link, size: 1300, contentIndex: 0 })]);
    });
  });

  it('is one file with its copy in structuredContent, stored once', async () => {
    const value = { shots: [{ data: DATA }, { data: OTHER }, { data: DATA }] };
    const body = answer({ structuredContent: value, content: [textBlock('hello'), textBlock(value)] });
    await everyPiece(body, async (relayed, lab) => {
      const { content, structuredContent, _meta } = resultOf(relayed);
      const text = JSON.parse(content[1].text);
      expect(text).toEqual({ shots: [{ data: LINK }, { data: LINK }, { data: text.shots[0].data }] });
      expect(structuredContent).toEqual(text);
      const places = _meta['dev.wharf/files'].map((file: { contentIndex?: number; pointer?: string }) => {
        return file.contentIndex ?? file.pointer;
      });
      expect(places).toEqual([1, 1, 1, '/shots/0/data', '/shots/1/data', '/shots/2/data']);
      expect(await lab.keys()).toHaveLength(2);
    });
  });

  it('is counted behind blocks that became several', async () => {
    const image = { type: 'image', mimeType: 'image/png', data: DATA };
    const body = answer({ content: [image, textBlock({ other: OTHER })] });
    await everyPiece(body, (relayed) => {
      const { content, _meta } = resultOf(relayed);
      const [, { contentIndex }] = _meta['dev.wharf/files'];
      expect(JSON.parse(content[contentIndex].text)).toEqual({ other: LINK });
    });
  });

  it('may stand in an array', async () => {
    await everyPiece(answer({ content: [textBlock(`["${DATA}"]`)] }), (relayed) => {
      expect(JSON.parse(resultOf(relayed).content[0].text)).toEqual([LINK]);
    });
  });

  it.each(['true', 'false', 'null', '0', '-1.5e+3 ', `1${'0'.repeat(80)}`, '[]', '{}'])(
    'may stand in an array behind %s',
    async (first) => {
      await everyPiece(answer({ content: [textBlock(`[${first},"${DATA}"]`)] }), (relayed) => {
        expect(JSON.parse(resultOf(relayed).content[0].text)[1]).toEqual(LINK);
      });
    },
  );
});

it('a data: URI in JSON has the name that stands beside it', async () => {
  const body = answer({ content: [textBlock({ name: 'report.pdf', data: `data:application/pdf;base64,${DATA}` })] });
  await everyPiece(
    body,
    (relayed) => {
      const { content, _meta } = resultOf(relayed);
      expect(JSON.parse(content[0].text)).toEqual({ name: 'report.pdf', data: LINK });
      expect(_meta['dev.wharf/files']).toMatchObject([{ name: 'report.pdf', mimeType: 'application/pdf' }]);
    },
    { settings: {} },
  );
});

const SLASHED = `${DATA.slice(0, 800)}/+${DATA.slice(802)}`;
const lines = (text: string) => text.replaceAll(/.{76}/g, '$&\n');
/** Every character but the escapes' own as `\\uXXXX`, as a hostile writer might. */
const everyEscaped = (text: string) =>
  [...text].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');

describe('however writers of JSON escape it, base64 is found', () => {
  const asText = (inner: string) => answer({ content: [textBlock(inner)], n: 1 });
  it.each<[string, string]>([
    ['slashes in the inner JSON, as PHP does', asText(JSON.stringify({ data: SLASHED }).replaceAll('/', '\\/'))],
    ['slashes in both', asText(JSON.stringify({ data: SLASHED }).replaceAll('/', '\\/')).replaceAll('/', '\\/')],
    [
      'plus signs in the inner JSON, as .NET does',
      asText(JSON.stringify({ data: SLASHED }).replaceAll('+', '\\u002B')),
    ],
    [
      'plus signs and quotes in the outer one',
      asText(JSON.stringify({ data: SLASHED }))
        .replaceAll('\\"', '\\u0022')
        .replaceAll('+', '\\u002b'),
    ],
    ['line breaks', asText(JSON.stringify({ data: lines(SLASHED) }))],
    ['blanks before it', asText(` \n\t${JSON.stringify({ data: SLASHED }, null, 2)}\r\n`)],
    [
      'every character',
      `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"${everyEscaped(JSON.stringify({ data: SLASHED }))}"}]}}`,
    ],
  ])('%s', async (_what, body) => {
    await everyPiece(
      body,
      async (relayed, lab) => {
        expect(JSON.parse(resultOf(relayed).content[0].text)).toEqual({ data: LINK });
        expect(await lab.at(JSON.parse(resultOf(relayed).content[0].text).data)).toEqual(
          Buffer.from(SLASHED, 'base64'),
        );
      },
      { limits: { ...LIMITS, spool: 20_000 } },
    );
  });

  it('in a data: URI, whose type counts', async () => {
    const inner = JSON.stringify({ data: `data:application/x-foo;base64,${SLASHED}` });
    for (const text of [inner, inner.replaceAll('/', '\\/')]) {
      await everyPiece(
        answer({ content: [textBlock(text)] }),
        async (relayed, lab) => {
          expect(JSON.parse(resultOf(relayed).content[0].text)).toEqual({ data: LINK });
          expect(resultOf(relayed)._meta['dev.wharf/files'][0].mimeType).toBe('application/x-foo');
          expect(await lab.at(JSON.parse(resultOf(relayed).content[0].text).data)).toEqual(
            Buffer.from(SLASHED, 'base64'),
          );
        },
        { limits: { ...LIMITS, spool: 20_000 } },
      );
    }
  });

  it('and what is not a file in the end goes on as it came', async () => {
    const inner = JSON.stringify({ data: lines(SLASHED) }).replaceAll('/', '\\/');
    for (const text of [`${inner} and so on`, inner.replace('"}', ' "}'), `{"data":"data:text/html,${SLASHED}"}`]) {
      const body = asText(text).replaceAll('\\"', '\\u0022').replaceAll('+', '\\u002b');
      await everyPiece(
        body,
        async (relayed, lab) => {
          expect(relayed.text).toBe(body);
          expect(await lab.keys()).toEqual([]);
        },
        { limits: { ...LIMITS, spool: 20_000 } },
      );
    }
  });
});

describe('what goes on as it came, byte for byte', () => {
  it.each<[string, string]>([
    ['no JSON at all', `{"data":"${DATA}", and so on`],
    ['two values', `{"data":"${DATA}"} {}`],
    ['a string of JSON', `"${DATA}"`],
    ['prose', `The data: "${DATA}"`],
    ['a key', `{"${DATA}":1}`],
    ['a key before spaces', `{"${DATA}"\n :1}`],
    ['a string with more in it behind', `{"data":"${DATA} and so on"}`],
    ['a string with more in it before', `{"data":"this: ${DATA}"}`],
    ['a string that begins with an escaped quote', `{"data":"\\"${DATA}"}`],
    ['a string that ends with an escaped quote', `{"data":"${DATA}\\""}`],
    ['a string that ends with an escaped backslash', `{"data":"${DATA}\\\\"}`],
    ['a string behind an escaped backslash and a quote', `{"data":"\\\\\\"${DATA}"}`],
    ['something short', '{"data":"AAAA"}'],
    ['no closing quote', `{"data":"${DATA}`],
    ['a number', `{"data":${'1'.repeat(2000)}}`],
  ])('%s', async (_what, inner) => {
    const body = answer({ content: [textBlock(inner)], n: 1 });
    await everyPiece(body, async (relayed, lab) => {
      expect(relayed.text).toBe(body);
      expect(await lab.keys()).toEqual([]);
    });
  });

  it.each<[string, LabOptions]>([
    ['of a tool of which the operator says nothing', { settings: { u: JSON_TEXT.t as ToolSettings } }],
    ['of a server without such a tool', { settings: {} }],
  ])('a text %s', async (_what, options) => {
    const body = answer({ content: [textBlock({ data: DATA })] });
    await everyPiece(
      body,
      async (relayed, lab) => {
        expect(relayed.text).toBe(body);
        expect(await lab.keys()).toEqual([]);
      },
      options,
    );
  });

  it('a block of another type', async () => {
    const body = answer({ content: [{ ...textBlock({ data: DATA }), type: 'note' }] });
    await everyPiece(body, (relayed) => expect(relayed.text).toBe(body));
  });

  it('what answers another method', async () => {
    const body = answer({ content: [textBlock({ data: DATA })] });
    const request = { ...call('1'), method: 'x/y', subject: undefined };
    await everyPiece(body, (relayed) => expect(relayed.text).toBe(body), {}, [request]);
  });
});

describe('in a text of which the operator says nothing', () => {
  const PNG = 'image/png';
  it.each<[string, unknown]>([
    ['the data of an image block', { type: 'image', data: DATA }],
    ['the data of an audio block, in a list', [{ note: 1 }, { type: 'audio', data: DATA, mimeType: 'audio/wav' }]],
    ['the blob of a resource', { type: 'resource', resource: { uri: 'file:///a', blob: DATA } }],
    ['what is beside a media type', { rows: [{ mime: PNG, content: DATA }] }],
    ['what is before a media type', { content: DATA, 'Content-Type': 'application/pdf; version=1' }],
    ['a source as model APIs write it', { source: { type: 'base64', media_type: PNG, data: DATA } }],
    ['a data: URI', { url: `data:image/png;base64,${DATA}` }],
    ['a data: URI in a list', [`data:image/png;base64,${DATA}`]],
  ])('%s becomes a link', async (_what, value) => {
    const inner = JSON.stringify(value);
    const body = answer({ content: [textBlock(inner)], n: 1 });
    await everyPiece(
      body,
      async (relayed, lab) => {
        const { content, _meta } = resultOf(relayed);
        const [{ url }] = _meta['dev.wharf/files'];
        expect(content[0].text).toBe(inner.replace(/(?:data:image\/png;base64,)?[\w+/]{400,}=*/, url));
        expect(await lab.at(url)).toEqual(BYTES);
      },
      { settings: {} },
    );
  });

  const PICTURE = Buffer.concat([Buffer.from('ffd8ffe000104a46494600010100', 'hex'), someBytes(1201)]);
  const AS_PICTURE = PICTURE.toString('base64');
  const beside = (data: string): [string, unknown][] => [
    ['an encoding, as forges answer', { file_name: 'a', size: 1, encoding: 'base64', content: data, ref: 'main' }],
    ['an encoding in other words', { content: data, contentEncoding: 'BASE64' }],
    ['the name of a file', { filename: 'Plan 9.png', content: data }],
    ['the path of a file', { rows: [{ savedPath: 'C:\\shots\\é 1.jpeg', bytes: data }] }],
    ['a format', { format: 'png', imageData: data, note: 'ok' }],
    ['an ending', { data, ext: '.PNG' }],
    ['base64 in its own name', { pages: [{ image_base64: data, n: 1 }] }],
    ['a format that is its own name', { success: true, jpg: data, pages: 2 }],
    ['a format that ends its own name', { chart: { renderedPng: data } }],
  ];
  it.each(beside(AS_PICTURE))('base64 of a known format beside %s becomes a link', async (_what, value) => {
    for (const inner of [JSON.stringify(value), JSON.stringify(value, null, 2).replaceAll('/', '\\/')]) {
      const written = inner.includes('\\/') ? AS_PICTURE.replaceAll('/', '\\/') : AS_PICTURE;
      await everyPiece(
        answer({ content: [textBlock(inner)], n: 1 }),
        async (relayed, lab) => {
          const { content, _meta } = resultOf(relayed);
          const [{ url, mimeType }] = _meta['dev.wharf/files'];
          expect(mimeType).toBe('image/jpeg');
          expect(content[0].text).toBe(inner.replace(written, url));
          expect(await lab.at(url)).toEqual(PICTURE);
        },
        { settings: {}, limits: { ...LIMITS, spool: 20_000 } },
      );
    }
  });

  const VALUE = JSON.stringify({ id: 7, imageData: AS_PICTURE, rows: [AS_PICTURE] });
  it.each<[string, string]>([
    ['in lines of JSON', `{"id":6}\n${VALUE}\n{"id":8}\n`],
    ['before a remark', `${VALUE}\n\nUse it well.`],
    ['in JSON that breaks off', VALUE.slice(0, -2)],
  ])('base64 of a known format %s becomes a link, as among other words', async (_what, inner) => {
    await everyPiece(
      answer({ content: [textBlock(inner)], n: 1 }),
      async (relayed, lab) => {
        const { content, _meta } = resultOf(relayed);
        const [first, second] = _meta['dev.wharf/files'];
        expect(content[0].text).toBe(inner.replace(AS_PICTURE, first.url).replace(AS_PICTURE, second.url));
        expect(await lab.at(second.url)).toEqual(PICTURE);
      },
      { settings: {}, limits: { ...LIMITS, spool: 20_000 } },
    );
  });

  it('base64 of no known format in lines of JSON stays as it came', async () => {
    const body = answer({ content: [textBlock(`{"id":6}\n${JSON.stringify({ data: DATA })}`)], n: 1 });
    await everyPiece(
      body,
      async (relayed, lab) => {
        expect(relayed.text).toBe(body);
        expect(await lab.keys()).toEqual([]);
      },
      { settings: {} },
    );
  });

  it.each([
    ['lines of JSON', `{"id":6}\n${JSON.stringify({ data: DATA })}`],
    ['JSON too large to be parsed', JSON.stringify({ data: DATA, rows: Array(3000).fill(1) })],
  ])('any base64 in %s becomes a link for a host that would not show the text whole', async (_what, inner) => {
    // with a link in the place of the base64 it is short enough
    const host = { text: { most: inner.length - 10, unit: 'characters' as const, per: 'block' as const } };
    await everyPiece(
      answer({ content: [textBlock(inner)], n: 1 }),
      async (relayed, lab) => {
        const { content, _meta } = resultOf(relayed);
        const [{ url }] = _meta['dev.wharf/files'];
        expect(content[0].text).toBe(inner.replace(DATA, url));
        expect(await lab.at(url)).toEqual(BYTES);
      },
      { settings: {}, limits: { ...LIMITS, values: 1000 }, host },
    );
  });

  it.each<[string, string]>([
    ['too large', JSON.stringify(Array(3000).fill(1))],
    ['too deep', '['.repeat(30) + ']'.repeat(30)],
  ])(
    'base64 of a known format, of which nothing says that it is a file, stays in JSON %s to be parsed',
    async (_what, rest) => {
      const body = answer({ content: [textBlock(`{"imageData":"${AS_PICTURE}","rest":${rest}}`)], n: 1 });
      await everyPiece(body, (relayed) => expect(relayed.text).toBe(body), {
        settings: {},
        limits: { ...LIMITS, values: 1000, depth: 20 },
      });
    },
  );

  it.each([
    ['just few enough blanks', 64 * 1024 - '{\\"'.length, false],
    ['one blank more', 64 * 1024 - '\\"'.length, true],
  ])('the same text is JSON or words wherever it is cut into chunks: with %s', async (_what, blanks, isWords) => {
    const inner = `${' '.repeat(blanks)}{"imageData":"${AS_PICTURE}"}`;
    const body = answer({ content: [textBlock(inner)], n: 1 });
    for (const size of [4096, 1000 * 1000]) {
      const lab = new RelayLab({ limits: { ...LIMITS, response: 200_000, spool: 200_000 }, settings: {} });
      const relayed = await lab.relay(inPieces(body, size), 'json', [call('1')]);
      expect(relayed.text === body).toBe(!isWords);
      expect(await lab.leaks()).toEqual(NO_LEAKS);
    }
  });

  it.each<[string, unknown]>([
    ...beside(DATA).map(([what, value]): [string, unknown] => [`no format beside ${what}`, value]),
    ['a known format beside nothing', { id: 7, imageData: AS_PICTURE }],
    ['a known format in a list', { name: 'a.png', images: [AS_PICTURE] }],
    ['a known format beside the name of no file', { name: 'v1.2', title: 'a.png', data: AS_PICTURE }],
    ['a known format beside another encoding', { encoding: 'utf-8', data: AS_PICTURE }],
    ['a known format beside no format', { type: 'wide', format: 'long', data: AS_PICTURE }],
    ['the text beside a name', { name: 'a.png', text: AS_PICTURE }],
    ['a known format below a name', { name: 'a.png', inner: { data: AS_PICTURE } }],
  ])('base64 of %s stays as it came', async (_what, value) => {
    const body = answer({ content: [textBlock(value)], n: 1 });
    await everyPiece(
      body,
      async (relayed, lab) => {
        expect(relayed.text).toBe(body);
        expect(await lab.keys()).toEqual([]);
      },
      { settings: {} },
    );
  });

  it('wherever the text is cut on its way', async () => {
    const unmarked = someBytes(1201).toString('base64');
    const inner = `{"n":1e400,"c":"${DATA}","a":{"mimeType":"image/png","data":"${DATA}"},"b":"${unmarked}"}`;
    const body = Buffer.from(answer({ content: [textBlock(inner)] }));
    for (let at = 1; at < body.length; at += 1) {
      const lab = new RelayLab({ limits: LIMITS, settings: {} });
      const relayed = await lab.relay([body.subarray(0, at), body.subarray(at)], 'json', [call('1')]);
      const { content, _meta } = resultOf(relayed);
      expect(content[0].text).toBe(inner.replaceAll(DATA, _meta['dev.wharf/files'][0].url));
    }
  });

  it('is called what the JSON calls it', async () => {
    const value = { files: [{ filename: 'Plan 9.pdf', contentType: 'application/pdf', body: DATA }] };
    await everyPiece(
      answer({ content: [textBlock(value)] }),
      (relayed) => {
        const [file] = resultOf(relayed)._meta['dev.wharf/files'];
        expect(file).toMatchObject({ name: 'Plan 9.pdf', mimeType: 'application/pdf', size: 1300 });
      },
      { settings: {} },
    );
  });

  it.each<[string, unknown]>([
    ['base64 beside nothing', { data: DATA }],
    ['base64 in a list', [DATA, PNG]],
    ['base64 below a media type', { mimeType: PNG, inner: { data: DATA } }],
    ['the data of another block', { type: 'seal', data: DATA }],
    ['another member of an image block', { type: 'image', hash: DATA }],
    ['a blob without an address', { blob: DATA }],
    ['the text of a resource', { uri: 'file:///a', mimeType: 'text/plain', text: 'ACGT'.repeat(400) }],
    ['base64 beside a path', { path: 'images/png', data: DATA }],
    ['short base64 beside a media type', { mimeType: PNG, data: 'AAAA' }],
    ['words beside a media type', { mimeType: PNG, data: `${DATA} and so on` }],
    ['a key beside a media type', { mimeType: PNG, [DATA]: 1 }],
    ['lines beside nothing', { data: lines(DATA) }],
    ['hex', { key: BYTES.toString('hex') }],
  ])('%s stays as it came, byte for byte', async (_what, value) => {
    for (const inner of [JSON.stringify(value), JSON.stringify(value, null, 2).replaceAll('/', '\\/')]) {
      const body = answer({ content: [textBlock(inner)], n: 1 });
      const check = async (relayed: Relayed, lab: RelayLab) => {
        expect(relayed.text).toBe(body);
        expect(await lab.keys()).toEqual([]);
      };
      await everyPiece(body, check, { settings: {} });
    }
  });

  it('stays if it is hidden by an equal key', async () => {
    const body = answer({ content: [textBlock(`{"mimeType":"image/png","data":"${DATA}","data":"x"}`)] });
    await everyPiece(body, (relayed) => expect(relayed.text).toBe(body), { settings: {} });
  });

  it('stays in whole if the operator says so', async () => {
    const body = answer({ content: [textBlock({ mimeType: PNG, data: DATA })] });
    const settings = { t: { files: [], results: { text: 'off' as const, files: [] } } };
    await everyPiece(body, (relayed) => expect(relayed.text).toBe(body), { settings });
  });

  it('passes with more strings like base64 than a message may have files, and with longer ones', async () => {
    const strings = Array.from({ length: 12 }, () => someBytes(120).toString('base64'));
    const body = answer({ content: [textBlock({ strings, long: DATA })] });
    const limits = { ...LIMITS, files: 4, file: 1000 };
    const image = { type: 'image', mimeType: PNG, data: someBytes(400).toString('base64') };
    const more = answer({ content: [textBlock({ strings }), image, image, image, image] });
    for (const size of PIECES) {
      const lab = new RelayLab({ limits, settings: {} });
      expect((await lab.relay(inPieces(body, size), 'json', [call('1')])).text).toBe(body);
      const { content, _meta } = resultOf(await lab.relay(inPieces(more, size), 'json', [call('1')]));
      expect(JSON.parse(content[0].text)).toEqual({ strings });
      expect(_meta['dev.wharf/files']).toHaveLength(4);
      expect(await lab.leaks()).toEqual(NO_LEAKS);
    }
  });

  it('becomes a link when lines of it are too long to be put back as they came: the call must not fail', async () => {
    const bytes = someBytes(9000);
    const body = answer({ content: [textBlock({ backup: lines(bytes.toString('base64')) })] });
    await everyPiece(
      body,
      (relayed) => {
        const { content, _meta } = resultOf(relayed);
        expect(JSON.parse(content[0].text)).toEqual({ backup: LINK });
        expect(_meta['dev.wharf/files']).toEqual([expect.objectContaining({ size: 9000 })]);
      },
      { settings: {} },
    );
  });

  it('passes with lines of base64 beyond limits.spool, which it would have passed with before', async () => {
    const body = answer({ content: [textBlock({ pem: lines(someBytes(3000).toString('base64')) })] });
    await everyPiece(body, (relayed) => expect(relayed.text).toBe(body), { settings: {} });
  });
});

describe('beside JSON texts', () => {
  it('a data: URI is cut as ever', async () => {
    const body = answer({ content: [textBlock(`data:image/png;base64,${DATA}`)] });
    await everyPiece(body, (relayed) => {
      expect(resultOf(relayed)._meta['dev.wharf/files']).toHaveLength(1);
    });
  });

  it('a text that is larger than limits.response without its files is an error that names the limit', async () => {
    const body = answer({ content: [textBlock({ data: DATA, words: 'and so on '.repeat(3000) })] });
    await everyPiece(body, async (relayed, lab) => {
      expect(JSON.parse(relayed.text).error.data).toMatchObject({ limit: 'limits.response', allowed: 20_000 });
      expect(await lab.keys()).toEqual([]);
    });
  });

  it('files in it may be larger than that together', async () => {
    const files = Array.from({ length: 20 }, () => someBytes(1500).toString('base64'));
    const body = answer({ content: [textBlock(files)] });
    expect(body.length).toBeGreaterThan(LIMITS.response * 2);
    await everyPiece(body, async (relayed, lab) => {
      expect(JSON.parse(resultOf(relayed).content[0].text)).toEqual(files.map(() => LINK));
      expect(await lab.keys()).toHaveLength(20);
    });
  });

  it('a file in it that is larger than limits.file is an error, and nothing stays', async () => {
    const body = answer({
      content: [textBlock({ ok: DATA, data: someBytes(11_000).toString('base64'), more: OTHER })],
    });
    await everyPiece(body, async (relayed, lab) => {
      expect(JSON.parse(relayed.text).error.data).toMatchObject({ code: 'file_too_large', limit: 'limits.file' });
      expect(await lab.keys()).toEqual([]);
    });
  });
});
