import { describe, expect, it, jest } from '@jest/globals';
import type { Limits } from '../../../../gateway/policy/limits.js';
import { Base64Decoder } from '../../../../gateway/wire/base64/decode.js';
import { someBytes } from '../../../helpers/bytes.js';
import { framed, inPieces, NO_LEAKS, RelayLab, request } from '../relay-lab.js';

const LIMITS = { inlineImage: 300, inlineOther: 90, inlineResource: 600, file: 10_000, spool: 400, response: 20_000 };
const KINDS = ['json', 'sse', 'lines'] as const;

const base64 = (size: number) => someBytes(size).toString('base64');
const answer = (content: string, id = 1) => `{"result":{"content":[${content}]},"jsonrpc":"2.0","id":${id}}`;
const image = (size: number) => answer(`{"type":"image","data":"${base64(size)}","mimeType":"image/png"}`);
const audio = (size: number) => answer(`{"type":"audio","data":"${base64(size)}"}`);
const blob = (size: number) => answer(`{"type":"resource","resource":{"uri":"a:b","blob":"${base64(size)}"}}`);
const picture = (size: number) => answer(`{"type":"text","text":"data:image/png;base64,${base64(size)}"}`);
const archive = (size: number) => answer(`{"type":"text","text":"data:a/b;base64,${base64(size)}"}`);
const read = (size: number) =>
  `{"result":{"contents":[{"uri":"a:b","blob":"${base64(size)}"}]},"jsonrpc":"2.0","id":1}`;

describe('the size up to which a file stays inline', () => {
  it.each([
    ['an image', image, LIMITS.inlineImage],
    ['audio', audio, LIMITS.inlineOther],
    ['an embedded resource', blob, LIMITS.inlineOther],
    ['a data: URI of an image, whose base64 is text for a model', picture, LIMITS.inlineOther],
    ['another data: URI', archive, LIMITS.inlineOther],
    ['resources/read', read, LIMITS.inlineResource],
  ])('of %s is exact', async (_, make, limit) => {
    for (const size of [0, 1, 2, 3, limit - 2, limit - 1, limit, limit + 1, limit + 2, limit + 3]) {
      for (const piece of [1, 50, Number.MAX_SAFE_INTEGER]) {
        const lab = new RelayLab({ limits: LIMITS });
        const body = make(size);
        const { text } = await lab.relay(inPieces(body, piece));
        if (size <= limit) expect(text).toBe(body);
        else expect(JSON.parse(text).result._meta['dev.wharf/files'][0].size).toBe(size);
        expect(await lab.keys()).toHaveLength(size <= limit ? 0 : 1);
        expect(await lab.leaks()).toEqual(NO_LEAKS);
      }
    }
  });

  it('can be nothing at all: then every file with a byte in it is cut', async () => {
    const limits = { ...LIMITS, inlineImage: 0, inlineOther: 0, inlineResource: 0 };
    for (const size of [0, 1, 2, 3]) {
      const lab = new RelayLab({ limits });
      const { text } = await lab.relay(inPieces(image(size), 1));
      expect(text.includes('dev.wharf/files')).toBe(size > 0);
      expect(await lab.leaks()).toEqual(NO_LEAKS);
    }
  });
});

it('the files of a message are looked at in as many values as limits.values allows: those behind them stay as they came', async () => {
  const wide = (bytes: number) => {
    const extras = `"_meta":{"list":[${Array(30).fill(1).join(',')}]}`;
    return `{"type":"image","data":"${base64(bytes)}","mimeType":"image/png",${extras}}`;
  };
  const blocks = [400, 401, 402].map(wide);
  const body = answer(blocks.join(','));
  for (const [values, cut] of [
    [80, 2],
    [1000, 3],
  ] as const) {
    const lab = new RelayLab({ limits: { ...LIMITS, values } });
    const { text } = await lab.relay(inPieces(body, 97));
    expect(blocks.map((block) => text.includes(block))).toEqual(blocks.map((_, at) => at >= cut));
    expect(JSON.parse(text).result._meta['dev.wharf/files']).toHaveLength(cut);
    expect(await lab.leaks()).toEqual(NO_LEAKS);
  }
});

