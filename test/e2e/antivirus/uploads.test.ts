import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sha256 } from '../../helpers/bytes.js';
import { EICAR, MARKER, OwnClamd } from '../../helpers/own-clamd.js';
import { RawClient } from '../../helpers/raw-client.js';
import { STORES, startWharf, type Wharf } from '../../helpers/wharf.js';
import { counted, large, type Offered, startServer } from './lab.js';

const TUS = { 'tus-resumable': '1.0.0' };

let clamd: OwnClamd;
let server: Awaited<ReturnType<typeof startServer>>;

beforeAll(async () => {
  clamd = await OwnClamd.start();
  server = await startServer();
});

afterAll(async () => {
  await server?.upstream.stop();
  await clamd?.stop();
});

type Sent = (url: string, bytes: Buffer) => Promise<Response>;

const raw: Sent = (url, bytes) => fetch(url, { method: 'PUT', body: new Uint8Array(bytes) });

const form: Sent = (url, bytes) => {
  const body = new FormData();
  body.set('file', new Blob([new Uint8Array(bytes)]), 'file.bin');
  return fetch(url, { method: 'POST', body });
};

/** In two requests, so that no one of them sees the whole signature. */
const tus: Sent = async (url, bytes) => {
  const made = await fetch(url, { method: 'POST', headers: { ...TUS, 'upload-length': String(bytes.length) } });
  const place = new URL(made.headers.get('location') ?? '', url);
  const half = bytes.indexOf(MARKER) + 5;
  const patch = (offset: number, piece: Buffer) =>
    fetch(place, {
      method: 'PATCH',
      headers: { ...TUS, 'upload-offset': String(offset), 'content-type': 'application/offset+octet-stream' },
      body: new Uint8Array(piece),
    });
  await patch(0, bytes.subarray(0, half));
  return patch(half, bytes.subarray(half));
};

describe.each(STORES)('An infected file, into %s,', (stores) => {
  let wharf: Wharf;
  let client: RawClient;

  beforeAll(async () => {
    const { servers } = server;
    wharf = await startWharf({ servers, stores, config: { antivirus: clamd.config } });
    client = await RawClient.connect(wharf.mcp);
  });

  afterAll(() => wharf?.stop());

  async function authorize() {
    const { result } = await client.call('request_file_upload', { name: 'file.bin' });
    return (result as unknown as Offered).structuredContent;
  }

  it.each<[string, Sent]>([
    ['as the body', raw],
    ['in a form', form],
    ['by tus in two requests', tus],
  ])('uploaded %s, is refused, and its handle is never a file (1306-42)', async (_, send) => {
    const { file, upload } = await authorize();
    const answer = await send(upload.url, large(MARKER));
    expect(answer.status).toBe(422);
    expect(await answer.text()).toContain('Wharf.Test.Marker.UNOFFICIAL');
    const { result, error } = await client.call('take', { file: file.uri });
    expect(JSON.stringify(error ?? result)).toContain('has not been uploaded yet');
  });

  it.each<[string, Sent]>([
    ['as the body', raw],
    ['in a form', form],
    ['by tus in two requests', tus],
  ])('whose place a clean one takes, uploaded %s to the same link, is given to the server', async (_, send) => {
    const { file, upload } = await authorize();
    await send(upload.url, large(MARKER));
    const clean = large(Buffer.from('not at all the marker of the tests'));
    const again = await send(upload.url, clean);
    expect(again.ok).toBe(true);
    await client.call('take', { file: file.uri });
    expect(sha256(Buffer.from(String(server.upstream.lastArguments.file), 'base64'))).toBe(sha256(clean));
  });

  it('inside the argument of a call is refused, and the server never hears of it', async () => {
    const before = server.upstream.requests.length;
    const { error } = await client.call('take', { file: EICAR.toString('base64') });
    expect(error).toMatchObject({ data: { code: 'file_infected' } });
    const sent = server.upstream.requests.slice(before).map(({ body }) => body.toString());
    expect(sent.join('')).not.toContain(EICAR.toString('base64'));
  });
});

describe('A file larger than clamd scans', () => {
  const huge = Buffer.alloc(1_500_000, 5);

  it.each([
    ['refuse', 413],
    ['pass', 201],
  ] as const)('with larger: %s is answered with %i, and counted', async (larger, status) => {
    const small = await OwnClamd.start({ CLAMD_MAX_FILE: '1M', CLAMD_MAX_STREAM: '1M' });
    const { servers } = server;
    const wharf = await startWharf({ servers, config: { antivirus: { ...small.config, maxSizeMiB: 1, larger } } });
    const client = await RawClient.connect(wharf.mcp);
    const { result } = await client.call('request_file_upload', {});
    const { upload } = (result as unknown as Offered).structuredContent;
    const answer = await raw(upload.url, huge);
    expect(answer.status).toBe(status);
    expect(await counted(wharf.adminUrl, larger === 'pass' ? 'passed' : 'refused')).toBe(1);
    await wharf.stop();
    await small.stop();
  });
});
