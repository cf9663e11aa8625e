import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const TAKE = {
  name: 'take',
  inputSchema: { type: 'object', properties: { file: { type: 'string', contentEncoding: 'base64' } } },
};
const PICTURE = {
  name: 'picture',
  inputSchema: {
    type: 'object',
    properties: { file: { type: 'string', format: 'uri', 'x-mcp-file': { accept: ['image/png'] } } },
  },
};
const BYTES = Buffer.from('Hello world!');
const SHA_256 = createHash('sha256').update(BYTES);
const HEX = SHA_256.copy().digest('hex');
const BASE64URL = SHA_256.copy().digest('base64url');
const NOBODYS = 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA';

let upstream: RecordingUpstream;
let wharf: Wharf;
let client: RawClient;

beforeAll(async () => {
  upstream = await RecordingUpstream.start({ tools: [TAKE, PICTURE] });
  wharf = await startWharf({
    servers: { docs: { url: upstream.url, transport: 'streamable-http' } },
    config: { limits: { file: '1MiB' } },
  });
  client = await RawClient.connect(wharf.mcp);
});

afterAll(async () => {
  await wharf?.stop();
  await upstream?.stop();
});

interface Offered {
  file: { uri: string; digest?: { value: string } };
  upload: { url: string; expiresAt: string };
  page: string;
}

async function request(args: Record<string, unknown>) {
  const { result } = await client.call('request_file_upload', args);
  return { result, text: String(result?.content?.[0]?.text), offer: result?.structuredContent as unknown as Offered };
}

const put = (url: string, bytes: Buffer = BYTES) => fetch(url, { method: 'PUT', body: new Uint8Array(bytes) });

describe('request_file_upload', () => {
  it('tells what to do, step by step, and not to make the file up (FB-11)', async () => {
    const { text, offer } = await request({ name: 'a.txt' });
    const { url, expiresAt } = offer.upload;
    for (const part of [
      offer.file.uri,
      `${url}\n`,
      expiresAt,
      'at most 1 MB',
      `-F file=@a.txt ${url}`,
      `-T a.txt ${url}`,
    ]) {
      expect(text).toContain(part);
    }
    expect(text).toMatch(/Do not type base64/);
    expect(text).toMatch(/do not make up the file/);
    expect(text).toMatch(/blocked or fails, say so .*do not look for another way to read the file/);
    expect(text.length).toBeLessThan(2000);
  });

  it('has the page tell a person who asks, and what the assistant says of it (2356-46)', async () => {
    const { offer } = await request({ name: 'a.txt', message: 'The notes <of> Tuesday, please.' });
    const html = await (await fetch(offer.page, { headers: { accept: 'text/html' } })).text();
    expect(html).toContain('The notes &lt;of&gt; Tuesday, please.');
    const { text } = await request({ message: 'x'.repeat(1001) });
    expect(text).toContain('the message is longer than 1000 characters');
  });

  it('gives programs the descriptor of the upload, with what was announced (ST-01)', async () => {
    const { offer } = await request({ name: 'a.txt', mimeType: 'text/plain', size: 12, sha256: HEX });
    expect(offer).toMatchObject({
      file: { name: 'a.txt', mimeType: 'text/plain', size: 12, digest: { algorithm: 'sha-256', value: BASE64URL } },
      upload: { transport: 'http', method: 'POST', multipart: { fileField: 'file' } },
      maxSize: 1024 * 1024,
      page: offer.upload.url,
    });
    const form = new FormData();
    form.append('file', new Blob([BYTES], { type: 'text/plain' }), 'a.txt');
    const answer = await fetch(offer.upload.url, { method: 'POST', body: form });
    expect([answer.status, await answer.json()]).toMatchObject([201, { file: offer.file }]);
  });

  it.each([HEX.toUpperCase(), `sha256:${HEX}`, BASE64URL, SHA_256.copy().digest('base64')])(
    'takes the digest %s',
    async (sha256) => {
      expect((await request({ sha256 })).offer.file.digest?.value).toBe(BASE64URL);
    },
  );

  it('leaves out what a model does not know', async () => {
    const { offer } = await request({ name: '', mimeType: null, size: null, sha256: '' });
    expect(Object.keys(offer.file)).toEqual(['uri']);
  });

  it.each<[Record<string, unknown>, string, RegExp]>([
    [{ size: -1 }, 'invalidSize', /size/],
    [{ size: 1.5 }, 'invalidSize', /size/],
    [{ size: '12' }, 'invalidSize', /size must be a number, and is a string/],
    [{ mimeType: 'x' }, 'invalidMimeType', /MIME type/],
    [{ mimeType: ['text/plain'] }, 'invalidMimeType', /mimeType must be a string, and is an array/],
    [{ sha256: 'abc' }, 'invalidDigest', /sha256 .* has 3 characters/],
    [{ name: 7 }, 'invalidName', /name must be a string, and is a number/],
    [{ name: 'x'.repeat(2000) }, 'invalidName', /1024 characters/],
    [{ size: 1024 * 1024 + 1 }, 'maxSizeExceeded', /larger than the 1048576 bytes allowed \(1048577 bytes\)/],
    [
      { tool: 'picture', mimeType: 'application/pdf' },
      'mimeTypeNotAccepted',
      /application\/pdf, .* accepted: image\/png/,
    ],
  ])('refuses %j with %s, in words', async (args, reason, words) => {
    const { result, text } = await request(args);
    expect(result).toMatchObject({ isError: true, _meta: { 'dev.wharf/fileError': { reason } } });
    expect(result?.structuredContent).toBeUndefined();
    expect(text).toMatch(words);
  });

  it('holds the upload to what was announced', async () => {
    const digest = await request({ sha256: HEX });
    expect((await put(digest.offer.upload.url, Buffer.from('Hello earth!'))).status).toBe(422);
    const size = await request({ size: 12 });
    expect((await put(size.offer.upload.url, Buffer.from('Hello'))).status).toBe(422);
  });

  it('its page names the server, the limits and the file, and using it up takes a POST (FB-08)', async () => {
    const { offer } = await request({ name: 'a.txt', size: 12 });
    for (let look = 0; look < 2; look++) {
      const page = await (await fetch(offer.page, { headers: { accept: 'text/html' } })).text();
      for (const part of ['docs', '12 bytes', '1 MB', 'a.txt']) expect(page).toContain(part);
    }
    expect((await put(offer.page)).status).toBe(201);
    expect((await put(offer.page)).status).toBe(409);
  });
});

