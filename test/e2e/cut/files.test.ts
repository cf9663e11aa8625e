import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sha256, sha256Url } from '../../helpers/bytes.js';
import { type ServedUpstream, serve, TRANSPORTS } from '../../helpers/cut-upstreams.js';
import { blobBytes, blobDigest } from '../../helpers/fake-upstream-blob.js';
import { RawClient } from '../../helpers/raw-client.js';
import { STORES, startWharf, type Wharf } from '../../helpers/wharf.js';

interface FileEntry {
  uri: string;
  url: string;
  name: string;
  mimeType: string;
  size: number;
  digest: string;
  expiresAt: string;
  contentIndex?: number;
  pointer?: string;
}

const MB = 1_000_000;

function filesOf(result: Record<string, unknown> | undefined): FileEntry[] {
  const meta = result?._meta as Record<string, unknown> | undefined;
  return (meta?.['dev.wharf/files'] ?? []) as FileEntry[];
}

async function sha256At(url: string): Promise<string> {
  const response = await fetch(url);
  expect(response.status).toBe(200);
  return sha256(Buffer.from(await response.arrayBuffer()));
}

/** A link that a model can repeat without a mistake: the store's own have some five hundred characters. */
const SHORT_LINK = /http:\/\/127\.0\.0\.1:\d+\/d\/[\w-]{43}$/m;

function shortLinkIn(text: string): string {
  return SHORT_LINK.exec(text)?.[0] ?? '';
}

describe.each(STORES)('files cut out of results, kept in %s', (stores) => {
  describe.each(TRANSPORTS)('from an upstream over %s', (transport) => {
    let upstream: ServedUpstream;
    let wharf: Wharf;
    let client: RawClient;

    beforeAll(async () => {
      upstream = await serve(transport);
      wharf = await startWharf({ servers: { fake: upstream.server }, stores });
      client = await RawClient.connect(wharf.mcp);
    });

    afterAll(async () => {
      await wharf?.stop();
      await upstream?.close();
    });

    it.each([
      ['image', 'image/png', 2 * MB, 'png'],
      ['audio', 'audio/wav', 2 * MB, 'wav'],
      ['resource', 'application/pdf', 12 * MB, 'pdf'],
      ['text', 'application/zip', 2 * MB, 'zip'],
    ])('a %s block of %s becomes text and a link to the same bytes', async (type, mimeType, size) => {
      const seed = size + type.length;
      const { result } = await client.call('blob', { size, type, mimeType, seed });
      const spec = { size, seed, mimeType };
      const [file] = filesOf(result);
      expect(file).toMatchObject({
        size,
        contentIndex: 0,
        uri: expect.stringMatching(/^mcp-file:\/\/wharf\/f_[\w-]{22}$/),
      });
      expect(await sha256At(file?.url ?? '')).toBe(blobDigest(spec));
      const digest = sha256Url(blobBytes(spec));
      expect(file?.digest).toBe(`sha-256:${digest}`);
      const [text, ...rest] = result?.content ?? [];
      expect(text).toMatchObject({ type: 'text' });
      expect(text?.text).toContain(file?.name);
      expect(await sha256At(shortLinkIn(String(text?.text)))).toBe(blobDigest(spec));
      expect(text?.text).not.toContain('mcp-file:');
      const link = rest.at(-1);
      expect(link).toMatchObject({ type: 'resource_link', uri: file?.url, name: file?.name, size });
    });

    it('three images and a PDF in one result: each has its link, and what stands between them stays (BIN-19)', async () => {
      const { result } = await client.call('blob', { size: MB, count: 4, seed: 70 });
      const files = filesOf(result);
      expect(files).toHaveLength(4);
      for (const [index, file] of files.entries()) {
        expect(await sha256At(file.url)).toBe(blobDigest({ size: MB, seed: 70 + index, mimeType: 'image/png' }));
        const text = result?.content?.[file.contentIndex as number];
        expect(text).toMatchObject({ type: 'text' });
        expect(text?.text).toContain(file.name);
      }
    });

    it('the copy in structuredContent becomes the link, and the bytes are stored once', async () => {
      const { result } = await client.call('blob', { size: MB, structured: true, seed: 90 });
      const files = filesOf(result);
      expect(files).toEqual([
        expect.objectContaining({ contentIndex: 0 }),
        expect.objectContaining({ pointer: '/data', uri: files[0]?.uri }),
      ]);
      expect(result?.structuredContent).toEqual({ data: files[0]?.url });
    });

    it('a short file stays inline, byte for byte', async () => {
      const { answer } = await client.call('blob', { size: 3000, seed: 5 });
      const data = blobBytes({ size: 3000, seed: 5, mimeType: 'image/png' }).toString('base64');
      expect(answer.text).toContain(`{"type":"image","data":"${data}","mimeType":"image/png"}`);
      expect(answer.text).not.toContain('dev.wharf/files');
    });

    it('an image keeps inline up to another limit than audio', async () => {
      const image = await client.call('blob', { size: 400_000 });
      expect(filesOf(image.result)).toEqual([]);
      const audio = await client.call('blob', { size: 400_000, type: 'audio' });
      expect(filesOf(audio.result)).toHaveLength(1);
    });

    it('resources/read above its limit becomes a text/uri-list with the link', async () => {
      const uri = `blob://${5 * MB}?seed=3`;
      const { result } = await client.request('resources/read', { uri });
      const [file] = filesOf(result);
      expect(result?.contents).toEqual([{ uri, mimeType: 'text/uri-list', text: expect.stringMatching(SHORT_LINK) }]);
      for (const url of [shortLinkIn(String(Object(result?.contents)[0]?.text)), file?.url]) {
        expect(await sha256At(url ?? '')).toBe(blobDigest({ size: 5 * MB, seed: 3, mimeType: 'image/png' }));
      }
    });

    it('resources/read up to its limit passes unchanged', async () => {
      const { answer } = await client.request('resources/read', { uri: `blob://${3 * MB}?seed=4` });
      expect(answer.text).toContain(blobBytes({ size: 3 * MB, seed: 4, mimeType: 'image/png' }).toString('base64'));
    });

    it('a prompt message holds one block: a link', async () => {
      const { result } = await client.request('prompts/get', { name: 'picture', arguments: { size: String(MB) } });
      const [file] = filesOf(result);
      expect(result?.messages).toEqual([
        { role: 'user', content: expect.objectContaining({ type: 'resource_link', uri: file?.url }) },
      ]);
    });

    it('text of any length is not a file', async () => {
      const text = 'QUJD'.repeat(500_000);
      const { result } = await client.call('echo', { text });
      expect(result?.content).toEqual([{ type: 'text', text }]);
    });
  });
});
