import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { keyHash } from '../../helpers/bytes.js';
import { RawClient } from '../../helpers/raw-client.js';
import type { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { freshName } from '../../helpers/services.js';
import type { Wharf } from '../../helpers/wharf.js';
import { authorizeUpload, upload as uploadFile } from '../files/sep-2631-lab.js';
import { connect, PNG, startGatewayFor, startUpstream, textOf, upload } from './lab.js';
import { asked, RawCall } from './raw-call.js';

const FORMS = { elicitation: { form: {} }, fileInputs: {} };
const BINARY = { elicitation: { binary: {} } };
const BASE64 = PNG.toString('base64');
const PNG_URI = `data:image/png;base64,${BASE64}`;
const TEXT_URI = 'data:text/plain;base64,SGVsbG8=';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

let upstream: RecordingUpstream;
let wharf: Wharf;

beforeAll(async () => {
  upstream = await startUpstream();
  wharf = await startGatewayFor(upstream);
});

afterAll(async () => {
  await wharf?.stop();
  await upstream?.stop();
});

const calls = () => upstream.with('tools/call').length;

async function ask(capabilities: Record<string, unknown>, about: Record<string, unknown> = {}) {
  return asked(await RawCall.begin(wharf.mcp, 'take', {}, { capabilities, ...about }));
}

describe('a client with forms that have fields for files', () => {
  it('gives the file in its answer (2356-13, 2356-28, K2)', async () => {
    const { call, answer, question } = await ask(FORMS);
    const { id, params } = await question();
    const about = { accept: ['image/png'], maxSize: 1_048_576 };
    expect(params).toEqual({
      mode: 'form',
      message: expect.stringMatching(/'take' of the server "docs".*'file'.*image\/png.*1 MB\.$/),
      requestedSchema: {
        type: 'object',
        properties: {
          file: {
            type: 'string',
            format: 'uri',
            title: 'file',
            'x-mcp-file': about,
          },
        },
        required: ['file'],
      },
      requestedFiles: { file: about },
    });
    const uri = PNG_URI.replace(';base64', ';name=a.png;base64');
    expect((await answer(id, { action: 'accept', content: { file: uri } })).status).toBe(202);
    expect(JSON.parse(textOf(await call.result()))).toEqual({ file: BASE64 });
    expect(call.messages.map(({ method }) => method)).toEqual(['elicitation/create', undefined]);
  });

  it('gives a file that it has uploaded before, by its handle (2631-67)', async () => {
    const { call, answer, question } = await ask(FORMS);
    const { id } = await question();
    const handle = await uploadFile(call.client, PNG, 'page1.png', 'image/png');
    await answer(id, { action: 'accept', content: { file: handle } });
    expect(JSON.parse(textOf(await call.result()))).toEqual({ file: BASE64 });
    // and it is still a file of its own
    const { result } = await call.client.call('take', { file: handle });
    expect(JSON.parse(textOf(result))).toEqual({ file: BASE64 });
  });

  it('is told why a handle is not taken, and asked again (2631-67)', async () => {
    const { call, answer, question } = await ask(FORMS);
    const refused = async (number: number, file: string) => {
      await answer((await question(number)).id, { action: 'accept', content: { file } });
    };
    await refused(1, (await authorizeUpload(call.client)).file.uri);
    expect((await question(2)).params?.message).toMatch(/a file that has not been uploaded yet/);
    await refused(2, 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA');
    expect((await question(3)).params?.message).toMatch(/is not that of a file that you have uploaded/);
    await refused(3, await uploadFile(call.client, Buffer.from('plain words'), 'words.txt', 'text/plain'));
    expect(textOf(await call.result())).toMatch(/What was given was not taken: .*text\/plain/);
  });

  it('is asked again where it names the file of a server, which may be kept from others (2631-67)', async () => {
    const { call, answer, question } = await ask(FORMS);
    const shot = await call.client.call('shoot', {});
    const [uri = ''] = /mcp-file:\/\/wharf\/f_[\w-]+/.exec(JSON.stringify(shot.result)) ?? [];
    expect(uri).not.toBe('');
    await answer((await question()).id, { action: 'accept', content: { file: uri } });
    const second = await question(2);
    expect(second.params?.message).toMatch(/is not that of a file that you have uploaded/);
    await answer(second.id, { action: 'decline' });
    await call.result();
  });

  it('is asked again for one that the tool does not take, and in the end told so (2356-36, 2356-37)', async () => {
    const before = calls();
    const { call, answer, question } = await ask(FORMS);
    await answer((await question()).id, { action: 'accept', content: { file: TEXT_URI } });
    const second = await question(2);
    expect(second.params?.message).toMatch(/^The file was not taken: .*text\/plain.*image\/png/);
    await answer(second.id, { action: 'accept', content: {} });
    const third = await question(3);
    expect(third.params?.message).toMatch(/holds no file/);
    await answer(third.id, { action: 'accept', content: { file: 'no address' } });
    const result = await call.result();
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(/What was given was not taken: .*data: URI/);
    expect(calls()).toBe(before);
  });

  it('on 2026-07-28 gives it with the next call (2356-35)', async () => {
    const client = RawClient.stateless(wharf.mcp, '2026-07-28', { capabilities: FORMS });
    const call = (more: object = {}) => client.request('tools/call', { name: 'take', arguments: {}, ...more });
    const key = 'wharf-file-1';
    const first = (await call()).result as Record<string, never>;
    expect(first.resultType).toBe('input_required');
    const bad = { [key]: { action: 'accept', content: { file: TEXT_URI } } };
    const second = (await call({ requestState: first.requestState, inputResponses: bad })).result as typeof first;
    expect(JSON.stringify(second.inputRequests)).toContain('The file was not taken');
    const good = { [key]: { action: 'accept', content: { file: PNG_URI } } };
    const { result } = await call({ requestState: second.requestState, inputResponses: good });
    expect(JSON.parse(textOf(result))).toEqual({ file: BASE64 });
    let last = (await call()).result as typeof first;
    for (let round = 0; round < 3; round++)
      last = (await call({ requestState: last.requestState, inputResponses: bad })).result as typeof first;
    expect(last).toMatchObject({ resultType: 'complete', isError: true });
  });

  it.each<[string, unknown]>([
    ['another action', { action: 'submit', content: { file: PNG_URI } }],
    ['no action', {}],
    ['a text', 'yes'],
    ['nothing but null', null],
  ])('on 2026-07-28 is not asked without end: %s', async (_what, said) => {
    const client = RawClient.stateless(wharf.mcp, '2026-07-28', { capabilities: FORMS });
    const call = (more: object = {}) => client.request('tools/call', { name: 'take', arguments: {}, ...more });
    const inputResponses = { 'wharf-file-1': said };
    let last = (await call()).result as Record<string, never>;
    last = (await call({ requestState: last.requestState, inputResponses })).result as typeof last;
    expect(JSON.stringify(last.inputRequests)).toContain('an action other than accept, decline and cancel');
    for (let round = 0; round < 2; round++)
      last = (await call({ requestState: last.requestState, inputResponses })).result as typeof last;
    expect(last).toMatchObject({ resultType: 'complete', isError: true });
    expect(JSON.stringify(last.content)).toContain('an action other than accept, decline and cancel');
  });

  it('on 2026-07-28 gives the handle of a file that it has uploaded meanwhile (2631-67)', async () => {
    const client = RawClient.stateless(wharf.mcp, '2026-07-28', { capabilities: FORMS });
    const call = (more: object = {}) => client.request('tools/call', { name: 'take', arguments: {}, ...more });
    const { requestState } = (await call()).result as Record<string, never>;
    const file = await uploadFile(client, PNG, 'page1.png', 'image/png');
    const inputResponses = { 'wharf-file-1': { action: 'accept', content: { file } } };
    const { result } = await call({ requestState, inputResponses });
    expect(JSON.parse(textOf(result))).toEqual({ file: BASE64 });
  });

  it('of the SDK, which does not show them, is sent to the page where it opens pages (K7)', async () => {
    const { client, asked } = await connect(
      wharf.mcp,
      async ({ url }) => {
        await upload(url);
        return { action: 'accept' };
      },
      { elicitation: { form: {}, url: {} } },
    );
    await client.callTool({ name: 'take', arguments: {} });
    expect(asked.map(({ mode }) => mode)).toEqual(['url']);
    await client.close();
  });
});

interface Endpoint {
  url: string;
  method: string;
  uploadId: string;
}

async function send({ url }: Endpoint, headers: Record<string, string> = {}, bytes = PNG) {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(bytes)], { type: 'image/png' }), 'page1.png');
  return fetch(url, { method: 'POST', body: form, headers });
}

