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
const text = (value: unknown) => ({ type: 'text', text: JSON.stringify(value) });

const RESULTS: Record<string, Record<string, unknown>> = {
  named: { content: [], structuredContent: { pages: [{ data: DATA, other: DATA.slice(4) }, { data: SMALL }] } },
  narrow: { content: [], structuredContent: { data: DATA } },
  unnamed: { content: [], structuredContent: { pages: [{ data: DATA }] } },
  texts: { content: [text({ file: { data: HUGE.toString('base64') }, n: 1 })] },
  marked: { content: [text({ n: 1, file: { data: HUGE.toString('base64'), mimeType: 'application/pdf' } })] },
  unmarked: { content: [text({ n: 1, file: { data: DATA } })] },
};

const tools = Object.keys(RESULTS).map((name) => ({
  name,
  inputSchema: { type: 'object' },
  ...(name === 'narrow' && {
    outputSchema: { type: 'object', properties: { data: { type: 'string', pattern: '^[A-Za-z0-9+/]*=*$' } } },
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
