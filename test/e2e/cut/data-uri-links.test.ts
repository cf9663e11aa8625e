import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient, type RawMessage } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { noise, noisePng } from '../../helpers/sdk-servers-bytes.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const PNG = noisePng(600);
const PDF = Buffer.concat([Buffer.from('%PDF-1.7\n'), noise(100_000, 1)]);
const uriOf = (bytes: Buffer, type: string) => `data:${type};base64,${bytes.toString('base64')}`;
const link = (uri: string, more = {}) => ({ type: 'resource_link', uri, name: 'a link', ...more });

const RESULTS: Record<string, object[]> = {
  pdf: [
    { type: 'text', text: 'before' },
    link(uriOf(PDF, 'application/pdf'), { name: 'report.pdf', annotations: { priority: 1 } }),
    { type: 'text', text: 'after' },
  ],
  picture: [link(uriOf(PNG, 'image/png'), { name: 'shot.png', mimeType: 'image/png' })],
  small: [link(uriOf(noise(100, 2), 'application/octet-stream'))],
  words: [link(`data:text/plain,${'a%20word%20'.repeat(20_000)}`)],
  signed: [link(`https://example.com/a?sig=${noise(60_000, 3).toString('base64url')}`)],
  inside: [link(`https://example.com/a?u=${uriOf(PDF, 'application/pdf')}`)],
  other: [{ type: 'resource', uri: uriOf(PDF, 'application/pdf'), resource: { uri: 'a://b', text: '' } }],
};

describe('a link whose address is the file itself', () => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;

  beforeAll(async () => {
    const tools = Object.keys(RESULTS).map((name) => ({ name, inputSchema: { type: 'object' } }));
    const content = (name: unknown) => RESULTS[String(name)] ?? [];
    upstream = await RecordingUpstream.start({
      tools,
      methods: {
        'tools/call': ({ name }) => ({ content: content(name) }),
        'prompts/get': ({ name }) => ({
          messages: content(name).map((block) => ({ role: 'user', content: block })),
        }),
      },
    });
    wharf = await startWharf({ servers: { s: { url: upstream.url, transport: 'streamable-http' } } });
  });

  afterAll(async () => {
    await wharf.stop();
    await upstream.stop();
  });

  const called = async (name: string, version = '2025-11-25') =>
    (await (await RawClient.connect(wharf.mcp, version)).call(name)).result?.content ?? [];
  const bytesAt = async (url: unknown) => Buffer.from(await (await fetch(String(url))).arrayBuffer());

  it('is cut like any other file, and keeps its name', async () => {
    const [before, text, file, after] = await called('pdf');
    expect([before?.text, after?.text]).toEqual(['before', 'after']);
    expect(text).toMatchObject({ type: 'text', annotations: { priority: 1 } });
    expect(text?.text).toMatch(/^report\.pdf · application\/pdf · 100 kB\nhttp/);
    expect(file).toMatchObject({ type: 'resource_link', name: 'report.pdf', mimeType: 'application/pdf' });
    expect((await bytesAt(file?.uri)).equals(PDF)).toBe(true);
  });

  it('is shown by a preview where it is an image', async () => {
    const content = await called('picture');
    expect(content.map(({ type }) => type)).toEqual(['text', 'image', 'resource_link']);
    expect((await bytesAt(content[2]?.uri)).equals(PNG)).toBe(true);
  });

  it('is cut for a client without sessions, and in a prompt', async () => {
    const client = RawClient.stateless(wharf.mcp, '2026-07-28', {});
    expect((await client.call('pdf')).result?.content?.[2]?.uri).toMatch(/^http/);
    const prompt: RawMessage = await client.request('prompts/get', { name: 'pdf' });
    const messages = (prompt.result?.messages ?? []) as { content: { type: string; uri?: string } }[];
    expect(messages[1]?.content).toMatchObject({ type: 'resource_link', uri: expect.stringMatching(/^http/) });
  });

  it.each(['small', 'words', 'signed', 'inside', 'other'])('stays as it is where it is none: %s', async (name) => {
    expect(await called(name)).toEqual(RESULTS[name]);
  });
});