const endpointOf = (params: Record<string, unknown> | undefined): Endpoint =>
  ((params?.uploadEndpoints ?? {}) as Record<string, Endpoint>).file as Endpoint;

describe('a client that uploads what its user has chosen', () => {
  it('is given an endpoint, and answers with what it uploaded (1306-06, 1306-08, 1306-14, 1306-16, 1306-17, 1306-21, 1306-27, 1306-46, 1306-48, K4)', async () => {
    const { call, answer, question } = await ask(BINARY);
    const { id, params } = await question();
    expect(Object.keys(params ?? {}).sort()).toEqual([
      '_meta',
      'message',
      'mode',
      'requestedSchema',
      'uploadEndpoints',
    ]);
    expect(params?.message).toContain('"docs"');
    const { properties } = (params?.requestedSchema ?? {}) as { properties: Record<string, unknown> };
    expect(properties.file).toMatchObject({ title: 'file', description: expect.stringContaining('"docs"') });
    const endpoint = endpointOf(params);
    expect(endpoint).toEqual({
      url: expect.stringMatching(/\/u\/[\w-]{43}$/),
      method: 'POST',
      uploadId: expect.stringMatching(UUID),
    });
    expect((await send(endpoint)).status).toBe(201);
    const file = { name: 'page1.png', size: PNG.length, mimeType: 'image/png', uploadId: endpoint.uploadId };
    await answer(id, { action: 'accept', content: { file } });
    expect(JSON.parse(textOf(await call.result()))).toEqual({ file: BASE64 });
    expect((await send(endpoint)).status).toBe(409);
  });

  it.each<[string, (endpoint: Endpoint) => Promise<object>]>([
    ['before anything was uploaded', async ({ uploadId }) => ({ uploadId })],
    [
      'for another upload',
      async (endpoint) => {
        await send(endpoint);
        return { uploadId: 'other' };
      },
    ],
    [
      'with another size',
      async (endpoint) => {
        await send(endpoint);
        return { uploadId: endpoint.uploadId, size: 1 };
      },
    ],
  ])('is asked again when it answers %s (1306-30, 1306-33)', async (_what, given) => {
    const before = calls();
    const { call, answer, question } = await ask(BINARY);
    const { id, params } = await question();
    await answer(id, { action: 'accept', content: { file: await given(endpointOf(params)) } });
    const second = await question(2);
    expect(calls()).toBe(before);
    const endpoint = endpointOf(second.params);
    await send(endpoint);
    await answer(second.id, { action: 'accept', content: { file: { uploadId: endpoint.uploadId } } });
    expect(JSON.parse(textOf(await call.result()))).toEqual({ file: BASE64 });
  });

  it('that declines ends the call and the upload (1306-34)', async () => {
    const { call, answer, question } = await ask(BINARY);
    const { id, params } = await question();
    await answer(id, { action: 'decline' });
    expect((await call.result()).isError).toBe(true);
    expect((await send(endpointOf(params))).status).toBe(410);
  });

  it('cannot upload what the tool does not take (1306-37, 1306-38)', async () => {
    const { call, answer, question } = await ask({ elicitation: { binary: { maxFileSize: 50 } } });
    const { id, params } = await question();
    expect((await send(endpointOf(params), {}, Buffer.from('plain text'))).status).toBe(415);
    await answer(id, { action: 'cancel' });
    await call.result();
  });

  it.each(['POST', 'PUT'])('uploads it in a form, and not as a raw body by %s (1306-22)', async (method) => {
    const { call, answer, question } = await ask(BINARY);
    const { id, params } = await question();
    const endpoint = endpointOf(params);
    const headers = { 'content-type': 'application/octet-stream' };
    const raw = await fetch(endpoint.url, { method, headers, body: PNG });
    const message = 'Content-Type must be multipart/form-data.';
    expect([raw.status, await raw.json()]).toMatchObject([415, { error: { reason: 'unsupportedMediaType', message } }]);
    expect((await send(endpoint)).status).toBe(201);
    await answer(id, { action: 'accept', content: { file: { uploadId: endpoint.uploadId } } });
    expect(JSON.parse(textOf(await call.result()))).toEqual({ file: BASE64 });
  });

  it('cannot upload more than it has declared, and is asked for no more (1306-03, 1306-10, 1306-37)', async () => {
    const most = PNG.length - 1;
    const { call, answer, question } = await ask({ elicitation: { binary: { maxFileSize: most } } });
    const { id, params } = await question();
    expect(params?.message).toContain(`of at most ${most} bytes`);
    const refused = await send(endpointOf(params));
    expect([refused.status, await refused.json()]).toMatchObject([413, { error: { maxSize: most } }]);
    await answer(id, { action: 'cancel' });
    await call.result();
  });
});

