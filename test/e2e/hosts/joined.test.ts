import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hosts } from '../../../adapters/hosts/index.js';
import { REPLAYS } from '../../helpers/host-code.js';
import type { ToolResult } from '../../helpers/host-model.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { noisePng } from '../../helpers/sdk-servers-bytes.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

type Json = Record<string, unknown>;

const text = (words: string): Json => ({ type: 'text', text: words });
const image = (size: number): Json => ({
  ...{ type: 'image', mimeType: 'image/png' },
  data: noisePng(size).toString('base64'),
});
const SCAN = noisePng(601).toString('base64');

const RESULTS: Record<string, Json> = {
  first: { content: [image(600), text('one')] },
  between: { content: [text('one'), image(600), image(8), text('two')] },
  failed: { isError: true, content: [text('It broke.'), image(600), text('two')] },
  linked: { content: [image(600), { type: 'resource_link', uri: 'doc://r/one', name: 'one' }, text('two')] },
  structured: { content: [text('one')], structuredContent: { scan: SCAN } },
  long: { content: [text('one'), text('w'.repeat(30_000)), text('two')] },
};

describe('a text of Wharf’s, for a host that puts nothing between two texts', () => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;

  beforeAll(async () => {
    const scan = { type: 'string', contentEncoding: 'base64' };
    upstream = await RecordingUpstream.start({
      tools: Object.keys(RESULTS).map((name) => ({
        ...{ name, inputSchema: { type: 'object' } },
        ...(name === 'structured' && { outputSchema: { type: 'object', properties: { scan } } }),
      })),
      methods: { 'tools/call': ({ name }) => RESULTS[String(name)] },
    });
    wharf = await startWharf({ servers: { s: { url: upstream.url, transport: 'streamable-http' } } });
  });

  afterAll(async () => {
    await wharf.stop();
    await upstream.stop();
  });

  async function call(tool: string, name = 'copilot-cli'): Promise<Json> {
    const client = await RawClient.connect(`${wharf.url}/s/mcp`, '2025-06-18', { name, version: '99.0.0' });
    await client.request('tools/list');
    return (await client.call(tool, {})).result as unknown as Json;
  }

  it('is for the hosts of this test', () => {
    const joining = hosts.filter(({ behaviour: { joined } }) => joined?.is);
    expect(joining.map(({ name }) => name)).toEqual(['copilot-cli', 'zed', 'openai-agents', 'genkit']);
  });

  it.each(Object.keys(RESULTS))('is on lines of its own: %s', async (tool) => {
    const seen = REPLAYS['copilot-cli']?.((await call(tool)) as unknown as ToolResult, () => undefined);
    const lines = String(seen?.text).split('\n');
    const addresses = lines.filter((line) => line.includes('http://') && !line.startsWith('curl '));
    expect(addresses.length).toBeGreaterThan(0);
    for (const line of addresses) expect(line).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/d\/[\w-]+$/);
    for (const line of lines.filter((one) => one.includes(' · ')))
      expect(line).toMatch(/^(?:\S+ · (?:image|text)|Link)/);
    for (const line of lines.filter((one) => one.includes('Handle: ')))
      expect(line).toMatch(/^Handle: mcp-file:\/\/wharf\/f_[\w-]{22}(?: \(.*\))?$/);
    expect(lines.filter((line) => /^(?:one|MCP server 's': It broke\.|two)$/.test(line)).length).toBe(
      ((RESULTS[tool]?.content ?? []) as Json[]).filter((one) => one.type === 'text' && String(one.text).length < 20)
        .length,
    );
  });

  it('begins where it is the first, and is as it was for other hosts', async () => {
    const [first] = (await call('first')).content as Json[];
    expect(first?.text).toMatch(/^first-1\.png · .*\n$/s);
    const [, told] = (await call('between', 'some-client')).content as Json[];
    expect(told?.text).toMatch(/^between-1\.png · .*[^\n]$/s);
  });
});
