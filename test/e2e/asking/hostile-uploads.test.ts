import { afterEach, describe, expect, it } from '@jest/globals';
import { keyHash } from '../../helpers/bytes.js';
import { RawClient } from '../../helpers/raw-client.js';
import type { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { freshName } from '../../helpers/services.js';
import type { Wharf } from '../../helpers/wharf.js';
import { PNG, startGatewayFor, startUpstream, textOf } from './lab.js';
import { RawCall } from './raw-call.js';
import { ask, binary, FORMS, wharf as gateway, start, stop, toldIn, URI } from './server-lab.js';

type Json = Record<string, unknown>;
type Endpoint = { url: string; uploadId: string };

let upstream: RecordingUpstream | undefined;
let wharf: Wharf | undefined;

afterEach(async () => {
  await wharf?.stop();
  await upstream?.stop();
  [wharf, upstream] = [undefined, undefined];
});

/** A call for which its client has been asked to upload a file. */
async function asked(config: Json = {}, headers: Record<string, string> = {}) {
  upstream = await startUpstream();
  wharf = await startGatewayFor(upstream, { config });
  const capabilities = { elicitation: { binary: {} } };
  const call = await RawCall.begin(wharf.mcp, 'take', {}, { capabilities, headers });
  const { id, params = {} } = await call.message(({ method }) => method === 'elicitation/create');
  const { file } = params.uploadEndpoints as { file: Endpoint };
  const answer = (content: Json) =>
    call.client.post({ jsonrpc: '2.0', id, result: { action: 'accept', content } }, headers);
  return { call, id, endpoint: file, answer };
}

async function send(
  { url }: Endpoint,
  {
    headers = {},
    parts = [PNG],
    field = 'file',
  }: { headers?: Record<string, string>; parts?: Buffer[]; field?: string } = {},
): Promise<Response> {
  const form = new FormData();
  for (const part of parts) form.append(field, new Blob([new Uint8Array(part)], { type: 'image/png' }), 'page1.png');
  return fetch(url, { method: 'POST', body: form, headers });
}

/** Waits until an endpoint is in this state. */
async function becomes({ url }: Endpoint, state: string): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    const answer = await fetch(url, { headers: { accept: 'application/json' } });
    const { status } = (await answer.json()) as { status: string };
    if (status === state) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`it is never ${state}`);
}

describe('a client that uploads what it should not', () => {
  it('stores the first of two files that come at once, and that one stays (1306-48)', async () => {
    const { call, endpoint, answer } = await asked();
    const other = Buffer.concat([PNG, Buffer.from('x')]);
    const statuses = await Promise.all(
      [PNG, other, PNG].map(async (bytes) => (await send(endpoint, { parts: [bytes] })).status),
    );
    expect(statuses.sort()).toEqual([201, 409, 409]);
    await answer({ file: { uploadId: endpoint.uploadId } });
    const { file } = JSON.parse(textOf(await call.result())) as { file: string };
    const stored = Buffer.from(file, 'base64');
    expect([PNG, other].some((bytes) => bytes.equals(stored))).toBe(true);
    expect((await send(endpoint, { parts: [other] })).status).toBe(409);
  });

  it('is refused several files, and a part of another name, and may then send the one (1306-11, 1306-23, 1306-39)', async () => {
    const { call, endpoint, answer } = await asked();
    expect((await send(endpoint, { parts: [PNG, PNG] })).status).toBe(400);
    expect((await send(endpoint, { field: 'upload' })).status).toBe(400);
    expect((await send(endpoint)).status).toBe(201);
    await answer({ file: { uploadId: endpoint.uploadId } });
    expect((await call.result()).isError).toBeUndefined();
  });

  it('is refused more than it was asked for, without a word of how it would fit (1306-37)', async () => {
    const { call, id, endpoint } = await asked();
    const large = Buffer.concat([PNG, Buffer.alloc(1_100_000)]);
    expect((await send(endpoint, { parts: [large] })).status).toBe(413);
    await call.client.post({ jsonrpc: '2.0', id, result: { action: 'cancel' } });
    await call.result();
  });

  it('is refused after it has cancelled its call (1306-34)', async () => {
    const { call, endpoint } = await asked();
    await call.client.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: call.id } });
    // the link ends when the call has seen that it is cancelled
    await becomes(endpoint, 'cancelled');
    expect((await send(endpoint)).status).toBe(410);
  });

  it('is refused once the endpoint has expired (1306-49)', async () => {
    const { endpoint } = await asked({ links: { ttl: '1s' }, timeouts: { elicitation: '1s' } });
    await becomes(endpoint, 'expired');
    expect((await send(endpoint)).status).toBe(410);
  });

  it('needs its caller’s credentials for every way of uploading, and for none of them is told more (1306-20)', async () => {
    const key = freshName('key');
    const hash = keyHash(key);
    const config = { auth: { use: 'apiKeys', keys: [{ name: 'ann', hash }] } };
    const headers = { authorization: `Bearer ${key}` };
    const { call, endpoint, answer } = await asked(config, headers);
    const { url } = endpoint;
    const tus = { 'tus-resumable': '1.0.0', 'upload-length': String(PNG.length) };
    expect((await send(endpoint)).status).toBe(401);
    expect((await fetch(url, { method: 'PUT', body: new Uint8Array(PNG) })).status).toBe(401);
    expect((await fetch(url, { method: 'POST', headers: tus })).status).toBe(401);
    expect((await send(endpoint, { headers: { authorization: 'Bearer wrong' } })).status).toBe(401);
    // nor may others look at its upload, or end it
    expect((await fetch(url, { method: 'POST', headers: { ...tus, ...headers } })).status).toBe(201);
    for (const method of ['HEAD', 'DELETE', 'OPTIONS'])
      expect([method, (await fetch(url, { method, headers: tus })).status]).toEqual([method, 401]);
    for (const accept of ['application/json', 'text/html'])
      expect((await fetch(url, { headers: { accept } })).status).toBe(401);
    expect((await fetch(url, { method: 'HEAD', headers: { ...tus, ...headers } })).status).toBe(200);
    expect((await send(endpoint, { headers })).status).toBe(201);
    await answer({ file: { uploadId: endpoint.uploadId } });
    expect(JSON.parse(textOf(await call.result()))).toEqual({ file: PNG.toString('base64') });
  });
});