it('a link of a client that uploads does not exist for another caller, whatever has become of it (1306-19)', async () => {
  const key = freshName('key');
  const keys = ['', '2'].map((more) => ({ name: `caller${more}`, hash: keyHash(key + more) }));
  const own = await startGatewayFor(upstream, { config: { auth: { use: 'apiKeys', keys } } });
  const tus = { 'tus-resumable': '1.0.0' };
  const requests: [query: string, init: RequestInit & { headers?: Record<string, string> }][] = [
    ['', { headers: { accept: 'application/json' } }],
    ['', { headers: { accept: 'text/html' } }],
    ['?unlocked', { headers: { accept: 'text/html' } }],
    ['?unlock', { method: 'POST', body: 'code=234567' }],
    ['?add', { method: 'POST' }],
    ['?finish', { method: 'POST', body: '[]' }],
    ['', { method: 'PUT', body: 'x' }],
    ['', { method: 'DELETE' }],
    ['', { method: 'OPTIONS', headers: tus }],
    ['', { method: 'HEAD', headers: tus }],
    ['', { method: 'POST', headers: { ...tus, 'upload-length': '1' } }],
    ['', { method: 'PATCH', headers: { ...tus, 'upload-offset': '0' }, body: 'x' }],
    ['', { method: 'DELETE', headers: tus }],
  ];
  const seenAt = async (url: string) => {
    const seen = [];
    for (const [query, init] of requests) {
      const headers = { ...init.headers, authorization: `Bearer ${key}2` };
      const answer = await fetch(url + query, { redirect: 'manual', ...init, headers });
      const names = [...answer.headers.keys()].sort();
      seen.push([query, init.method, answer.status, names, await answer.text()]);
    }
    return seen;
  };
  const nowhere = await seenAt(new URL(`/u/${'A'.repeat(43)}`, own.mcp).href);
  const headers = { authorization: `Bearer ${key}` };
  const call = await RawCall.begin(own.mcp, 'take', {}, { capabilities: BINARY, headers });
  const { id, params } = await call.message(({ method }) => method === 'elicitation/create');
  const endpoint = endpointOf(params);
  expect(await seenAt(endpoint.url)).toEqual(nowhere);
  expect((await send(endpoint, headers)).status).toBe(201);
  expect(await seenAt(endpoint.url)).toEqual(nowhere);
  const state = await fetch(endpoint.url, { headers: { ...headers, accept: 'application/json' } });
  expect(await state.json()).toEqual({ status: 'completed' });
  await call.client.post({ jsonrpc: '2.0', id, result: { action: 'cancel' } });
  await call.result();
  await own.stop();
});

