import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../../gateway/ports/dialect.js';
import { someBytes } from '../../../helpers/bytes.js';
import { call, inPieces, type LabOptions, NO_LEAKS, type Relayed, RelayLab, request } from '../relay-lab.js';

const LIMITS = { inlineImage: 300, inlineOther: 90, inlineResource: 600, file: 10_000, spool: 400, response: 60_000 };
const PIECES = [1, 97, Number.MAX_SAFE_INTEGER];
const BYTES = someBytes(1300);
const DATA = BYTES.toString('base64');
const OTHER = someBytes(1201);
const BLOCK = `{"type":"image","data":"${DATA}","mimeType":"image/png"}`;

async function everyPiece(
  body: string,
  check: (relayed: Relayed, lab: RelayLab) => Promise<void> | void,
  options: LabOptions = {},
): Promise<void> {
  for (const size of PIECES) {
    const lab = new RelayLab({ limits: LIMITS, ...options });
    await check(await lab.relay(inPieces(body, size)), lab);
    expect(await lab.leaks()).toEqual(NO_LEAKS);
  }
}

const parsed = (relayed: Relayed) => JSON.parse(relayed.text).result;
const tool = (data: JsonObject): LabOptions => ({
  tools: [{ name: 't', outputSchema: { type: 'object', properties: { data } } }],
});

describe('a long string in structuredContent that repeats no file', () => {
  const lines = DATA.replace(/.{76}/g, '$&\\n');
  it.each([
    ['canonical', DATA],
    ['without padding', OTHER.toString('base64').replace(/=+$/, '')],
    ['url-safe', `${'AAAA'.repeat(300)}-_-_`],
    ['in lines, their sum within limits.spool', `${DATA.slice(0, DATA.length - 300)}\\n${DATA.slice(-300)}`],
    ['escaped at its end', `${DATA.slice(0, -2)}\\u003d\\u003D`],
    ['base64 that turns into prose', `${DATA}. That was it.`],
    ['base64 that turns into prose in the middle of a quad', `${DATA.slice(0, 1397)}. That was it.`],
    ['base64 that ends with half an escape of a character', `${DATA.slice(0, 1398)}\\u00e9`],
    ['base64 with something after its padding', `${OTHER.toString('base64')}AAAA`],
    ['one kind of letter, mod 4 = 0', 'x'.repeat(1600)],
    ['one kind of letter, mod 4 = 1', 'x'.repeat(1601)],
    ['one kind of letter, mod 4 = 2', 'x'.repeat(1602)],
    ['one kind of letter, mod 4 = 3', 'x'.repeat(1603)],
    ['bits behind the last byte', `${'AAAA'.repeat(300)}QUJDRR==`],
    ['exactly some parts', Buffer.alloc(2048, 7).toString('base64')],
  ])('%s: is put back as it came, and nothing of it is kept', async (_, text) => {
    const body = `{"result":{"structuredContent":{"a":[{"b":"${text}"}],"n":1e400},"content":[]},"jsonrpc":"2.0","id":1}`;
    await everyPiece(body, async (relayed, lab) => {
      expect(relayed.text).toBe(body);
      expect(await lab.keys()).toEqual([]);
    });
  });

  it.each([
    ['lines of base64', lines],
    ['base64 and a long text', `${DATA.slice(0, 1400)}${' and so on'.repeat(100)}`],
    ['url-safe base64', someBytes(1500).toString('base64url')],
  ])('%s beyond limits.spool: an error that names it', async (_, text) => {
    const body = `{"result":{"structuredContent":{"a/b":"${text}"},"content":[]},"jsonrpc":"2.0","id":1}`;
    await everyPiece(body, ({ text: got }) =>
      expect(JSON.parse(got)).toMatchObject({
        id: 1,
        error: {
          data: {
            code: 'spool_full',
            path: '/result/structuredContent/a~1b',
            limit: 'limits.spool',
            allowed: LIMITS.spool,
          },
        },
      }),
    );
  });
});

it('a string that cannot be put back is said before the file beside it has a record', () =>
  everyPiece(
    `{"result":{"content":[${BLOCK}],"structuredContent":{"d":"${OTHER.toString('base64').replace(/.{76}/g, '$&\\n')}"}},"id":1}`,
    async ({ text }, lab) => {
      expect(JSON.parse(text).error.data.code).toBe('spool_full');
      expect(await lab.keys()).toEqual([]);
    },
  ));