describe('what passes a limit is an error for its own request', () => {
  const fine = answer(`{"type":"text","text":"fine"}`, 2);
  const many = Array.from({ length: 4 }, () => `{"type":"image","data":"${base64(400)}","mimeType":"image/png"}`);
  const provisional = Array.from({ length: 4 }, () => `"${base64(400)}"`);
  const facts = { limit: 'limits.files', allowed: 3 };

  it.each<[string, Partial<Limits>, string, string, Record<string, unknown>]>([
    [
      'a file',
      {},
      answer(`{"type":"image","data":"${base64(10_001)}"}`),
      'file_too_large',
      { path: '/result/content/0/data', limit: 'limits.file', allowed: 10_000 },
    ],
    [
      'a file many times too large',
      { file: 1000 },
      answer(`{"type":"image","data":"${base64(20_000)}"}`),
      'file_too_large',
      { limit: 'limits.file', allowed: 1000 },
    ],
    ['the number of files', { files: 3 }, answer(many.join(',')), 'too_many_files', facts],
    [
      'the number of files that are stored at the last moment',
      { files: 3, inlineImage: 1000 },
      answer(many.map((block) => block.replace('image', 'audio')).join(',')),
      'too_many_files',
      facts,
    ],
    [
      'the number of strings that might be files',
      { files: 3 },
      `{"result":{"structuredContent":[${provisional.join(',')}],"content":[]},"jsonrpc":"2.0","id":1}`,
      'too_many_files',
      facts,
    ],
    [
      'the message without its files',
      {},
      answer(`{"type":"text","text":"${'long. '.repeat(4000)}"}`),
      'response_too_large',
      { limit: 'limits.response', allowed: 20_000 },
    ],
    [
      'the message without its file',
      {},
      answer(`{"type":"image","data":"${base64(2000)}"},{"type":"text","text":"${'long. '.repeat(4000)}"}`),
      'response_too_large',
      { limit: 'limits.response', allowed: 20_000 },
    ],
    [
      'the messages of all exchanges',
      { held: 2000 },
      answer(`{"type":"text","text":"${'long. '.repeat(1000)}"}`),
      'held_full',
      { limit: 'limits.held', allowed: 2000 },
    ],
  ])('%s', async (_, limits, body, code, data) => {
    for (const kind of KINDS) {
      for (const piece of [1, 97, 4096, Number.MAX_SAFE_INTEGER]) {
        const lab = new RelayLab({ limits: { ...LIMITS, ...limits } });
        const both = kind === 'json' ? `${body}\n${fine}` : framed(body, kind) + framed(fine, kind);
        const { messages, error } = await lab.relay(inPieces(both, piece), kind);
        expect(error).toBeUndefined();
        expect(messages.map(String)).toEqual([expect.any(String), fine]);
        const got = JSON.parse(String(messages[0]));
        expect(got).toMatchObject({ jsonrpc: '2.0', id: 1, error: { data: { code, ...data } } });
        if (got.error.data.actual !== undefined) expect(got.error.data.actual).toBeGreaterThan(got.error.data.allowed);
        expect(await lab.keys()).toEqual([]);
        expect(await lab.leaks()).toEqual(NO_LEAKS);
      }
    }
  });

  it('a nesting of 100,000 behind a file', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    for (const kind of KINDS) {
      const lab = new RelayLab({ limits: { ...LIMITS, response: 1_000_000 } });
      const body = answer(`{"type":"image","data":"${base64(2000)}"},${deep}`);
      const { messages } = await lab.relay(
        inPieces(framed(body, kind) + (kind === 'json' ? '' : framed(fine, kind)), 4096),
        kind,
      );
      expect(JSON.parse(String(messages[0]))).toMatchObject({
        id: 1,
        error: { data: { code: 'too_deep', limit: 'limits.depth', allowed: 1000, actual: 1001 } },
      });
      if (kind !== 'json') expect(String(messages[1])).toBe(fine);
      expect(await lab.leaks()).toEqual(NO_LEAKS);
    }
  });

  it('a file of exactly limits.file is stored', async () => {
    const lab = new RelayLab({ limits: LIMITS });
    const { text } = await lab.relay(inPieces(image(10_000), 777));
    expect(JSON.parse(text).result._meta['dev.wharf/files'][0].size).toBe(10_000);
  });

  it('short files for which limits.response has no room become files, and the others stay', async () => {
    const limits = { inlineImage: 50_000, response: 1_000_000 };
    const block = () => `{"type":"image","data":"${base64(40_000)}","mimeType":"image/png"}`;
    const blocks = Array.from({ length: 30 }, block);
    const body = answer(blocks.join(','));
    expect(body.length).toBeGreaterThan(limits.response);
    for (const piece of [777, 65_536]) {
      const lab = new RelayLab({ limits });
      const { text } = await lab.relay(inPieces(body, piece));
      const { content, _meta } = JSON.parse(text).result;
      const files: { size: number }[] = _meta['dev.wharf/files'];
      const kept = blocks.filter((one) => text.includes(one));
      expect([content[0].type, kept.length + files.length]).toEqual(['image', blocks.length]);
      expect(kept.length).toBeGreaterThan(10);
      expect(files.every(({ size }) => size === 40_000)).toBe(true);
      expect(await lab.leaks()).toEqual(NO_LEAKS);
    }
  });

  it('a file that would stay inline, but is longer than limits.response, becomes one', async () => {
    const lab = new RelayLab({ limits: { ...LIMITS, inlineImage: 90_000, file: 100_000 } });
    const { text } = await lab.relay(inPieces(image(60_000), 4096));
    expect(JSON.parse(text).result._meta['dev.wharf/files'][0].size).toBe(60_000);
  });

  it('a nesting of 500 with a file at its side passes', async () => {
    const lab = new RelayLab({ limits: LIMITS });
    const deep = `${'['.repeat(490)}1e400${']'.repeat(490)}`;
    const { text } = await lab.relay(inPieces(`{"deep":${deep},${image(400).slice(1)}`, 50));
    expect(text).toContain(`{"deep":${deep},"result":`);
    expect(text).toContain('dev.wharf/files');
  });
});

