import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { noise, noisePng } from '../../helpers/sdk-servers-bytes.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const WORDS = Array.from({ length: 30_000 }, (_, index) => `word ${index}`).join('\n');
const PICTURE = noisePng(250);
const PDF = Buffer.concat([Buffer.from('%PDF-1.7\n'), noise(60_000)]);
const URI = `data:image/png;base64,${PICTURE.toString('base64')}`;
const UNKNOWN = noise(60_000, 2).toString('base64url');

/** Texts whose words alone are longer than a host shows. */
const TEXTS: Record<string, string> = {
  first: `![x](${URI})\n\n${WORDS}`,
  midst: `${WORDS}\n![ü](${URI})\n${WORDS}`,
  json: JSON.stringify({ scan: PDF.toString('base64'), words: WORDS }),
  other: `![x](${URI})\n${UNKNOWN}\n${WORDS}`,
};

describe('a text that is longer than its host shows even without the files in it', () => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;

  beforeAll(async () => {
    upstream = await RecordingUpstream.start({
      tools: Object.keys(TEXTS).map((name) => ({ name, inputSchema: { type: 'object' } })),
      methods: {
        'tools/call': ({ name }) => ({ content: [{ type: 'text', text: TEXTS[String(name)] }] }),
      },
    });
    wharf = await startWharf({ servers: { s: { url: upstream.url, transport: 'streamable-http' } } });
  });

  afterAll(async () => {
    await wharf.stop();
    await upstream.stop();
  });

  /** What the model is shown, and the whole text behind its link. */
  async function call(tool: string, name = 'claude-code') {
    const client = await RawClient.connect(wharf.mcp, '2025-06-18', { name, version: '99.0.0' });
    const { content = [], _meta } = (await client.call(tool)).result ?? {};
    const [about, shown] = content.map((block) => String(block.text));
    const [url] = /http\S+/.exec(String(about)) ?? [''];
    return { content, about: String(about), shown: String(shown), url, _meta };
  }

  const bytesAt = async (url = '') => Buffer.from(await (await fetch(url)).arrayBuffer());

  it('becomes a file with links in the places of its files, its beginning and its end', async () => {
    const { content, about, shown, url } = await call('first');
    expect([content.length, shown.length < 45_000]).toEqual([2, true]);
    expect(about).toMatch(/^first-\d\.txt · text\/plain · /);
    const [, link = '', rest] = /^!\[x\]\((http[^)]+)\)\n\n(.*)$/s.exec(String(await bytesAt(url))) ?? [];
    expect(rest).toBe(WORDS);
    expect(await bytesAt(link)).toEqual(PICTURE);
    expect(shown.startsWith(`![x](${link})\n\nword 0\n`)).toBe(true);
    expect(shown).toContain('are left out here; the file above has the whole text]');
    expect(shown.endsWith('\nword 29999')).toBe(true);
  });

  it('has the links of files in its midst in that file', async () => {
    const { shown, url } = await call('midst');
    expect(shown.length).toBeLessThan(45_000);
    const whole = String(await bytesAt(url));
    const link = /!\[ü\]\((http[^)]+)\)/.exec(whole)?.[1];
    expect(whole).toBe(`${WORDS}\n![ü](${link})\n${WORDS}`);
    expect(await bytesAt(link)).toEqual(PICTURE);
  });

  it('stays JSON in that file if it is JSON', async () => {
    const { shown, url } = await call('json');
    expect(shown.length).toBeLessThan(45_000);
    const { scan, words } = JSON.parse(String(await bytesAt(url))) as Record<string, string>;
    expect(words).toBe(WORDS);
    expect(await bytesAt(scan)).toEqual(PDF);
  });

  it('has what is of no known format as it came', async () => {
    const { shown, url } = await call('other');
    expect(shown.length).toBeLessThan(45_000);
    expect(String(await bytesAt(url))).toContain(`\n${UNKNOWN}\nword 0\n`);
  });

  it('is whole, with links, for a host that is not known', async () => {
    const { content, about } = await call('first', 'some-client');
    expect(content).toHaveLength(1);
    expect(about.endsWith(`)\n\n${WORDS}`)).toBe(true);
  });
});
