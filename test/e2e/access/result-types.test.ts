import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { keyHash } from '../../helpers/bytes.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { noise, noisePng } from '../../helpers/sdk-servers-bytes.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { BIG, bytesOf, blob as resource, startLab, stream } from '../files/sep-2532-lab.js';

type Json = Record<string, unknown>;

const KEYS = { ada: 'ada-0123456789', low: 'low-0123456789' };
const PNG = noisePng(8).toString('base64');
const zip = (size: number) => Buffer.concat([Buffer.from('504b0304140000000800', 'hex'), noise(size)]);
const SMALL = zip(100).toString('base64');
const LARGE = zip(60_000).toString('base64');
const image = (data: string, mimeType = 'image/png') => ({ type: 'image', mimeType, data });
const blob = (data: string, mimeType: string) => ({
  type: 'resource',
  resource: { uri: 'file:///a.zip', mimeType, blob: data },
});
const AROUND = [{ type: 'text', text: 'before' }, image(PNG)];

/** What each tool answers with. */
const RESULTS: Record<string, Json> = {
  small: { content: [...AROUND, blob(SMALL, 'application/zip'), { type: 'text', text: 'after' }] },
  large: { content: [...AROUND, blob(LARGE, 'application/zip')] },
  disguised: { content: [image(Buffer.from('%PDF-1.7 ').toString('base64'))] },
  undecodable: { content: [image('!!not base64 at all!!')] },
  uri: { content: [{ type: 'text', text: `data:application/zip;base64,${SMALL}` }] },
  nested: {
    content: [{ type: 'text', text: JSON.stringify({ ok: 1, type: 'image', data: LARGE, mimeType: 'image/png' }) }],
  },
  structured: { content: [blob(SMALL, 'application/zip')], structuredContent: { data: SMALL, n: 1 } },
  fixed: { content: [blob(SMALL, 'application/zip')], structuredContent: { data: SMALL } },
  hidden: { content: [{ ...blob(SMALL, 'application/zip'), _meta: { values: Array(20_000).fill(0) } }] },
  open: { content: [blob(SMALL, 'application/zip')] },
};
const FIXED = { type: 'object', properties: { data: { type: 'string', minLength: 4 } } };