it('a client that declares no elicitation gets a text with a link, and no error of JSON-RPC (1306-41)', async () => {
  upstream = await startUpstream();
  wharf = await startGatewayFor(upstream);
  const call = await RawCall.begin(wharf.mcp, 'take', {}, { capabilities: { roots: {} } });
  const result = await call.result();
  expect(result.isError).toBe(true);
  expect(textOf(result)).toMatch(/\/u\/[\w-]{43}/);
  expect(textOf(result)).toContain('mcp-file://');
});

describe('a client that answers a question which Wharf has taken over', () => {
  const content = { scan: URI };

  afterEach(stop);

  it.each([
    ['alone', (answer: Json) => answer, 202],
    ['in a batch', (answer: Json) => [answer], 400],
    ['in a batch with a request', (answer: Json) => [{ jsonrpc: '2.0', id: 9, method: 'ping' }, answer], 400],
  ])('%s is not heard by the server, whose rules would not be asked', async (_, bodyOf, status) => {
    await start(binary());
    const { call, question, answer } = await ask(FORMS);
    const { id } = await question();
    const body = bodyOf({ jsonrpc: '2.0', id: 'ask-1', result: { action: 'accept', content } });
    expect((await call.client.post(body)).status).toBe(status);
    await answer(id, { action: 'decline' });
    expect(toldIn(await call.result()).came.result).toEqual({ action: 'decline' });
  });
});

describe('a client that cannot be asked for the file that a server wants', () => {
  const form = {
    message: 'the scan to read.',
    requestedSchema: { type: 'object', properties: { scan: { type: 'string', format: 'uri', 'x-mcp-file': {} } } },
  };
  const rule = { limits: { accept: ['image/png'] } };
  const called = async (version: string, capabilities: Json) =>
    RawCall.on(await RawClient.connect(gateway().mcp, version, { capabilities }), 'ask', {});

  afterEach(stop);

  it.each([
    ['of a version without such questions', '2025-03-26', { elicitation: { form: {} } }, {}],
    ['that declares it in other letters', '2025-11-25', { Elicitation: { form: {} } }, {}],
    ['that declares nothing', '2025-06-18', {}, {}],
    ['where asking is off', '2025-11-25', { elicitation: { form: {} } }, { elicitation: { order: [] } }],
  ])('%s is not shown the question where a rule judges files', async (_, version, capabilities, config) => {
    await start(form, {}, { ...rule, ...config });
    const call = await called(version, capabilities);
    expect(toldIn(await call.result()).came.error).toMatchObject({ code: -32602 });
    expect(call.messages.map(({ method }) => method)).toEqual([undefined]);
  });

  it('gets it as it came where no rule does', async () => {
    await start(form);
    const call = await called('2025-03-26', { elicitation: { form: {} } });
    const { id, params } = await call.message(({ method }) => method === 'elicitation/create');
    expect(params).toEqual(form);
    await call.client.post({ jsonrpc: '2.0', id, result: { action: 'decline' } });
    expect(toldIn(await call.result()).came.result).toEqual({ action: 'decline' });
  });

  it('gets questions without files as before', async () => {
    const plain = { message: 'who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } };
    await start(plain, {}, rule);
    const call = await called('2025-03-26', { elicitation: { form: {} } });
    const { id, params } = await call.message(({ method }) => method === 'elicitation/create');
    expect(params).toEqual(plain);
    await call.client.post({ jsonrpc: '2.0', id, result: { action: 'accept', content: { name: 'Ann' } } });
    expect(toldIn(await call.result()).came.result).toMatchObject({ content: { name: 'Ann' } });
  });
});
