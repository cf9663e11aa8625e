import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { F1, type Lab, lab } from './recording-lab.js';
import {
  authorizeDownload,
  authorizeUpload,
  digestValue,
  download,
  F1_DIGEST,
  OCR_FILES,
  OCR_TOOL,
  SPEAKS,
  sendForm,
  upload,
} from './sep-2631-lab.js';

const DIGEST = { algorithm: 'sha-256', value: F1_DIGEST };
const FILE = { name: 'hello.txt', mimeType: 'text/plain', size: 12, digest: DIGEST };

describe('the methods of SEP-2631, in front of a server that knows none of them', () => {
  let ocr: Lab;
  let client: RawClient;

  beforeAll(async () => {
    const config = { limits: { file: '1MiB' } };
    ocr = await lab([OCR_TOOL], {
      name: 'ocr',
      server: { tools: OCR_FILES },
      config,
      version: '2025-11-25',
      about: SPEAKS,
    });
    ({ client } = ocr);
  });

  afterAll(() => ocr?.stop());

  const error = async (method: string, params: Record<string, unknown>, of = client) =>
    (await of.request(method, params)).error;

  it('what Wharf answers is advertised as an extension of its own name, in 2025 (2631-65)', () => {
    expect(client.opened?.result?.capabilities).toMatchObject({
      tools: {},
      extensions: { 'dev.wharf/file-transfer': { methods: expect.arrayContaining(['files/authorizeUpload']) } },
    });
  });

  it('the server is told that files can be moved, whatever the client can (2631-06)', async () => {
    await RawClient.connect(ocr.wharf.mcp, '2025-06-18');
    expect(ocr.upstream.with('initialize').at(-1)?.params.capabilities).toMatchObject({
      files: { upload: true, download: true, transports: ['https'] },
    });
  });

  it('every parameter of authorizeUpload is optional (2631-27)', async () => {
    const { file, upload: descriptor } = await authorizeUpload(client);
    expect(Object.keys(file)).toEqual(['uri']);
    expect(descriptor).toMatchObject({ method: 'POST' });
  });

  it('a parameter that is not known is tolerated (BASE-16)', async () => {
    expect((await authorizeUpload(client, { foo: 1, name: 'a' })).file.name).toBe('a');
  });

  it('the answer has the file as announced and a form to post it by (2631-29, 2631-30, 2631-31, 2631-32, 2631-58)', async () => {
    const result = await authorizeUpload(client, FILE);
    expect(result.file).toEqual({ uri: expect.stringMatching(/^mcp-file:\/\/wharf\/f_[\w-]{22}$/), ...FILE });
    expect(Object.keys(result).sort()).toEqual(['file', 'upload']);
    expect(result.upload).toEqual({
      transport: 'http',
      method: 'POST',
      url: expect.stringMatching(/\/u\/[\w-]+$/),
      multipart: { fileField: 'file' },
      expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    });
    const inMs = Date.parse(result.upload.expiresAt) - Date.now();
    expect(inMs).toBeGreaterThan(0);
    // no longer than a link lives
    expect(inMs).toBeLessThanOrEqual(15 * 60_000);
  });

  it.each([
    [
      'another algorithm (2631-20)',
      { digest: { algorithm: 'sha-512', value: 'x' } },
      { reason: 'unsupportedDigestAlgorithm', supported: ['sha-256'] },
    ],
    [
      'a padded digest (2631-20)',
      { digest: { algorithm: 'sha-256', value: `${F1_DIGEST}=` } },
      { reason: 'invalidDigest' },
    ],
    [
      'a hexadecimal digest (2631-20)',
      { digest: { algorithm: 'sha-256', value: 'c0'.repeat(32) } },
      { reason: 'invalidDigest' },
    ],
    ['a digest that is a string (2631-20)', { digest: F1_DIGEST }, { reason: 'invalidDigest' }],
    ['a negative size (2631-27)', { size: -1 }, { reason: 'invalidSize' }],
    ['a broken size (2631-27)', { size: 1.5 }, { reason: 'invalidSize' }],
    ['a size in words (2631-27)', { size: '12' }, { reason: 'invalidSize' }],
    ['half a type (2631-27)', { mimeType: 'x' }, { reason: 'invalidMimeType' }],
    ['a type that is no text (2631-27)', { mimeType: 7 }, { reason: 'invalidMimeType' }],
    ['a name that is no text (2631-27)', { name: ['a'] }, { reason: 'invalidName' }],
    [
      'too large, in exactly these words (2631-57)',
      { size: 2_000_000 },
      { reason: 'maxSizeExceeded', maxSize: 1_048_576, actualSize: 2_000_000 },
    ],
  ])('%s is refused with -32602', async (_what, params, data) => {
    expect(await error('files/authorizeUpload', params)).toMatchObject({ code: -32602 });
    expect((await error('files/authorizeUpload', params))?.data).toEqual(data);
  });

  it('neither tool nor field is known then, so only the limit on all files counts', async () => {
    const { file } = await authorizeUpload(client, { name: 'a.exe', mimeType: 'application/x-msdownload', size: 1000 });
    expect(file.mimeType).toBe('application/x-msdownload');
  });

  it('authorizeDownload gives the file under its own URI, and a link that answers 200 itself (2631-46, 2631-48)', async () => {
    const uri = await upload(client, F1, 'hello.txt', 'text/plain');
    const result = await authorizeDownload(client, uri);
    expect(Object.keys(result).sort()).toEqual(['download', 'file']);
    expect(result.file).toEqual({ uri, ...FILE });
    expect(result.download).toEqual({
      transport: 'http',
      method: 'GET',
      url: expect.any(String),
      expiresAt: expect.any(String),
    });
    const response = await fetch(result.download.url, { redirect: 'manual' });
    expect(response.status).toBe(200);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(F1);
  });

  it('asked again, it gives another link, and both work (2631-47)', async () => {
    const uri = await upload(client, F1);
    const both = [await authorizeDownload(client, uri), await authorizeDownload(client, uri)];
    const urls = both.map((result) => result.download.url);
    expect(new Set(urls).size).toBe(2);
    for (const url of urls) expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(F1);
  });

  it('a ticket stores one file, and its URI stays those bytes (2631-05)', async () => {
    const { file, upload: descriptor } = await authorizeUpload(client);
    expect((await sendForm(descriptor, F1)).status).toBe(201);
    expect((await sendForm(descriptor, Buffer.from('other'))).status).toBe(409);
    expect(await download(client, file.uri)).toEqual(F1);
    expect((await authorizeUpload(client)).file.uri).not.toBe(file.uri);
  });

  it('a range of the bytes changes nothing about their digest (2631-21)', async () => {
    const uri = await upload(client, F1);
    const { url } = (await authorizeDownload(client, uri)).download;
    const part = await fetch(url, { headers: { range: 'bytes=0-4' } });
    expect([part.status, await part.text()]).toEqual([206, 'Hello']);
    expect((await authorizeDownload(client, uri)).file.digest).toEqual(digestValue(F1));
  });

  it.each([
    ['one that never was (2631-51)', 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA', 'fileNotFound'],
    ['one of another gateway (2631-51)', 'mcp-file://other/f_AAAAAAAAAAAAAAAAAAAAAA', 'fileNotFound'],
    ['what is no handle (2631-19)', 'mcp-file:', 'malformedUri'],
    ['a path (2631-41)', '/tmp/x', 'malformedUri'],
    ['a bare id (2631-55)', 'f_AAAAAAAAAAAAAAAAAAAAAA', 'malformedUri'],
  ])('%s is refused', async (_what, uri, reason) => {
    expect(await error('files/authorizeDownload', { uri })).toMatchObject({ code: -32602, data: { reason } });
  });

  it('before its bytes have come, a file cannot be downloaded (2631-69)', async () => {
    const { file } = await authorizeUpload(client);
    expect(await error('files/authorizeDownload', { uri: file.uri })).toMatchObject({
      code: -32602,
      data: { reason: 'uploadIncomplete' },
    });
  });

  it('a file URI is not a resource of the server (2631-11, HO-21)', async () => {
    const uri = await upload(client, F1);
    const { result } = await client.request('resources/read', { uri });
    expect(result?.contents).toEqual([{ uri, mimeType: 'text/plain', text: F1.toString() }]);
    expect(ocr.upstream.with('resources/read')).toEqual([]);
  });

  it('a person who opens the address of an upload reads which server it is for (2631-61)', async () => {
    const { upload: descriptor } = await authorizeUpload(client, FILE);
    const page = await fetch(descriptor.url, { headers: { accept: 'text/html' } });
    expect(await page.text()).toContain('ocr');
    expect((await sendForm(descriptor, F1)).status).toBe(201);
  });

  it('a client that declared nothing is answered as well (2631-07)', async () => {
    const plain = await RawClient.connect(ocr.wharf.mcp, '2025-06-18');
    expect(await download(plain, await upload(plain, F1))).toEqual(F1);
  });

  it('and none of it ever reaches the server (BASE-07)', async () => {
    const before = ocr.upstream.requests.length;
    expect(await download(client, await upload(client, F1))).toEqual(F1);
    expect(ocr.upstream.requests.slice(before).filter(({ method }) => method?.startsWith('files/'))).toEqual([]);
  });

  it('a method of files that is not known is the server’s to refuse (2631-54)', async () => {
    expect(await error('files/list', {})).toMatchObject({ code: -32601 });
  });

  it('is answered in a batch beside what the server answers', async () => {
    const { messages } = await (await RawClient.connect(ocr.wharf.mcp, '2025-03-26')).post([
      { jsonrpc: '2.0', id: 1, method: 'files/authorizeUpload', params: {} },
      { jsonrpc: '2.0', id: 2, method: 'ping' },
    ]);
    expect(messages.map(({ id }) => id)).toEqual([1, 2]);
    expect(messages[0]?.result).toMatchObject({ file: { uri: expect.any(String) } });
  });

  describe('under their older names', () => {
    it('prepareUpload answers with transfer and upload (2631o-01)', async () => {
      const { result } = await client.request('files/prepareUpload', FILE);
      expect(result).toMatchObject({ file: FILE, transfer: { method: 'POST' } });
      expect(result?.upload).toEqual(result?.transfer);
    });

    it('getDownload answers with the bare descriptor and all names it ever had (2631o-02)', async () => {
      const uri = await upload(client, F1);
      const { result } = await client.request('files/getDownload', { uri });
      const { file, transfer, download: current, ...bare } = result ?? {};
      expect(Object.keys(bare).sort()).toEqual(['expiresAt', 'method', 'transport', 'url']);
      expect(transfer).toEqual(bare);
      expect(current).toEqual(bare);
      expect(file).toMatchObject({ uri, size: 12 });
    });

    it('completeUpload says whether the bytes are there (2631o-03)', async () => {
      const { file, upload: descriptor } = await authorizeUpload(client);
      expect(await error('files/completeUpload', { uri: file.uri })).toMatchObject({
        code: -32602,
        data: { reason: 'uploadIncomplete' },
      });
      await sendForm(descriptor, F1);
      expect((await client.request('files/completeUpload', { uri: file.uri })).result).toMatchObject({
        file: { uri: file.uri, size: 12, digest: DIGEST },
      });
    });

    it('and refuse in the words of their time (2631o-10)', async () => {
      expect((await error('files/prepareUpload', { size: 2_000_000 }))?.data).toEqual({
        reason: 'maxFileSizeExceeded',
        maxFileSize: 1_048_576,
        actualSize: 2_000_000,
      });
    });
  });
});