describe('media types of files in results', () => {
  let folder: string;
  let upstream: RecordingUpstream;
  let wharf: Wharf;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'wharf-result-types-'));
    upstream = await RecordingUpstream.start({
      tools: Object.keys(RESULTS).map((name) => ({
        name,
        inputSchema: { type: 'object' },
        ...(name === 'fixed' && { outputSchema: FIXED }),
      })),
      methods: {
        'tools/call': ({ name }) => RESULTS[String(name)] ?? {},
        'tasks/result': () => RESULTS.small ?? {},
        'prompts/get': () => ({ messages: [{ role: 'user', content: image(LARGE, 'application/zip') }] }),
        'resources/read': ({ uri }) => ({ contents: [{ uri, mimeType: 'application/zip', blob: SMALL }] }),
      },
    });
    wharf = await startWharf({
      servers: {
        s: {
          url: upstream.url,
          transport: 'streamable-http',
          limits: { acceptResults: ['image/*', 'application/pdf', 'application/zip'] },
          tools: {
            '*': { limits: { acceptResults: ['image/*', 'text/csv'] } },
            open: { limits: { acceptResults: ['application/zip'] } },
          },
        },
      },
      config: {
        audit: { use: 'file', path: join(folder, 'audit.jsonl') },
        auth: {
          use: 'apiKeys',
          keys: [
            { name: 'ada', hash: keyHash(KEYS.ada) },
            { name: 'low', hash: keyHash(KEYS.low), limits: { acceptResults: ['image/*'] } },
          ],
        },
      },
    });
  });

  afterAll(async () => {
    await wharf?.stop();
    await upstream?.stop();
    await rm(folder, { recursive: true });
  });

  const connect = (name: keyof typeof KEYS = 'ada') =>
    RawClient.connect(wharf.mcp, '2025-11-25', { headers: { authorization: `Bearer ${KEYS[name]}` } });
  const called = async (tool: string, client?: RawClient) =>
    (await (client ?? (await connect())).call(tool, {})).result;
  const texts = (result: Json | undefined) => JSON.stringify(result);
  const storedFiles = async () =>
    (await (await fetch(`${wharf.adminUrl}/metrics`)).text()).match(/^wharf_files_total\S* (\d+)/m)?.[1];

  it.each(['small', 'large'])('a %s file of another type becomes a text, and the rest stays', async (tool) => {
    const result = await called(tool);
    expect(result?.content?.slice(0, 2)).toEqual(AROUND);
    expect(result?.content?.[2]).toEqual({
      type: 'text',
      text: expect.stringMatching(
        /^A file of this result \(application\/zip, \d+ (bytes|kB)\) is left out: .*: image\/\*, text\/csv\.$/,
      ),
      _meta: {
        'dev.wharf/fileError': {
          reason: 'mimeTypeNotAccepted',
          accept: ['image/*', 'text/csv'],
          actualType: 'application/zip',
        },
      },
    });
    expect(result?.isError).toBeUndefined();
    expect(result?._meta).toMatchObject({ 'dev.wharf/fileError': { reason: 'mimeTypeNotAccepted' } });
    expect(texts(result)).not.toContain(SMALL.slice(0, 60));
    expect(texts(result)).not.toContain('mcp-file:');
  });

  it('the log says whose file was left out, and of which tool', async () => {
    await called('small');
    const about =
      /"principal":"ada"[^\n]*"client":"[^\n]*"method":"tools\/call","name":"(small|large)"[^\n]*file_type_refused/;
    expect(wharf.logged()).toMatch(about);
  });

  it('the bytes count, not what the server says of them', async () => {
    expect(texts(await called('disguised'))).toMatch(/application\/pdf, \d+ bytes\) is left out/);
  });

  it('what cannot be decoded, and a data: URI, are files too', async () => {
    expect(texts(await called('undecodable'))).toMatch(/application\/octet-stream, 0 bytes\) is left out/);
    expect(texts(await called('uri'))).toMatch(/application\/zip, \d+ bytes\) is left out/);
  });

  it('a file in a text that is JSON becomes a text there', async () => {
    const [block] = (await called('nested'))?.content ?? [];
    const { data, ok } = JSON.parse(String(block?.text)) as { data: string; ok: number };
    expect([ok, data]).toEqual([1, expect.stringMatching(/is left out/)]);
  });

  it('its copy in structuredContent becomes empty, and a result that could not be valid then is an error', async () => {
    expect((await called('structured'))?.structuredContent).toEqual({ data: '', n: 1 });
    const client = await connect();
    await client.request('tools/list', {});
    const { error } = await client.call('fixed', {});
    expect(error?.data).toMatchObject({
      code: 'file_type_refused',
      limit: 'limits.acceptResults',
      source: 'servers.s.tools["*"].limits.acceptResults',
      actual: 'application/zip',
    });
  });

  it('a block that is too large to be read is not passed on', async () => {
    const { error } = await (await connect()).call('hidden', {});
    expect(error?.data).toMatchObject({ code: 'file_type_refused' });
  });

  it('prompts and resources have those of the server and of the caller', async () => {
    const client = await connect();
    expect(texts((await client.request('resources/read', { uri: 'file:///a.zip' })).result)).toContain(SMALL);
    const low = await connect('low');
    const read = (await low.request('resources/read', { uri: 'file:///a.zip' })).result as { contents: Json[] };
    expect(read.contents).toEqual([
      {
        uri: 'file:///a.zip',
        mimeType: 'text/plain',
        text: expect.stringMatching(/is left out/),
        _meta: { 'dev.wharf/fileError': expect.objectContaining({ actualType: 'application/zip' }) },
      },
    ]);
    const prompt = (await low.request('prompts/get', { name: 'p' })).result as { messages: { content: Json }[] };
    expect(prompt.messages[0]?.content).toMatchObject({ type: 'text', text: expect.stringMatching(/is left out/) });
  });

  it('every place that names some must accept the file', async () => {
    expect((await called('open'))?.content).toEqual([blob(SMALL, 'application/zip')]);
    expect(texts(await called('open', await connect('low')))).toMatch(/is left out/);
  });

  it("hold for a task's result", async () => {
    const client = await connect();
    expect(texts((await client.request('tasks/result', { taskId: 't' })).result)).toContain(SMALL);
    expect(texts((await (await connect('low')).request('tasks/result', { taskId: 't' })).result)).toMatch(
      /is left out/,
    );
  });

  it('nothing of it is stored; it is counted and audited with the place that refuses it', async () => {
    const before = await storedFiles();
    await called('large');
    expect(await storedFiles()).toBe(before);
    const metrics = await (await fetch(`${wharf.adminUrl}/metrics`)).text();
    expect(metrics).toMatch(/wharf_limits_total\{limit="limits\.acceptResults"\} [1-9]/);
    const entry = async () =>
      (await readFile(join(folder, 'audit.jsonl'), 'utf8'))
        .split('\n')
        .find((line) => line.includes('"tool":"large"') && line.includes('"what":"file"'));
    await until(async () => (await entry()) !== undefined);
    expect(JSON.parse((await entry()) ?? '')).toMatchObject({
      allowed: false,
      principal: 'ada',
      server: 's',
      from: 's',
      rule: 'servers.s.tools["*"].limits.acceptResults',
      code: 'file_type_refused',
      files: [{ digest: expect.any(String), size: 60_010, mimeType: 'application/zip' }],
    });
  });
});

describe('media types of resources that are sent as bytes', () => {
  it('are judged before the first byte, whatever the server says of them', async () => {
    const [pdf, disguised] = ['docs://a.pdf', 'docs://b.png'];
    const lab = await startLab({
      resources: {
        [pdf]: resource(pdf, BIG, 'application/pdf'),
        [disguised]: resource(disguised, zip(60_000), 'image/png'),
      },
      config: { ceiling: { acceptResults: ['application/pdf', 'image/*'] } },
    });
    try {
      const client = await lab.client();
      expect(await bytesOf(await stream(client, pdf))).toEqual(BIG);
      const refused = await stream(client, disguised);
      expect(await refused.json()).toMatchObject({
        error: { data: { code: 'file_type_refused', actual: 'application/zip', limit: 'limits.acceptResults' } },
      });
    } finally {
      await lab.close();
    }
  });
});