describe('a string in structuredContent that repeats a file of the same result', () => {
  it.each([
    ['after the content', `{"content":[${BLOCK}],"structuredContent":{"d":"${DATA}"}}`],
    ['before the content', `{"structuredContent":{"d":"${DATA}"},"content":[${BLOCK}]}`],
    ['spelled in another way', `{"structuredContent":{"d":"${BYTES.toString('base64url')}"},"content":[${BLOCK}]}`],
  ])('%s: it becomes the link, and the bytes are stored once', (_, result) =>
    everyPiece(`{"result":${result},"id":1}`, async (relayed, lab) => {
      const { structuredContent, _meta } = parsed(relayed);
      const files = _meta['dev.wharf/files'];
      expect(structuredContent).toEqual({ d: files[0].url });
      expect(files).toEqual([
        expect.objectContaining({ contentIndex: 0 }),
        expect.objectContaining({ pointer: '/d', uri: files[0].uri }),
      ]);
      expect(await lab.keys()).toHaveLength(1);
      expect(await lab.at(files[0].url)).toEqual(BYTES);
    }),
  );

  it('in several places, under keys that a JSON Pointer must escape', () =>
    everyPiece(
      `{"result":{"content":[${BLOCK}],"structuredContent":{"a/b":[["${DATA}"],{"~":"${DATA}"}],"c\\u0041":"${DATA}"}},"id":1}`,
      async (relayed, lab) => {
        const { structuredContent, _meta } = parsed(relayed);
        const [{ url }, ...copies] = _meta['dev.wharf/files'];
        expect(structuredContent).toEqual({ 'a/b': [[url], { '~': url }], cA: url });
        expect(copies.map((copy: { pointer: string }) => copy.pointer)).toEqual(['/a~1b/0/0', '/a~1b/1/~0', '/cA']);
        expect(await lab.keys()).toHaveLength(1);
      },
    ));

  it('a copy shorter than any inline limit for strings is found by its digest as well', () => {
    const bytes = someBytes(200);
    const data = bytes.toString('base64');
    const block = `{"type":"audio","data":"${data}"}`;
    return everyPiece(
      `{"result":{"structuredContent":{"d":"${data}"},"content":[${block}]},"id":1}`,
      async (relayed, lab) => {
        const { structuredContent, _meta } = parsed(relayed);
        expect(structuredContent).toEqual({ d: _meta['dev.wharf/files'][0].url });
        expect(await lab.at(structuredContent.d)).toEqual(bytes);
      },
    );
  });

  it.each([
    ['a pattern of base64', { type: 'string', pattern: '^[A-Za-z0-9+/=]*$' }],
    ['a format of base64', { type: 'string', format: 'byte' }],
  ])('where the outputSchema has %s it becomes empty', (_, data) =>
    everyPiece(
      `{"result":{"content":[${BLOCK}],"structuredContent":{"data":"${DATA}"}},"id":1}`,
      (relayed) => {
        expect(parsed(relayed).structuredContent).toEqual({ data: '' });
        expect(parsed(relayed)._meta['dev.wharf/files'][1]).toMatchObject({ pointer: '/data' });
      },
      tool(data),
    ),
  );

  it.each([
    ['longer than any link', { type: 'string', minLength: 1000 }],
    ['of a pattern that nothing has', { type: 'string', pattern: '^[A-Za-z0-9+/]{4,}=*$' }],
    ['of a schema that leads elsewhere', { $ref: 'https://example.com/schema' }],
  ])('where its client would take neither link nor nothing it is put back as it came: %s', (_, data) =>
    everyPiece(
      `{"result":{"content":[${BLOCK}],"structuredContent":{"data":"${DATA}","n":1e400}},"id":1}`,
      async (relayed, lab) => {
        expect(relayed.text).toContain(`"structuredContent":{"data":"${DATA}","n":1e400}`);
        const files = parsed(relayed)._meta['dev.wharf/files'];
        expect(files).toEqual([expect.objectContaining({ contentIndex: 0 })]);
        expect(await lab.at(files[0].url)).toEqual(BYTES);
        expect(await lab.keys()).toHaveLength(1);
      },
      tool(data),
    ),
  );

  it('one that cannot be put back either is an error before any file has a record', () =>
    everyPiece(
      `{"result":{"content":[${BLOCK}],"structuredContent":{"data":"${DATA.replace(/.{76}/g, '$&\\n')}"}},"id":1}`,
      async ({ text }, lab) => {
        expect(JSON.parse(text).error.data).toMatchObject({
          code: 'spool_full',
          path: '/result/structuredContent/data',
        });
        expect(await lab.keys()).toEqual([]);
      },
      tool({ type: 'string', minLength: 1000 }),
    ));

  it('a file known from before is put back from where it is kept, if a block of an unknown kind repeats it', async () => {
    const lab = new RelayLab({ limits: LIMITS });
    const known = `{"result":{"content":[${BLOCK}]},"id":1}`;
    await lab.relay([Buffer.from(known)]);
    const unknown = `{"type":"hologram","data":"${DATA}"}`;
    const { text } = await lab.relay([Buffer.from(`{"result":{"content":[${BLOCK},${unknown}]},"id":1}`)]);
    expect(text).toContain(unknown);
    expect(await lab.keys()).toHaveLength(1);
    expect(await lab.leaks()).toEqual(NO_LEAKS);
  });

  it('a string that no dialect claims beside a file in the same block goes with the block', () => {
    const block = `{"type":"image","data":"${DATA}","resource":{"blob":"${OTHER.toString('base64')}"}}`;
    return everyPiece(`{"result":{"content":[${block}]},"id":1}`, async ({ text }, lab) => {
      expect(text).toContain('dev.wharf/files');
      expect(await lab.keys()).toHaveLength(1);
    });
  });
});

