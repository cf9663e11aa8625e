import { describe, expect, it } from '@jest/globals';
import { someBytes } from '../../../helpers/bytes.js';
import { call, inPieces, NO_LEAKS, RelayLab, request } from '../relay-lab.js';

const LIMITS = { inlineImage: 300, inlineOther: 90, inlineResource: 600, file: 10_000, spool: 400, response: 60_000 };
const DATA = someBytes(1300).toString('base64');
const BLOCK = `{"type":"image","data":"${DATA}","mimeType":"image/png"}`;
const FILES = 'dev.wharf/files';
/** What a model can repeat. */
const LINK = /^http:\/\/store\.test\/d\/f\/[\w-]{24}$/;

async function relay(body: string, lab = new RelayLab({ limits: LIMITS }), requests = [call('1')]): Promise<string> {
  const { text } = await lab.relay(inPieces(body, 300), 'json', requests);
  expect(await lab.leaks()).toEqual(NO_LEAKS);
  return text;
}

describe("the result's own _meta", () => {
  it.each([
    ['before the content', `{"_meta":{"a":1e400,"b":{}},"content":[${BLOCK}]}`, '"a":1e400,"b":{}}'],
    ['after the content', `{"content":[${BLOCK}],"_meta":{"a":[1],"b":2}}`, '"a":[1],"b":2}'],
    ['with whitespace', `{"content":[${BLOCK}],"_meta": {\n"a" : 1 } }`, '\n"a" : 1 }'],
  ])('%s is kept and the files are added', async (_, result, kept) => {
    const text = await relay(`{"result":${result},"id":1}`);
    expect(text).toContain(kept);
    const { _meta } = JSON.parse(text).result;
    expect(_meta[FILES]).toHaveLength(1);
    expect(Object.keys(_meta).length).toBeGreaterThan(1);
  });

  it.each(['{}', '{ \n }', 'null', '"text"', '[1]', '17'])('%s becomes one with the files', async (meta) => {
    const { result } = JSON.parse(await relay(`{"result":{"content":[${BLOCK}],"_meta":${meta}},"id":1}`));
    expect(Object.keys(result._meta)).toEqual([FILES]);
  });

  it.each(['[]', '[{"uri":"mcp-file://other/f_1","url":"http://evil.test"}]', 'null', '"x"'])(
    'a list of files that says %s already is no word of Wharf’s, and gives way to its own',
    async (old) => {
      const text = await relay(`{"result":{"_meta":{"a":1,"${FILES}":${old},"b":2},"content":[${BLOCK}]},"id":1}`);
      const { _meta } = JSON.parse(text).result;
      expect(Object.keys(_meta).sort()).toEqual(['a', 'b', FILES]);
      expect(_meta[FILES]).toEqual([expect.objectContaining({ contentIndex: 0, size: 1300 })]);
    },
  );

  it('named twice is refused, for it says where the files are', async () => {
    const text = await relay(`{"result":{"_meta":{"a":1},"content":[${BLOCK}],"_meta":{}},"id":1}`);
    expect(JSON.parse(text).error.data).toMatchObject({ code: 'file_key_duplicate', key: '_meta' });
  });

  it('is left alone when nothing was cut, but for what is said there in Wharf’s name', async () => {
    const theirs = '{"result":{"content":[],"_meta":{"theirs":1e400}},"id":1}';
    expect(await relay(theirs)).toBe(theirs);
    const body = `{"result":{"content":[],"_meta":{"${FILES}":"theirs"}},"id":1}`;
    expect(await relay(body)).toBe(body.replace(`"${FILES}":"theirs"`, (forged) => ' '.repeat(forged.length)));
  });
});

describe('what replaces a block', () => {
  const extras = '"annotations":{"audience":["user"],"priority":0.5},"_meta":{"x.y/z":{"deep":[null]}}';

  it('has its annotations and _meta on the first of its blocks only', async () => {
    const block = `{${extras},${BLOCK.slice(1)}`;
    const [first, ...others] = JSON.parse(await relay(`{"result":{"content":[${block}]},"id":1}`)).result.content;
    expect(first).toMatchObject(JSON.parse(`{"type":"text",${extras}}`));
    for (const other of others) {
      expect(other).not.toHaveProperty('annotations');
      expect(other).not.toHaveProperty('_meta');
    }
  });

  it('tells which resource it was, with the _meta of the resource on the link to its file', async () => {
    const uri = 'db://reports/7';
    const meta = '"_meta":{"com.example/etag":"7f","id":12345678901234567890}';
    const block = `{${extras},"type":"resource","resource":{"uri":"${uri}","blob":"${DATA}",${meta}}}`;
    const text = await relay(`{"result":{"content":[${block}]},"id":1}`);
    const { content, _meta } = JSON.parse(text).result;
    expect(_meta[FILES]).toEqual([expect.objectContaining({ resource: uri, contentIndex: 0, size: 1300 })]);
    expect(content[0]).toMatchObject(JSON.parse(`{"type":"text",${extras}}`));
    expect(content[1]).toMatchObject({ type: 'resource_link', uri: _meta[FILES][0].url });
    expect(text).toContain(meta);
    expect(content[0]._meta).not.toHaveProperty(['com.example/etag']);

    const older = new RelayLab({ limits: LIMITS, version: '2025-03-26' });
    const [only] = JSON.parse(await relay(`{"result":{"content":[${block}]},"id":1}`, older)).result.content;
    expect(only._meta).toEqual({ 'x.y/z': { deep: [null] }, 'com.example/etag': '7f', id: expect.anything() });
  });

  it('is pointed at as sent, however many blocks came before', async () => {
    const other = () => BLOCK.replace(DATA, someBytes(1000).toString('base64'));
    const short = '{"type":"image","data":"AAAA","mimeType":"image/png"}';
    const content = [other(), '{"type":"text","text":"a"}', other(), short, other(), BLOCK, BLOCK];
    const { result } = JSON.parse(await relay(`{"result":{"content":[${content.join(',')}]},"id":1}`));
    expect(result._meta[FILES]).toHaveLength(5);
    for (const { contentIndex, url } of result._meta[FILES]) {
      expect(result.content[contentIndex].type).toBe('text');
      expect(result.content[contentIndex].text).toContain(url);
      expect(result.content[contentIndex + 1].uri).toBe(url);
    }
    expect(result.content.filter((block: { data?: string }) => block.data === 'AAAA')).toHaveLength(1);
    expect(result.content).toHaveLength(5 * 2 + 2);
  });

  it('is not a resource_link for a client from before 2025-06-18', async () => {
    const lab = new RelayLab({ limits: LIMITS, version: '2025-03-26' });
    const { content } = JSON.parse(await relay(`{"result":{"content":[${BLOCK}]},"id":1}`, lab)).result;
    expect(content.map((block: { type: string }) => block.type)).toEqual(['text']);
  });
});