it('a file of a client that uploads is taken from its caller alone (1306-19, 1306-20)', async () => {
  const key = freshName('key');
  const keys = [
    { name: 'ann', hash: keyHash(key) },
    { name: 'bob', hash: keyHash(`${key}2`) },
  ];
  const own = await startGatewayFor(upstream, { config: { auth: { use: 'apiKeys', keys } } });
  const headers = { authorization: `Bearer ${key}` };
  const call = await RawCall.begin(own.mcp, 'take', {}, { capabilities: BINARY, headers });
  const { id, params } = await call.message(({ method }) => method === 'elicitation/create');
  const endpoint = endpointOf(params);
  const stranger = await send(endpoint);
  expect([stranger.status, stranger.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  const metrics = await (await fetch(`${own.adminUrl}/metrics`)).text();
  expect(metrics).toContain('wharf_uploads_total{outcome="refused"} 1');
  expect((await send(endpoint, { authorization: `Bearer ${key}2` })).status).toBe(404);
  expect((await send(endpoint, headers)).status).toBe(201);
  const content = { file: { uploadId: endpoint.uploadId } };
  await call.client.post({ jsonrpc: '2.0', id, result: { action: 'accept', content } });
  expect(JSON.parse(textOf(await call.result()))).toEqual({ file: BASE64 });
  await own.stop();
});
