import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { noise, noisePng } from '../../helpers/sdk-servers-bytes.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const PICTURE = noisePng(200);
const REPORT = Buffer.concat([Buffer.from('%PDF-1.7\n'), noise(60_000)]);
const UNKNOWN = noise(60_000, 2);

/** Texts with base64 of which nothing says that it is a file. */
const TEXTS = {
  alone: PICTURE.toString('base64'),
  json: JSON.stringify({ title: 'Q3', report: REPORT.toString('base64') }),
  unknown: UNKNOWN.toString('base64'),
};

describe('a text with base64 of which nothing says that it is a file', () => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;

  beforeAll(async () => {
    upstream = await RecordingUpstream.start({
      tools: Object.keys(TEXTS).map((name) => ({ name, inputSchema: { type: 'object' } })),
      methods: {
        'tools/call': ({ name }) => ({ content: [{ type: 'text', text: TEXTS[name as keyof typeof TEXTS] }] }),
      },
    });
    wharf = await startWharf({ servers: { s: { url: upstream.url, transport: 'streamable-http' } } });
  });

  afterAll(async () => {
    await wharf.stop();
    await upstream.stop();
  });

  async function call(tool: keyof typeof TEXTS, name: string): Promise<string> {
    const client = await RawClient.connect(wharf.mcp, '2025-06-18', { name, version: '99.0.0' });
    const { content = [] } = (await client.call(tool)).result ?? {};
    expect(content).toHaveLength(1);
    return String(content[0]?.text);
  }

  const bytesAt = async (url = '') => Buffer.from(await (await fetch(url)).arrayBuffer());

  it.each(['cursor-vscode', 'claude-code', 'Visual Studio Code'])('has a link for the model of %s', async (name) => {
    const [about, link] = (await call('alone', name)).split('\n');
    expect(about).toBe('alone-1.png · image/png · 120.3 kB');
    expect(await bytesAt(link)).toEqual(PICTURE);
    const { title, report } = JSON.parse(await call('json', name)) as Record<string, string>;
    expect(title).toBe('Q3');
    expect(await bytesAt(report)).toEqual(REPORT);
  });

  it('is as it came where its bytes are of no known format, and its host shows it whole', async () => {
    expect(await call('unknown', 'cursor-vscode')).toBe(TEXTS.unknown);
  });

  it('is as it came for a client that is not known: a program may want it', async () => {
    for (const [tool, text] of Object.entries(TEXTS))
      expect(await call(tool as keyof typeof TEXTS, 'some-client')).toBe(text);
  });
});
