import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { wave, zip } from '../../contract/previews/content-files.js';
import { lockedPdf, pdf } from '../../contract/previews/pdf-files.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const NAMES = Array.from({ length: 2000 }, (_, index) => `reports/${index}.csv`);
const FILES: Readonly<Record<string, { mimeType: string; bytes: Buffer }>> = {
  'data.csv': { mimeType: 'text/csv', bytes: Buffer.from(`city,people\n${'Kiel,246243\n'.repeat(9000)}`) },
  'data.json': { mimeType: 'application/json', bytes: Buffer.from(JSON.stringify({ harbours: NAMES })) },
  'all.zip': { mimeType: 'application/zip', bytes: zip(NAMES) },
  'horn.wav': { mimeType: 'audio/wav', bytes: wave(75) },
  'plan.pdf': { mimeType: 'application/pdf', bytes: pdf({ pages: 900 }) },
  'secret.pdf': { mimeType: 'application/pdf', bytes: Buffer.concat([lockedPdf(), Buffer.alloc(40_000, '\n')]) },
  'torn.zip': { mimeType: 'application/zip', bytes: zip(NAMES).subarray(0, 50_000) },
};

describe('what a model reads of a file that is not an image', () => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;
  let client: RawClient;

  beforeAll(async () => {
    upstream = await RecordingUpstream.start({
      methods: {
        'prompts/get': ({ name }) => {
          const { mimeType, bytes } = FILES[String(name)] as { mimeType: string; bytes: Buffer };
          const resource = { uri: `a://${name}`, mimeType, blob: bytes.toString('base64') };
          return { messages: [{ role: 'user', content: { type: 'resource', resource } }] };
        },
        'tools/list': () => ({ tools: [{ name: 'give', inputSchema: { type: 'object' } }] }),
        'tools/call': ({ arguments: args }) => {
          const { name } = args as { name: string };
          const { mimeType, bytes } = FILES[name] as { mimeType: string; bytes: Buffer };
          const resource = { uri: `a://${name}`, mimeType, blob: bytes.toString('base64') };
          return { content: [{ type: 'resource', resource }] };
        },
      },
    });
    const servers = { s: { url: upstream.url, transport: 'streamable-http' } };
    wharf = await startWharf({ servers, stores: 'filesystem+memory' });
    client = await RawClient.connect(`${wharf.url}/mcp`);
  });

  afterAll(async () => {
    await wharf.stop();
    await upstream.stop();
  });

  const linesOf = async (name: string): Promise<string[]> => {
    const { result } = await client.call('give', { name });
    return String(result?.content?.[0]?.text).split('\n');
  };

  it('is the beginning of a table', async () => {
    const lines = await linesOf('data.csv');
    expect(lines[0]).toBe('data.csv · text/csv · 108 kB');
    const at = lines.indexOf('Its first 20 lines, long ones cut:');
    expect(lines.slice(at + 1)).toEqual(['city,people', ...Array.from({ length: 19 }, () => 'Kiel,246243')]);
  });

  it('is the beginning of JSON on one line', async () => {
    expect((await linesOf('data.json')).at(-1)).toMatch(/^\{"harbours":\["reports\/0\.csv","reports\/1\.csv",.*…$/);
  });

  it('is how many files an archive has, and what the first ones are called', async () => {
    const lines = await linesOf('all.zip');
    expect(lines[0]).toMatch(/^all\.zip · application\/zip · [\d.]+ kB · 2000 entries$/);
    const at = lines.indexOf('20 of its 2000 names, long ones cut:');
    expect(lines.slice(at + 1)).toEqual(NAMES.slice(0, 20));
  });

  it('is how long a recording is', async () => {
    expect((await linesOf('horn.wav'))[0]).toBe('horn.wav · audio/wav · 600 kB · 1:15 long');
  });

  it('is how many pages a document has, with an image of the first', async () => {
    const { result } = await client.call('give', { name: 'plan.pdf' });
    const [text, image] = result?.content ?? [];
    const lines = String(text?.text).split('\n');
    expect(lines[0]).toMatch(/^plan\.pdf · application\/pdf · [\d.]+ kB · 900 pages$/);
    expect(lines.at(-1)).toMatch(/^The image below is a preview of \d+ × 1568, the first page\.$/);
    expect(image).toMatchObject({ type: 'image', mimeType: 'image/png' });
  });

  it.each([
    ['2025-06-18', {}, { type: 'resource_link', name: 'plan.pdf', mimeType: 'application/pdf' }],
    [
      '2025-03-26',
      {},
      { type: 'text', text: expect.stringMatching(/^plan\.pdf · application\/pdf · .*\nhttp\S+\/d\//) },
    ],
    ['2025-06-18', { files: { download: true } }, { type: 'file', file: { name: 'plan.pdf' } }],
    ['2025-06-18', { resourceStreaming: {} }, { type: 'resource_link', name: 'plan.pdf' }],
  ])(
    'is no first page in place of a document, where there is room for one block (%s, %j)',
    async (version, capabilities, block) => {
      const asking = await RawClient.connect(`${wharf.url}/mcp`, version, { capabilities });
      const { result } = await asking.request('prompts/get', { name: 'plan.pdf' });
      expect(result?.messages).toMatchObject([{ role: 'user', content: block }]);
    },
  );

  it('is that a document needs a password', async () => {
    expect((await linesOf('secret.pdf'))[0]).toMatch(/ kB · needs a password$/);
  });

  it('is name, type and size of what is damaged', async () => {
    expect((await linesOf('torn.zip'))[0]).toBe('torn.zip · application/zip · 50 kB');
  });

  it('can be asked for again by its link', async () => {
    const [, link] = await linesOf('all.zip');
    const { result } = await client.request('resources/read', { uri: link });
    const [about] = (result?.contents ?? []) as { text?: string }[];
    expect(about?.text?.split('\n').slice(-20)).toEqual(NAMES.slice(0, 20));
  });
});