describe('resources/read', () => {
  const read = (members: string, rest = '') =>
    `{"result":{"contents":[{"uri":"a:b","mimeType":"a/b",${members}}]${rest}},"id":1}`;
  const requests = [request('1', 'resources/read', 'a:b')];

  it("keeps the item's uri and _meta, and items beside it", async () => {
    const item = '{"uri":"c:d","text":"t"}';
    const body = read(`"blob":"${DATA}","_meta":{"a":{"b":1}}`).replace(']', `,${item}]`);
    const { contents, _meta } = JSON.parse(await relay(body, undefined, requests)).result;
    expect(contents).toEqual([
      { uri: 'a:b', mimeType: 'text/uri-list', text: expect.stringMatching(LINK), _meta: { a: { b: 1 } } },
      JSON.parse(item),
    ]);
    expect(_meta[FILES]).toHaveLength(1);
  });

  it.each([
    ['says nothing of caching', '', { cacheScope: 'private', ttlMs: 60_000 }],
    ['is public for a day', ',"cacheScope":"public","ttlMs":86400000', { cacheScope: 'private', ttlMs: 60_000 }],
    ['is private for a second', ',"ttlMs":1000,"cacheScope":"private"', { cacheScope: 'private', ttlMs: 1000 }],
    ['has no number', ',"ttlMs":"for ever","cacheScope":null', { cacheScope: 'private', ttlMs: 60_000 }],
    ['never ends', ',"ttlMs":1e400', { cacheScope: 'private', ttlMs: 60_000 }],
  ])('of 2026-07-28 that %s is private and lives no longer than its link', async (_, rest, expected) => {
    const lab = new RelayLab({ limits: LIMITS, version: '2026-07-28' });
    const text = await relay(read(`"blob":"${DATA}"`, rest), lab, requests);
    expect(JSON.parse(text).result).toMatchObject(expected);
  });

  it.each(['2025-11-25', '2026-07-28'])('of %s whose blob stays is not touched', async (version) => {
    const body = read('"blob":"AAAA"', ',"cacheScope":"public"');
    expect(await relay(body, new RelayLab({ limits: LIMITS, version }), requests)).toBe(body);
  });
});

describe('results inside of other messages', () => {
  const inner = (block: string) => `{"content":[${block}],"structuredContent":{"d":"${DATA}"}}`;

  it.each([
    ['tasks/result', `{"result":${inner(BLOCK)},"id":1}`, ['result'], [request('1', 'tasks/result', 't1')]],
    [
      'tasks/get',
      `{"result":{"status":"completed","result":${inner(BLOCK)}},"id":1}`,
      ['result', 'result'],
      [request('1', 'tasks/get', 't1')],
    ],
    [
      'notifications/tasks',
      `{"method":"notifications/tasks","params":{"result":${inner(BLOCK)}}}`,
      ['params', 'result'],
      [],
    ],
    ['an answer whose request is not known here', `{"result":${inner(BLOCK)},"id":77}`, ['result'], []],
  ])('%s: its files are cut, and listed there', async (_, body, path, requests) => {
    const got = JSON.parse(await relay(body, undefined, requests));
    const result = path.reduce((value, key) => value[key], got);
    expect(result._meta[FILES]).toHaveLength(2);
    expect(result.structuredContent.d).toBe(result._meta[FILES][0].url);
  });

  it("prompts/get: a message's one block is replaced by one", async () => {
    const body = `{"result":{"messages":[{"role":"user","content":${BLOCK}},{"role":"user","content":{"type":"text","text":"t"}}]},"id":1}`;
    const { messages, _meta } = JSON.parse(await relay(body, undefined, [request('1', 'prompts/get', 'p')])).result;
    expect(messages).toEqual([
      { role: 'user', content: expect.objectContaining({ type: 'resource_link', uri: _meta[FILES][0].url }) },
      { role: 'user', content: { type: 'text', text: 't' } },
    ]);
  });
});
