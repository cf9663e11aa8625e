import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { shell } from '../../helpers/shell.js';
import { F2, type Lab, lab } from './recording-lab.js';

const file = { type: 'string' };
const tool = (name: string, properties: Record<string, unknown>, required: string[]) => ({
  name,
  inputSchema: { type: 'object', properties, required },
});
const TOOLS = [
  tool('ocr', { image: file, lang: { type: 'string' } }, ['image']),
  tool('maybe', { image: file }, []),
  tool('nullable', { image: { type: ['string', 'null'] } }, ['image']),
  tool('many', { images: { type: 'array', items: file } }, ['images']),
  tool('deep', { doc: { type: 'object', properties: { data: file }, required: ['data'] } }, []),
  tool('note', { text: file }, ['text']),
  tool('declared', { data: { type: 'string', contentEncoding: 'base64' } }, ['data']),
];

let docs: Lab;
let client: RawClient;

beforeAll(async () => {
  const image = { encoding: 'base64', accept: ['image/png'], maxSize: '1MiB' };
  const tools = {
    ocr: { files: { image } },
    maybe: { files: { image } },
    nullable: { files: { image } },
    many: { files: { 'images[]': image } },
    deep: { files: { 'doc.data': image } },
    note: { files: { text: { encoding: 'text' } } },
  };
  docs = await lab(TOOLS, { name: 'docs', server: { tools } });
  ({ client } = docs);
});

afterAll(() => docs?.stop());

interface Required {
  argument: string;
  file: { uri: string };
  upload: Record<string, unknown> & { url: string };
  human: { url: string };
  agent: { method: string; url: string; headers: object; example: string };
}

async function missing(name: string, args: Record<string, unknown>) {
  const before = docs.upstream.with('tools/call').length;
  const { result } = await client.call(name, args);
  expect(result?.isError).toBe(true);
  expect(docs.upstream.with('tools/call')).toHaveLength(before);
  const meta = result?._meta as { 'dev.wharf/uploadRequired': Required };
  return { text: String(result?.content?.[0]?.text), required: meta['dev.wharf/uploadRequired'] };
}

describe('a call that lacks its file', () => {
  it('is answered with what is missing, its limits, and every way to hand it over (FB-06)', async () => {
    const { text } = await missing('ocr', { lang: 'en' });
    expect(text).toMatch(/^The tool 'ocr' needs a file in the argument 'image', and was given none\./);
    expect(text).toMatch(/of type image\/png of at most 1 MB\./);
    for (const part of [/http:\/\/\S+\/u\/\S+/, /curl -sSg -F/, /curl -sSg -T/, /mcp-file:\/\//, /browser/])
      expect(text).toMatch(part);
    expect(text).toContain("call the tool again with this handle as 'image'");
  });

  it('which also says not to make the file up (FB-11)', async () => {
    expect((await missing('ocr', {})).text).toMatch(
      /do not make up the file.*blocked or fails, say so and give the page to the person/,
    );
  });

  it('and for programs as a descriptor (FB-07)', async () => {
    const { text, required } = await missing('ocr', {});
    const { url } = required.upload;
    expect(required).toMatchObject({
      argument: 'image',
      file: { uri: expect.stringMatching(/^mcp-file:\/\/wharf\/f_/) },
      upload: { transport: 'http', method: 'POST', multipart: { fileField: 'file' }, expiresAt: expect.any(String) },
      human: { url },
      agent: { method: 'POST', url, headers: {}, example: expect.stringContaining('curl ') },
    });
    expect(text).toContain(required.agent.example);
  });

  it('whose curl line works as it stands, after which the same call does (FB-10)', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'wharf-missing-'));
    try {
      await writeFile(join(folder, 'FILE'), F2);
      const { required } = await missing('ocr', {});
      expect(JSON.parse(await shell(required.agent.example, folder))).toMatchObject({ status: 'completed' });
      await client.call('ocr', { image: required.file.uri });
      expect(docs.upstream.lastArguments.image).toBe(F2.toString('base64'));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('takes no other file than the argument does (2356-53)', async () => {
    const { required } = await missing('ocr', {});
    const body = new Uint8Array(Buffer.from('plain text'));
    expect((await fetch(required.upload.url, { method: 'PUT', body })).status).toBe(415);
    const page = await (await fetch(required.human.url, { headers: { accept: 'text/html' } })).text();
    for (const part of ['docs', 'ocr', 'image/png', '1 MB']) expect(page).toContain(part);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['ocr', { image: '' }, 'image'],
    ['ocr', { image: null }, 'image'],
    ['ocr', { image: '@attach' }, 'image'],
    ['maybe', { image: '@attach' }, 'image'],
    ['many', {}, 'images'],
    ['many', { images: '@attach' }, 'images'],
    ['many', { images: null }, 'images'],
    ['deep', { doc: {} }, 'doc.data'],
    ['declared', {}, 'data'],
  ])('%s with %j (2356-11, 2356-21)', async (name, args, argument) => {
    // what a tool declares by itself is known once its list has been seen, as every client does first
    await client.request('tools/list');
    expect((await missing(name, args)).required.argument).toBe(argument);
  });

  it.each<[string, Record<string, unknown>]>([
    ['maybe', {}],
    ['maybe', { image: null }],
    ['nullable', { image: null }],
    ['many', { images: [] }],
    ['deep', {}],
    ['note', { text: '' }],
  ])('is none where the file may be left out: %s with %j', async (name, args) => {
    const before = docs.upstream.with('tools/call').length;
    expect((await client.call(name, args)).result?.isError).toBeUndefined();
    expect(docs.upstream.with('tools/call')).toHaveLength(before + 1);
    expect(docs.upstream.lastArguments).toEqual(args);
  });

  it('is no less so when a file that would fit has been uploaded (2356-51)', async () => {
    const { required } = await missing('ocr', {});
    expect((await fetch(required.upload.url, { method: 'PUT', body: new Uint8Array(F2) })).status).toBe(201);
    expect((await missing('ocr', {})).required.file.uri).not.toBe(required.file.uri);
  });

  it('and no arguments at all', async () => {
    const { result } = await client.request('tools/call', { name: 'ocr' });
    expect(result).toMatchObject({ isError: true });
  });

  it('in a batch is an error of its own', async () => {
    const old = await RawClient.connect(docs.wharf.mcp, '2025-03-26');
    const answer = await old.post([
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ocr', arguments: {} } },
      { jsonrpc: '2.0', id: 2, method: 'ping' },
    ]);
    expect(answer.text).toContain("needs a file in the argument 'image'");
  });
});