describe('get_file_link', () => {
  const link = (handle: unknown) => client.call('get_file_link', { handle });

  it('gives a fresh link each time, with what is known of the file (ST-04)', async () => {
    const { offer } = await request({ name: 'a.txt' });
    await put(offer.upload.url);
    const links = await Promise.all([link(offer.file.uri), link(offer.file.uri)]);
    const told = links.map(({ result }) => result?.structuredContent as Record<string, string>);
    expect(told[0]).toMatchObject({
      uri: offer.file.uri,
      name: 'a.txt',
      mimeType: 'text/plain',
      size: 12,
      digest: `sha-256:${BASE64URL}`,
    });
    expect(new Set(told.map((one) => one.url)).size).toBe(2);
    for (const one of told) expect(await (await fetch(String(one.url))).text()).toBe('Hello world!');
    expect(String(links[0]?.result?.content?.[0]?.text)).toContain(told[0]?.url);
  });

  it('reads the handle in whatever a model copies', async () => {
    const { offer } = await request({ name: 'a.txt' });
    await put(offer.upload.url);
    for (const copied of [`Handle: ${offer.file.uri}`, `[a.txt](${offer.file.uri})`, ` "${offer.file.uri}" `]) {
      expect((await link(copied)).result?.structuredContent).toMatchObject({ uri: offer.file.uri });
    }
  });

  it.each([
    [NOBODYS, 'fileNotFound'],
    ['mcp-file://other/f_AAAAAAAAAAAAAAAAAAAAAA', 'fileNotFound'],
    ['https://example.com/a', 'malformedUri'],
    ['', 'malformedUri'],
    [7, 'malformedUri'],
    [undefined, 'malformedUri'],
  ])('refuses %j with %s', async (handle, reason) => {
    const { result } = await link(handle);
    expect(result).toMatchObject({ isError: true, _meta: { 'dev.wharf/fileError': { reason, argument: 'handle' } } });
    expect(String(result?.content?.[0]?.text)).toContain("'handle'");
  });

  it('says that the handle of several files has no link of its own', async () => {
    for (const handle of ['mcp-file://wharf/b_AAAAAAAAAAAAAAAAAAAAAA', 'b_AAAAAAAAAAAAAAAAAAAAAA']) {
      const { result } = await link(handle);
      expect(result).toMatchObject({ isError: true, _meta: { 'dev.wharf/fileError': { reason: 'tooManyFiles' } } });
      expect(String(result?.content?.[0]?.text)).toMatch(/stands for several files.* Pass it to the tool/);
    }
  });

  it('says that a file has not been uploaded yet', async () => {
    const { result } = await link((await request({})).offer.file.uri);
    expect(result).toMatchObject({ isError: true, _meta: { 'dev.wharf/fileError': { reason: 'uploadIncomplete' } } });
  });

  it('is answered in a batch, which a client of 2025-03-26 may send, and nothing of that goes to the server', async () => {
    const old = await RawClient.connect(wharf.mcp, '2025-03-26');
    const before = upstream.with('tools/call').length;
    const calls = ['take', 'get_file_link'].map((name, id) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name, arguments: { handle: NOBODYS } },
    }));
    const { messages } = await old.post(calls as never);
    const byId = (wanted: number) => messages.find(({ id }) => id === wanted);
    expect(byId(0)?.result?.content).toEqual([{ type: 'text', text: expect.any(String) }]);
    expect(byId(1)?.result).toMatchObject({
      isError: true,
      _meta: { 'dev.wharf/fileError': { reason: 'fileNotFound' } },
    });
    expect(upstream.with('tools/call').slice(before)).toMatchObject([{ params: { name: 'take' } }]);
  });

  it('neither answer comes near what is kept inline of a result (ST-08)', async () => {
    const { result, offer } = await request({ name: `${'long '.repeat(200)}.txt` });
    await put(offer.upload.url);
    for (const answer of [result, (await link(offer.file.uri)).result]) {
      expect(JSON.stringify(answer).length).toBeLessThan(8000);
    }
  });
});