describe('a string that the outputSchema declares to be base64', () => {
  const declared = { type: 'string', contentEncoding: 'base64', contentMediaType: 'image/png' };
  const body = `{"result":{"structuredContent":{"data":"${DATA}","x":"${OTHER.toString('base64')}"},"content":[]},"id":1}`;

  it.each([
    ['', declared],
    [', as Pydantic writes it', { type: 'string', format: 'base64' }],
  ])('becomes a link though it stands nowhere else%s', (_by, written) =>
    everyPiece(
      body,
      async (relayed, lab) => {
        const { structuredContent, _meta } = parsed(relayed);
        const [file, ...others] = _meta['dev.wharf/files'];
        expect(others).toEqual([]);
        expect(file).toMatchObject({ pointer: '/data', size: 1300 });
        expect(structuredContent).toEqual({ data: file.url, x: OTHER.toString('base64') });
        expect(await lab.at(file.url)).toEqual(BYTES);
        expect(lab.asked).toBe(1);
      },
      tool(written),
    ),
  );

  it.each([
    ['before', `"copies":["${DATA}"],"data":"${DATA}"`],
    ['behind', `"data":"${DATA}","copies":["${DATA}"]`],
  ])('and so does its copy %s it', (_where, members) =>
    everyPiece(
      `{"result":{"structuredContent":{${members}},"content":[]},"id":1}`,
      async (relayed, lab) => {
        const { structuredContent, _meta } = parsed(relayed);
        const [{ url }] = _meta['dev.wharf/files'];
        expect(structuredContent).toEqual({ data: url, copies: [url] });
        expect(_meta['dev.wharf/files'].map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual([
          '/copies/0',
          '/data',
        ]);
        expect(await lab.keys()).toHaveLength(1);
      },
      tool(declared),
    ),
  );

  it('stays when it is short', () => {
    const short = '{"result":{"structuredContent":{"data":"QUJD"},"content":[]},"id":1}';
    return everyPiece(short, ({ text }) => expect(text).toBe(short), tool(declared));
  });

  it('stays when it is not base64', () => {
    const prose = `{"result":{"structuredContent":{"data":"${'no base64 '.repeat(60)}"},"content":[]},"id":1}`;
    return everyPiece(prose, ({ text }) => expect(text).toBe(prose), tool(declared));
  });

  it('stays where its client would take no link, and nothing of it is kept', () =>
    everyPiece(
      body,
      async (relayed, lab) => {
        expect(relayed.text).toBe(body);
        expect(await lab.keys()).toEqual([]);
      },
      tool({ ...declared, allOf: [{ minLength: 1000 }] } as JsonObject),
    ));

  it('a server that does not know its own tool is asked once for a whole result', async () => {
    const lab = new RelayLab({ limits: LIMITS });
    const strings = Array.from({ length: 9 }, () => `"${someBytes(500).toString('base64')}"`).join(',');
    const many = `{"result":{"structuredContent":{"all":[${strings}]},"content":[]},"id":1}`;
    expect((await lab.relay([Buffer.from(many)])).text).toBe(many);
    expect(lab.asked).toBe(1);
  });

  it('tools/list no longer says so; every other byte stays', async () => {
    const lab = new RelayLab({ limits: LIMITS });
    const schema = (data: string) => `{"type":"object","properties":{"data":${data},"n":{"const":1}}}`;
    const list = (outputs: string, plain: string) =>
      `{ "result":{"tools":[ {"name":"t","outputSchema":${outputs},"n":1e400} ,{"outputSchema":${plain},"name":"u"}],"nextCursor":"c\\/"},"id":1}`;
    const plain = '{ "type":"object" }';
    const { text } = await lab.relay(
      [Buffer.from(list(schema(JSON.stringify({ ...declared, minLength: 4, title: 'T' })), plain))],
      'json',
      [request('1', 'tools/list')],
    );
    expect(text).toBe(
      list('{"type":"object","properties":{"data":{"type":"string","title":"T"},"n":{"const":1}}}', plain),
    );
    await lab.relay([Buffer.from(body)], 'json', [call('1')]);
    expect(lab.asked).toBe(0);
  });

  it('tools/list with its tools named twice: each schema is rewritten where it stands', async () => {
    const lab = new RelayLab({ limits: LIMITS });
    const list = (a: string, b: string) =>
      `{"result":{"tools":[{"name":"t","outputSchema":${a}}],"tools":[{"name":"u","outputSchema":${b}}]},"id":1}`;
    const { text } = await lab.relay(
      [Buffer.from(list('{"title":"a"}', '{"title":"b","contentEncoding":"base64"}'))],
      'json',
      [request('1', 'tools/list')],
    );
    expect(text).toBe(list('{"title":"a"}', '{"title":"b"}'));
  });
});