describe('memory that small things take', () => {
  it('a million empty blocks leave no list of a million', async () => {
    const lab = new RelayLab();
    const body = answer(`${'{},'.repeat(1_000_000)}{}`);
    let most = 0;
    const { text } = await lab.relay(
      (function* () {
        for (const piece of inPieces(body, 65_536)) {
          yield piece;
          most = Math.max(most, lab.held.used);
        }
      })(),
    );
    expect(text).toBe(body);
    expect(most).toBeLessThan(body.length + 10_000);
    expect(await lab.leaks()).toEqual(NO_LEAKS);
  });

  it('a key of megabytes above many strings counts for each of them', async () => {
    const lab = new RelayLab({ limits: { ...LIMITS, response: 1_000_000 } });
    const strings = Array.from({ length: 20 }, () => `"${base64(200)}"`).join(',');
    const body = `{"result":{"structuredContent":{"${'k'.repeat(100_000)}":[${strings}]},"content":[]},"id":1}`;
    const { text } = await lab.relay(inPieces(body, 65_536));
    expect(JSON.parse(text)).toMatchObject({ id: 1, error: { data: { code: 'response_too_large' } } });
    expect(await lab.leaks()).toEqual(NO_LEAKS);
  });

  it('a message that Wharf itself makes too large is refused with words that say so', async () => {
    const lab = new RelayLab({ limits: { ...LIMITS, inlineOther: 0, inlineImage: 0, response: 2000 } });
    const small = Array.from({ length: 8 }, (_, at) => `{"type":"audio","data":"${base64(at + 3)}"}`).join(',');
    const body = answer(small);
    const { text } = await lab.relay(inPieces(body, 65_536));
    const { data, message } = JSON.parse(text).error;
    const came = body.length - small.length;
    expect(data).toMatchObject({ code: 'response_too_large', limit: 'limits.response', allowed: 2000 });
    expect(data.came).toBeGreaterThan(came);
    expect(data.came).toBeLessThan(body.length);
    expect(message).toMatch(
      /^The server's message came with \d+ bytes, and is larger than the 2 kB allowed \([\d.]+ kB\) with what Wharf writes into it, such as links in place of files\. Ask for less at a time\.$/,
    );
    expect(await lab.leaks()).toEqual(NO_LEAKS);
  });

  it('an error shows no more than the beginning of such a key', async () => {
    const lab = new RelayLab({ limits: { ...LIMITS, response: 1_000_000 } });
    const body = `{"result":{"structuredContent":{"${'k'.repeat(100_000)}":"${base64(10_001)}"},"content":[]},"id":1}`;
    const { text } = await lab.relay(inPieces(body, 65_536));
    expect(JSON.parse(text).error.data).toMatchObject({
      code: 'file_too_large',
      path: expect.stringMatching(/^\/result\/structuredContent\/k+…$/),
    });
    expect(text.length).toBeLessThan(1000);
  });

  it('ids named again and again count as more than their bytes', async () => {
    const lab = new RelayLab({ limits: { response: 1_000_000 } });
    const body = `{${'"id":1,'.repeat(50_000)}"result":{}}`;
    const { text } = await lab.relay(inPieces(body, 65_536));
    expect(JSON.parse(text)).toMatchObject({ id: 1, error: { data: { code: 'response_too_large' } } });
    expect(await lab.leaks()).toEqual(NO_LEAKS);
  });
});

