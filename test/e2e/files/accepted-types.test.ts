import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RawClient } from '../../helpers/raw-client.js';
import { type Lab, lab } from './recording-lab.js';

const base64 = (contentMediaType: string) => ({ type: 'string', contentEncoding: 'base64', contentMediaType });
const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), randomBytes(100)]);
const PDF = Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(100)]);
const CSV = Buffer.from('name;city\nMüller;Köln\n', 'latin1');
const dataUri = (bytes: Buffer, type: string) => `data:${type};base64,${bytes.toString('base64')}`;

describe('what an argument says of the files it takes', () => {
  let types: Lab;
  let client: RawClient;

  beforeAll(async () => {
    const tools = { anything: 'application/octet-stream', table: 'text/csv', picture: 'image/png' };
    types = await lab(
      Object.entries(tools).map(([name, type]) => ({
        name,
        inputSchema: { type: 'object', properties: { file: base64(type) } },
      })),
    );
    ({ client } = types);
  });

  afterAll(() => types?.stop());

  async function uploaded(bytes: Buffer, name: string, type: string): Promise<string> {
    const { result } = await client.call('request_file_upload', { name });
    const { file, upload } = (result?.structuredContent ?? {}) as { file: { uri: string }; upload: { url: string } };
    const form = new FormData();
    form.set('file', new Blob([new Uint8Array(bytes)], { type }), name);
    expect((await fetch(upload.url, { method: 'POST', body: form })).status).toBe(201);
    return file.uri;
  }

  it.each([
    ['a picture', PNG, 'image/png'],
    ['a PDF', PDF, 'application/pdf'],
    ['a text', Buffer.from('hello'), 'text/plain'],
  ])('"some bytes" is any file, and is not told as a list: %s', async (_, bytes, type) => {
    const { result } = await client.call('anything', { file: dataUri(bytes, type) });
    expect(result).not.toHaveProperty('isError');
    expect(types.upstream.lastArguments.file).toBe(bytes.toString('base64'));
    const { result: listed } = await client.request('tools/list');
    expect(JSON.stringify((listed?.tools as unknown[] | undefined)?.[0])).not.toMatch(/octet-stream.*at most|of type/);
  });

  it.each([
    ['as Windows calls it', 'application/vnd.ms-excel', 'table.csv'],
    ['as its own type', 'text/csv', 'table.csv'],
    ['as a browser that knows nothing calls it', 'application/octet-stream', 'table.csv'],
    ['as text', 'text/plain', 'table.csv'],
  ])('a table is one %s', async (_, type, name) => {
    const { result } = await client.call('table', { file: await uploaded(CSV, name, type) });
    expect(result).not.toHaveProperty('isError');
    expect(types.upstream.lastArguments.file).toBe(CSV.toString('base64'));
  });

  it.each([
    ['a PDF for a table', 'table', PDF, 'x.csv', 'text/csv'],
    ['a text for a picture', 'picture', Buffer.from('hello'), 'x.png', 'image/png'],
    ['unknown bytes for a picture', 'picture', randomBytes(100), 'x.png', 'application/octet-stream'],
  ])('what plainly is something else is refused: %s', async (_, tool, bytes, name, type) => {
    const { result } = await client.call(tool, { file: await uploaded(bytes, name, type) });
    expect(result?._meta).toMatchObject({ 'dev.wharf/fileError': { reason: 'mimeTypeNotAccepted' } });
  });
});
