import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { pdf } from '../../contract/previews/pdf-files.js';
import { keyHash } from '../../helpers/bytes.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { noise } from '../../helpers/sdk-servers-bytes.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

type Json = Record<string, unknown>;

const KEYS = { ada: 'ada-0123456789', bob: 'bob-0123456789' };
const TAKE = {
  name: 'take',
  inputSchema: { type: 'object', properties: { file: { type: 'string', contentEncoding: 'base64' } } },
};

describe('a handle or a link of Wharf’s, read as a resource', () => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;
  let ada: RawClient;
  let photo: Buffer;
  let icon: Buffer;

  const clientOf = (key: string, version = '2025-06-18') => {
    const headers = { authorization: `Bearer ${key}` };
    return version < '2026' ? RawClient.connect(wharf.mcp, version, { headers }) : stateless(version, headers);
  };
  const stateless = async (version: string, headers: Record<string, string>) =>
    RawClient.stateless(wharf.mcp, version, { headers });

  beforeAll(async () => {
    photo = await sharp(noise(700 * 500 * 3), { raw: { width: 700, height: 500, channels: 3 } })
      .resize(3000, 2000, { fit: 'fill' })
      .jpeg({ quality: 80 })
      .toBuffer();
    icon = await sharp(noise(30 * 30 * 3), { raw: { width: 30, height: 30, channels: 3 } })
      .png()
      .toBuffer();
    upstream = await RecordingUpstream.start({
      tools: [TAKE],
      // whatever it is asked for
      methods: {
        'resources/read': ({ uri }) => ({ contents: [{ uri, text: 'made up' }] }),
        'completion/complete': () => ({ completion: { values: ['yes'] } }),
        'subscriptions/listen': () => ({ resultType: 'complete' }),
      },
    });
    const keys = Object.entries(KEYS).map(([name, key]) => ({
      name,
      hash: keyHash(key),
    }));
    wharf = await startWharf({
      servers: { docs: { url: upstream.url, transport: 'streamable-http' } },
      config: { auth: { use: 'apiKeys', keys } },
    });
    ada = await clientOf(KEYS.ada);
  });

  afterAll(async () => {
    await wharf?.stop();
    await upstream?.stop();
  });

  async function uploaded(name: string, bytes: Buffer | undefined): Promise<string> {
    const { result } = await ada.call('request_file_upload', { name });
    const { file, upload } = (result?.structuredContent ?? {}) as {
      file: { uri: string };
      upload: { url: string; headers: Record<string, string> };
    };
    const { url, headers } = upload;
    if (bytes) expect((await fetch(url, { method: 'PUT', headers, body: new Uint8Array(bytes) })).status).toBe(201);
    return file.uri;
  }

  async function contents(uri: string, client = ada): Promise<Json[]> {
    const { result, error } = await client.request('resources/read', { uri });
    expect(error).toBeUndefined();
    expect(upstream.with('resources/read')).toEqual([]);
    return (result?.contents ?? []) as Json[];
  }

  it('is a small image or a small text itself', async () => {
    const image = await uploaded('icon.png', icon);
    expect(await contents(image)).toEqual([{ uri: image, mimeType: 'image/png', blob: icon.toString('base64') }]);
    const words = await uploaded('notes.md', Buffer.from('# Notes ö\n'));
    expect(await contents(words)).toEqual([{ uri: words, mimeType: 'text/plain', text: '# Notes ö\n' }]);
    const empty = await uploaded('empty.txt', Buffer.alloc(0));
    expect((await contents(empty))[0]?.text).toMatch(/^empty\.txt · \S+ · 0 bytes$/m);
  });

  it('is the preview of a large image, and where the image is', async () => {
    const uri = await uploaded('harbour.jpg', photo);
    const [image, about] = await contents(uri);
    expect(image).toMatchObject({ uri, mimeType: expect.stringMatching(/^image\//) });
    const shown = await sharp(Buffer.from(String(image?.blob), 'base64')).metadata();
    expect(Math.max(shown.width, shown.height)).toBeLessThanOrEqual(1568);
    const text = String(about?.text);
    expect(text).toMatch(/^harbour\.jpg · image\/jpeg · \d\S* [kM]B$/m);
    expect(text).toContain(`preview of ${shown.width} × ${shown.height}; the original is 3000 × 2000.`);
    const link = /^(https?:\/\/\S+)$/m.exec(text)?.[1] ?? '';
    expect(Buffer.from(await (await fetch(link)).arrayBuffer()).equals(photo)).toBe(true);
  });

  it('is what an image is, and where, for hosts whose models get its bytes as text', async () => {
    const small = await uploaded('icon.png', icon);
    const large = await uploaded('harbour.jpg', photo);
    for (const [name, isSeen] of [
      ['codex-mcp-client', false],
      ['Visual Studio Code', true],
    ] as const) {
      const host = await RawClient.connect(wharf.mcp, '2025-06-18', {
        name,
        headers: { authorization: `Bearer ${KEYS.ada}` },
      });
      const [first] = await contents(small, host);
      expect(first?.blob !== undefined).toBe(isSeen);
      if (!isSeen) expect(first?.text).toMatch(/^icon\.png · image\/png · \S+ kB\nhttp\S+\n/);
      const all = await contents(large, host);
      expect(all.map(({ blob }) => blob !== undefined)).toEqual(isSeen ? [true, false] : [false]);
    }
  });

  it('is name, type, size and link of anything else', async () => {
    const uri = await uploaded('x.pdf', Buffer.concat([Buffer.from('%PDF-1.7\n'), noise(100_000)]));
    const [only, ...others] = await contents(uri);
    expect(others).toEqual([]);
    expect(only).toMatchObject({ uri, mimeType: 'text/plain' });
    expect(only?.text).toMatch(/^x\.pdf · application\/pdf · 100 kB\nhttp\S+\nThe user can open the link /);
    const document = await uploaded('real.pdf', pdf());
    const [page, ...more] = await contents(document);
    expect(more).toEqual([]);
    expect(page?.text).toMatch(/^real\.pdf · application\/pdf · \S+ \S+ · 1 page\n/);
    const long = await uploaded('long.txt', Buffer.alloc(50_000, 'words '));
    expect((await contents(long))[0]?.text).toMatch(/^long\.txt · /);
  });

  it('is the same behind a link', async () => {
    const handle = await uploaded('notes.md', Buffer.from('linked'));
    const { result } = await ada.call('get_file_link', { handle });
    const { url } = (result?.structuredContent ?? {}) as { url: string };
    expect(await contents(url)).toEqual([{ uri: url, mimeType: 'text/plain', text: 'linked' }]);
    const bob = await clientOf(KEYS.bob);
    expect((await bob.request('resources/read', { uri: url })).error).toMatchObject({ code: -32002 });
  });

  it('is an error of the protocol where there is no such file, and the server is never asked', async () => {
    const hers = await uploaded('hers.txt', Buffer.from('hers'));
    const bob = await clientOf(KEYS.bob);
    const ask = async (client: RawClient, uri: string) => (await client.request('resources/read', { uri })).error;
    for (const uri of [
      'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA',
      'mcp-file://wharf/f_AA',
      'MCP-FILE://WHARF/anything?x=1',
      await uploaded('pending.txt', undefined),
    ])
      expect(await ask(ada, uri)).toMatchObject({ code: -32002, data: { uri, code: 'resource_unknown' } });
    // of another caller's file a caller hears no more than of none
    const of = async (uri: string) => ({ ...(await ask(bob, uri)), data: undefined });
    expect(await of(hers)).toEqual(await of('mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA'));
    expect(upstream.with('resources/read')).toEqual([]);
  });

  it('on 2026-07-28 is complete, private and not to be cached; an error has another code', async () => {
    const uri = await uploaded('notes.md', Buffer.from('now'));
    const modern = await clientOf(KEYS.ada, '2026-07-28');
    const { result } = await modern.request('resources/read', { uri });
    expect(result).toMatchObject({ resultType: 'complete', ttlMs: 0, cacheScope: 'private' });
    const nobodys = 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA';
    expect((await modern.request('resources/read', { uri: nobodys })).error).toMatchObject({ code: -32602 });
  });

  it('is not shown to a server that is asked to complete it, or something beside it', async () => {
    const handle = await uploaded('notes.md', Buffer.from('mine'));
    const { result: given } = await ada.call('get_file_link', { handle });
    const { url } = (given?.structuredContent ?? {}) as { url: string };
    const prompt = { type: 'ref/prompt', name: 'p' };
    const typed = { name: 'x', value: 'y' };
    for (const uri of [handle, url, `${url}?download`, ` ${url}`])
      for (const params of [
        { ref: { type: 'ref/resource', uri }, argument: typed },
        { ref: prompt, argument: { name: 'x', value: uri } },
        { ref: prompt, argument: typed, context: { arguments: { other: 'z', file: uri } } },
      ]) {
        const { result } = await ada.request('completion/complete', params);
        expect(result?.completion).toEqual({ values: [], total: 0, hasMore: false });
      }
    expect(upstream.with('completion/complete')).toEqual([]);
    const { result } = await ada.request('completion/complete', { ref: prompt, argument: typed });
    expect(result?.completion).toEqual({ values: ['yes'] });
    upstream.requests.length = 0;
  });

  describe.each([
    ['resources/stream', { resourceStreaming: {} }],
    ['files/authorizeDownload', { files: { download: true } }],
    ['resources/read', {}],
  ])('by %s', (method, capabilities) => {
    const client = (key: string) =>
      RawClient.connect(wharf.mcp, '2025-03-26', { headers: { authorization: `Bearer ${key}` }, capabilities });

    it('is answered to its owner alone, in every spelling, and not shown to the server', async () => {
      const handle = await uploaded('notes.md', Buffer.from('mine'));
      const { result: given } = await ada.call('get_file_link', { handle });
      const { url } = (given?.structuredContent ?? {}) as { url: string };
      const own = await client(KEYS.ada);
      const other = await client(KEYS.bob);
      const ask = (one: RawClient, uri: string) => one.post({ jsonrpc: '2.0', id: 1, method, params: { uri } });
      for (const uri of [handle, url, `${url}?download`, url.replace('/d/', '/%64/'), url.replace('http:', 'https:')]) {
        const { text, messages } = await ask(own, uri);
        expect([uri, messages[0]?.error]).toEqual([uri, undefined]);
        expect(text).toMatch(/mine|notes\.md|"size":4/);
        expect((await ask(other, uri)).messages[0]?.error).toBeDefined();
      }
      for (const uri of [`${handle}?x`, ` ${handle}`, `${url}x`, url.replace('/d/', '/u/')])
        expect((await ask(own, uri)).messages[0]?.error).toBeDefined();
      for (const uri of [` ${url}`, `\u0001${url}`, url.replace('http', 'ht\ntp')])
        expect((await ask(own, uri)).text).not.toContain('made up');
      const batch = [handle, url].map((uri, id) => ({ jsonrpc: '2.0', id, method, params: { uri } }));
      expect((await own.post(batch as never)).messages.map(({ error }) => error)).toEqual([undefined, undefined]);
      expect(upstream.with('resources/read')).toEqual([]);
    });
  });

  it('is taken out of what a server is asked to watch', async () => {
    const handle = await uploaded('notes.md', Buffer.from('mine'));
    const { result: given } = await ada.call('get_file_link', { handle });
    const { url } = (given?.structuredContent ?? {}) as { url: string };
    const modern = await clientOf(KEYS.ada, '2026-07-28');
    const watch = async (uris: unknown) => {
      const notifications = { toolsListChanged: true, resourceSubscriptions: uris };
      await modern.request('subscriptions/listen', { notifications });
      const { params } = upstream.with('subscriptions/listen').at(-1) ?? {};
      return (params as { notifications: Json }).notifications;
    };
    expect(await watch([handle, 'docs://a', url, 7])).toEqual({
      toolsListChanged: true,
      resourceSubscriptions: ['docs://a', 7],
    });
    expect(await watch([url])).toEqual({ toolsListChanged: true, resourceSubscriptions: [] });
    expect(await watch(['docs://a'])).toEqual({ toolsListChanged: true, resourceSubscriptions: ['docs://a'] });
    upstream.requests.length = 0;
  });

  it('while every other URI is the server’s', async () => {
    for (const uri of ['mcp-file://other/f_AAAAAAAAAAAAAAAAAAAAAA', 'docs://a', 'https://example.com/d/x']) {
      const { result } = await ada.request('resources/read', { uri });
      expect(result?.contents).toEqual([{ uri, text: 'made up' }]);
    }
    upstream.requests.length = 0;
  });
});
