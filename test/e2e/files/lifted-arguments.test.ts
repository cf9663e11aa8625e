import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { F2, F4 } from './recording-lab.js';

type Json = Record<string, unknown>;

const text = { type: 'string' };
const object = (properties: Json, required?: string[]) => ({
  type: 'object',
  properties,
  ...(required && { required }),
});
const base64 = { ...text, contentEncoding: 'base64', description: 'The scan' };

const TOOLS = [
  // the file and nothing else has to be there
  {
    name: 'whole',
    inputSchema: object(
      { doc: object({ payload: object({ data: base64 }, ['data']), note: text }, ['payload']), lang: text },
      ['doc'],
    ),
  },
  // what stands beside it is required as well
  { name: 'beside', inputSchema: object({ doc: object({ data: base64, name: text }, ['data', 'name']) }, ['doc']) },
  // two in one object, of which one has to be there
  { name: 'two', inputSchema: object({ doc: object({ front: base64, back: base64 }, ['front']) }, ['doc']) },
  // nothing has to be in an object that has to be there
  { name: 'open', inputSchema: object({ doc: object({ data: base64 }) }, ['doc']) },
  { name: 'list', inputSchema: object({ doc: object({ scans: { type: 'array', items: base64 } }) }) },
  // the name is taken, and the object is shared and may be null
  {
    name: 'taken',
    inputSchema: {
      ...object({ a_b: text, a: { anyOf: [{ $ref: '#/$defs/box' }, { type: 'null' }] } }, ['a']),
      $defs: { box: object({ b: base64 }, ['b']) },
    },
  },
];

/** Gives the client a handle of an uploaded file. */
async function upload(client: RawClient): Promise<string> {
  const { result } = await client.call('request_file_upload', { name: 'scan.png' });
  const { file, upload: how } = (result?.structuredContent ?? {}) as {
    file: { uri: string };
    upload: { url: string };
  };
  await fetch(how.url, { method: 'POST', body: new Uint8Array(F2) });
  return file.uri;
}

/** Who looks at top-level arguments only, and how such a client spells a file. */
const CLIENTS: readonly (readonly [string, (client: RawClient) => unknown])[] = [
  ['chatgpt', async (client) => ({ download_url: await upload(client), file_id: 'file_1', mime_type: 'image/png' })],
  ['codex', upload],
];