describe('work that small things make', () => {
  it('blanks behind a file that is just within its limit: each byte is decoded a few times at most', async () => {
    const push = jest.spyOn(Base64Decoder.prototype, 'push');
    const blanks = '\\n'.repeat(2_000_000);
    const body = answer(`{"type":"image","data":"${base64(499_998)}${blanks}","mimeType":"image/png"}`);
    const lab = new RelayLab();
    const { text } = await lab.relay(inPieces(body, 65_536));
    const decoded = push.mock.calls.reduce((sum, [, start, end]) => sum + end - start, 0);
    push.mockRestore();
    expect(text).toBe(body);
    expect(decoded).toBeLessThan(3 * body.length);
    expect(await lab.leaks()).toEqual(NO_LEAKS);
  });

  it('tools by the ten thousand are each looked at once', async () => {
    const tools = `${'{"outputSchema":{}},'.repeat(69_999)}{"outputSchema":{"contentEncoding":"base64"}}`;
    const lab = new RelayLab();
    const body = `{"result":{"tools":[${tools}]},"id":1}`;
    const { text } = await lab.relay(inPieces(body, 65_536), 'json', [request('1', 'tools/list')]);
    expect(text).toBe(body.replace('"contentEncoding":"base64"', ''));
  });
});

describe('memory for parts', () => {
  it('three messages wait for each other, and each is stored when the one before it has been', async () => {
    const lab = new RelayLab({ limits: { ...LIMITS, partMemory: 1024 } });
    const relayed = await Promise.all([1, 2, 3].map(() => lab.relay(inPieces(image(5000), 500))));
    for (const { text } of relayed) expect(text).toContain('dev.wharf/files');
    expect(await lab.leaks()).toEqual(NO_LEAKS);
  });

  it('none in time: an error that says how long was waited', async () => {
    const lab = new RelayLab({ limits: { ...LIMITS, partMemory: 512 } });
    const { text } = await lab.relay(inPieces(image(5000), 500));
    expect(JSON.parse(text).error.data).toMatchObject({
      code: 'part_memory_full',
      limit: 'limits.partMemory',
      allowed: 512,
      waited: 1000,
    });
    expect(await lab.leaks()).toEqual(NO_LEAKS);
  });

  it('a resource that is not base64 passes up to its own limit', async () => {
    const body = `{"result":{"contents":[{"uri":"a:b","blob":"${'no file '.repeat(60)}"}]},"jsonrpc":"2.0","id":1}`;
    const { text } = await new RelayLab({ limits: LIMITS }).relay(inPieces(body, 60), 'json', [
      request('1', 'resources/read', 'a:b'),
    ]);
    expect(text).toBe(body);
  });
});
