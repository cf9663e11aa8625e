import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sha256 } from '../../helpers/bytes.js';
import type { RawClient } from '../../helpers/raw-client.js';
import { type Json, type Lab, lab } from './recording-lab.js';

const LARGE = randomBytes(100_000);
const DATA = LARGE.toString('base64');
/** With its base64 well over limits.response. */
const HUGE = randomBytes(20_000_000);
const SMALL = 'AAEC/f7/';
const OTHER = randomBytes(100_000).toString('base64');
const text = (value: unknown) => ({ type: 'text', text: JSON.stringify(value) });

const RESULTS: Record<string, Record<string, unknown>> = {
  named: { content: [], structuredContent: { pages: [{ data: DATA, other: DATA.slice(4) }, { data: SMALL }] } },
  narrow: { content: [], structuredContent: { data: DATA } },
  unnamed: { content: [], structuredContent: { pages: [{ data: DATA }] } },
  texts: { content: [text({ file: { data: HUGE.toString('base64') }, n: 1 })] },
  marked: { content: [text({ n: 1, file: { data: HUGE.toString('base64'), mimeType: 'application/pdf' } })] },
  unmarked: { content: [text({ n: 1, file: { data: DATA } })] },
  repeated: { content: [text({ data: DATA, n: 1 })], structuredContent: { data: DATA, n: 1 } },
  declared: { content: [text({ data: DATA })], structuredContent: { data: DATA } },
  twice: {
    content: [{ type: 'resource', resource: { uri: 'a://x.bin', blob: DATA } }, text({ data: DATA, other: OTHER })],
  },
  kept: { content: [text({ data: DATA })], structuredContent: { data: DATA } },
};

const tools = Object.keys(RESULTS).map((name) => ({
  name,
  inputSchema: { type: 'object' },
  ...(name === 'narrow' && {
    outputSchema: { type: 'object', properties: { data: { type: 'string', pattern: '^[A-Za-z0-9+/]*=*$' } } },
  }),
  ...(name === 'declared' && {
    outputSchema: { type: 'object', properties: { data: { type: 'string', contentEncoding: 'base64' } } },
  }),
}));

const get = async (url: unknown) => Buffer.from(await (await fetch(String(url))).arrayBuffer());

describe('files in results that the operator names', () => {
  let results: Lab;
  let client: RawClient;

  beforeAll(async () => {
    const settings = {
      named: { results: { files: ['pages[].data'] } },
      narrow: { results: { files: ['data'] } },
      texts: { results: { text: 'json' } },
      repeated: { results: { files: ['data'] } },
      kept: { results: { files: ['data'], text: 'off' } },
    };
    const methods = { 'tools/call': ({ name }: Json) => RESULTS[String(name)] };
    results = await lab(tools, { methods, server: { tools: settings } });
    ({ client } = results);
  });

  afterAll(() => results?.stop());

  it('base64 at a configured path becomes a link; what is short, or stands elsewhere, stays', async () => {
    const { result } = await client.call('named');
    const { pages } = (result?.structuredContent ?? {}) as { pages: { data: string; other?: string }[] };
    expect(pages).toEqual([{ data: expect.stringMatching(/^http/), other: DATA.slice(4) }, { data: SMALL }]);
    expect(sha256(await get(pages[0]?.data))).toBe(sha256(LARGE));
    expect(result?._meta).toMatchObject({ 'dev.wharf/files': [{ pointer: '/pages/0/data', size: LARGE.length }] });
  });

  it.each(['repeated', 'declared', 'twice'])(
    'its copy in a text of JSON becomes a link too: %s (2631-62)',
    async (name) => {
      const { result } = await client.call(name);
      const block = result?.content?.at(-1) as { text: string };
      const { data, ...rest } = JSON.parse(block.text) as Json;
      expect(sha256(await get(data))).toBe(sha256(LARGE));
      // other base64 may be no file
      expect(rest).toEqual({ repeated: { n: 1 }, declared: {}, twice: { other: OTHER } }[name]);
      const { data: linked = data } = (result?.structuredContent ?? {}) as Json;
      expect(sha256(await get(linked))).toBe(sha256(LARGE));
    },
  );

  it('its copy in a text stays where the operator says so', async () => {
    const { result } = await client.call('kept');
    expect(result?.content).toEqual(RESULTS.kept?.content);
    expect(JSON.stringify(result?.structuredContent)).toMatch(/^\{"data":"http/);
  });

  it('where the outputSchema takes no link the string becomes empty, and the link is listed', async () => {
    const { result } = await client.call('narrow');
    expect(result?.structuredContent).toEqual({ data: '' });
    const [file] = ((result?._meta ?? {}) as Record<string, { url: string }[]>)['dev.wharf/files'] ?? [];
    expect(sha256(await get(file?.url))).toBe(sha256(LARGE));
  });

  it('nothing changes in the results of a tool that is not named', async () => {
    expect((await client.call('unnamed')).result).toEqual(RESULTS.unnamed);
  });

  it('a file in a text that is JSON leaves it while it streams, however large', async () => {
    const { result } = await client.call('texts');
    const { file, n } = JSON.parse(String(result?.content?.[0]?.text));
    expect(n).toBe(1);
    expect(sha256(await get(file.data))).toBe(sha256(HUGE));
  });

  it('also without configuration, if the JSON says that it is a file; otherwise the text stays', async () => {
    const { result } = await client.call('marked');
    const { file, n } = JSON.parse(String(result?.content?.[0]?.text));
    expect([n, file.mimeType]).toEqual([1, 'application/pdf']);
    expect(sha256(await get(file.data))).toBe(sha256(HUGE));
    expect((await client.call('unmarked')).result).toEqual(RESULTS.unmarked);
  });
});