describe('nested file arguments of clients that look at the top level only (OAI-02)', () => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;

  beforeAll(async () => {
    upstream = await RecordingUpstream.start({ tools: TOOLS });
    const files = { 'doc.data': { encoding: 'base64', name: 'name', maxSize: '1MiB' } };
    wharf = await startWharf({
      servers: {
        s: { url: upstream.url, transport: 'streamable-http', tools: { beside: { files } } },
      },
      config: {
        clients: [
          { match: { name: 'chatgpt' }, dialects: ['openai-file-params'] },
          { match: { name: 'codex' }, dialects: ['sep-2631'] },
        ],
      },
    });
  });

  afterAll(async () => {
    await wharf.stop();
    await upstream.stop();
  });

  const connect = (name: string, version = '2025-06-18') => RawClient.connect(wharf.mcp, version, { name });

  async function shown(client: string, tool: string): Promise<{ properties: Json; required?: string[] }> {
    const { result } = await (await connect(client)).request('tools/list');
    const tools = result?.tools as { name: string; inputSchema: { properties: Json } }[];
    return tools.find(({ name }) => name === tool)?.inputSchema ?? { properties: {} };
  }

  describe.each(CLIENTS)('%s', (name, spell) => {
    it('sees it at the top level, and of the objects around it what else is in them', async () => {
      const { properties, required } = await shown(name, 'whole');
      expect(Object.keys(properties).sort()).toEqual(['doc', 'doc_payload_data', 'lang']);
      expect(properties.doc).toEqual({ type: 'object', properties: { note: text } });
      expect(required).toEqual(['doc_payload_data']);
      expect((properties.doc_payload_data as Json).description).toMatch(/^The scan\./);
    });

    it('need not name the objects around it', async () => {
      const client = await connect(name);
      const { result } = await client.call('whole', { doc_payload_data: await spell(client), lang: 'en' });
      expect(result).not.toHaveProperty('isError');
      expect(upstream.lastArguments).toEqual({ lang: 'en', doc: { payload: { data: F2.toString('base64') } } });
    });

    it('may say other things in them: every byte of those is kept', async () => {
      const client = await connect(name);
      const value = JSON.stringify(await spell(client));
      const args = `{"doc":{ "note" : "x", "n":1e400}, "doc_payload_data":${value} ,"lang":"e\\u006e"}`;
      await client.post(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"whole","arguments":${args}}}`);
      const body = String(upstream.with('tools/call').at(-1)?.body);
      expect(body).toContain('"note" : "x", "n":1e400');
      expect(body).toContain('"lang":"e\\u006e"');
      expect(upstream.lastArguments).toMatchObject({ doc: { note: 'x', payload: { data: F2.toString('base64') } } });
      expect(upstream.lastArguments).not.toHaveProperty('doc_payload_data');
    });

    it('is told the name that it knows when the file is missing or refused', async () => {
      const client = await connect(name);
      const missing = (await client.call('whole', { lang: 'en' })).result;
      expect(missing?.isError).toBe(true);
      expect(missing?.content?.[0]?.text).toContain("'doc_payload_data'");
      const unknown = 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA';
      const refused = (await client.call('whole', { doc_payload_data: unknown })).result;
      expect(refused?._meta).toMatchObject({
        'dev.wharf/fileError': { reason: 'fileNotFound', argument: 'doc_payload_data' },
      });
    });
  });

  it('keeps an object required that has something else to be required for, and fills companions in it', async () => {
    const { properties, required } = await shown('chatgpt', 'beside');
    expect(required).toEqual(['doc', 'doc_data']);
    expect(properties.doc).toEqual({ type: 'object', properties: { name: text }, required: ['name'] });
    const file = `data:image/png;name=a.png;base64,${F2.toString('base64')}`;
    await (await connect('codex')).call('beside', { doc: { name: '' }, doc_data: file });
    expect(upstream.lastArguments).toEqual({ doc: { name: 'a.png', data: F2.toString('base64') } });
    await (await connect('codex')).call('beside', { doc_data: file });
    expect(upstream.lastArguments).toEqual({ doc: { data: F2.toString('base64'), name: 'a.png' } });
  });

  it('lifts two of one object, which is made for either', async () => {
    const { properties, required } = await shown('chatgpt', 'two');
    expect(Object.keys(properties).sort()).toEqual(['doc_back', 'doc_front']);
    expect(required).toEqual(['doc_front']);
    const client = await connect('codex');
    await client.call('two', { doc_front: 'data:,x', doc_back: 'data:,y' });
    expect(upstream.lastArguments).toEqual({ doc: { front: 'eA==', back: 'eQ==' } });
    await client.call('two', { doc: null, doc_back: 'data:,y', doc_front: 'data:,x' });
    expect(upstream.lastArguments).toEqual({ doc: { front: 'eA==', back: 'eQ==' } });
  });

  it('keeps an object that has to be there, were it empty, where no file has to be', async () => {
    const { properties, required } = await shown('chatgpt', 'open');
    expect(properties.doc).toEqual({ type: 'object', properties: {} });
    expect(required).toEqual(['doc']);
    const client = await connect('codex');
    await client.call('open', { doc: {} });
    expect(upstream.lastArguments).toEqual({ doc: {} });
    await client.call('open', { doc: {}, doc_data: 'data:,x' });
    expect(upstream.lastArguments).toEqual({ doc: { data: 'eA==' } });
  });

  it('lifts an array of files whole, and names its items', async () => {
    const { properties } = await shown('chatgpt', 'list');
    expect(Object.keys(properties)).toEqual(['doc_scans']);
    expect(properties.doc_scans).toMatchObject({ type: 'array', items: { type: 'object' } });
    const client = await connect('codex');
    const files = [F2, F4].map((bytes) => `data:application/octet-stream;base64,${bytes.toString('base64')}`);
    await client.call('list', { doc_scans: files });
    expect(upstream.lastArguments).toEqual({ doc: { scans: [F2, F4].map((bytes) => bytes.toString('base64')) } });
    const { result } = await client.call('list', { doc_scans: [files[0], '/etc/passwd'] });
    expect(result?._meta).toMatchObject({ 'dev.wharf/fileError': { argument: 'doc_scans[1]' } });
  });

  it('takes a name that is free, and an object that was null is made', async () => {
    const { properties, required } = await shown('codex', 'taken');
    expect(Object.keys(properties).sort()).toEqual(['a', 'a_b', 'a_b_2']);
    expect(properties.a_b).toEqual(text);
    expect(required).toEqual(['a']);
    const client = await connect('codex');
    await client.call('taken', { a: null, a_b: 'mine', a_b_2: `data:,${'x'}` });
    expect(upstream.lastArguments).toEqual({ a: { b: 'eA==' }, a_b: 'mine' });
    await client.call('taken', { a: null, a_b_2: null });
    expect(upstream.lastArguments).toEqual({ a: null });
  });

  it('refuses a call in which something else stands where the file belongs', async () => {
    const before = upstream.with('tools/call').length;
    const client = await connect('codex');
    const { error } = await client.call('whole', { doc: 'text', doc_payload_data: 'data:,x' });
    expect(error).toMatchObject({ code: -32602, message: expect.stringMatching(/'doc_payload_data'.*'doc'/) });
    expect(upstream.with('tools/call')).toHaveLength(before);
  });

  it('does so in a batch', async () => {
    const client = await connect('codex', '2025-03-26');
    const call = (id: number, args: Json) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'whole', arguments: args },
    });
    await client.post([
      call(8, { lang: 'a', doc: { payload: { data: 'AAEC' } } }),
      call(9, { doc_payload_data: 'data:,x' }),
    ]);
    const body = JSON.parse(String(upstream.requests.at(-1)?.body)) as { params: { arguments: Json } }[];
    expect(body.map(({ params }) => params.arguments)).toEqual([
      { lang: 'a', doc: { payload: { data: 'AAEC' } } },
      { doc: { payload: { data: 'eA==' } } },
    ]);
  });

  it('leaves them where they are for every other client', async () => {
    const { properties, required } = await shown('other', 'whole');
    expect(Object.keys(properties)).toEqual(['doc', 'lang']);
    expect(required).toEqual(['doc']);
    const { result } = await (await connect('other')).call('whole', { doc_payload_data: 'data:,x' });
    expect(result?.content?.[0]?.text).toContain("'doc.payload.data'");
  });
});
