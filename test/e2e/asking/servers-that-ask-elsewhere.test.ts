import { afterEach, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { AskingServer, call, heard, MODERN, wanted } from './input-lab.js';
import { PNG, upload } from './lab.js';
import { RawCall } from './raw-call.js';
import { binary, FORMS, parts, start, stop, toldIn, URI, wharf } from './server-lab.js';

const OTHERS = [
  ['prompts/get', { name: 'p' }],
  ['resources/read', { uri: 'docs://a' }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } }],
  ['tasks/result', { taskId: 'a' }],
] as const;

/** Those that a server of 2026-07-28 may answer by what it wants first. */
const ROUNDS = [OTHERS[0], OTHERS[1]] as const;

const KEY = 'wharf-file-1';
const PAGE = { elicitation: { url: {} } };

afterEach(stop);

describe('a server that asks for a file in binary mode while it answers another request than a call', () => {
  it.each(OTHERS)('%s: its client is asked in the form that it knows (1306-02)', async (method, params) => {
    await start(binary());
    const client = await RawClient.connect(wharf().mcp, '2025-11-25', { capabilities: FORMS });
    const request = await RawCall.of(client, method, params);
    const question = await request.message((message) => message.method === 'elicitation/create');
    expect(question.params).toMatchObject({ mode: 'form' });
    await client.post({
      jsonrpc: '2.0',
      id: question.id,
      result: { action: 'accept', content: { scan: URI } },
    });
    const { came, uploads } = toldIn(await request.result());
    expect(came.result?.action).toBe('accept');
    expect(parts(uploads[0])).toContain(PNG.toString('latin1'));
  });

  it('both sides hear about which task it is, as all that is about one must say', async () => {
    const _meta = { 'io.modelcontextprotocol/related-task': { taskId: 'a' }, 'x/own': 1 };
    const about = { 'io.modelcontextprotocol/related-task': { taskId: 'a' } };
    await start({ ...binary(), _meta });
    const client = await RawClient.connect(wharf().mcp, '2025-11-25', { capabilities: FORMS });
    const request = await RawCall.of(client, 'tasks/result', { taskId: 'a' });
    const question = await request.message((message) => message.method === 'elicitation/create');
    expect(question.params?._meta).toEqual(about);
    await client.post({ jsonrpc: '2.0', id: question.id, result: { action: 'accept', content: { scan: URI } } });
    const { came } = toldIn(await request.result());
    expect(came.result).toMatchObject({ action: 'accept', _meta: about });
  });

  it('a page that is asked for and not opened is withdrawn as what is about the task', async () => {
    const about = { 'io.modelcontextprotocol/related-task': { taskId: 'a' } };
    await start({ ...binary(), _meta: about }, {}, { timeouts: { elicitationNotice: '1s' } });
    const client = await RawClient.connect(wharf().mcp, '2025-11-25', { capabilities: PAGE });
    const request = await RawCall.of(client, 'tasks/result', { taskId: 'the-task' });
    const asked = await request.message((message) => message.method === 'elicitation/create');
    // what opens it counts as the user
    const page = await fetch(String(asked.params?.url), {
      headers: { accept: 'text/html', 'sec-purpose': 'prefetch' },
    });
    expect(await page.text()).not.toContain('the-task');
    const withdrawn = await request.message((message) => message.method === 'notifications/cancelled');
    expect(withdrawn.params?._meta).toEqual(about);
  });

  it.each(ROUNDS)(
    '%s: so is that of 2026-07-28, and asks again with the answer (1306-02, VER-01)',
    async (...request) => {
      const lab = await AskingServer.start({ scan: { method: 'elicitation/create', params: binary() } });
      const client = RawClient.stateless(lab.wharf.mcp, MODERN, { capabilities: FORMS });
      const [method, params] = request;
      const { requestState, inputRequests } = wanted(await client.request(method, params));
      expect(inputRequests?.[KEY]?.params).toMatchObject({ mode: 'form' });
      const meta = lab.upstream.with(method).at(-1)?.params._meta as Record<string, { elicitation: object }>;
      expect(meta['io.modelcontextprotocol/clientCapabilities']?.elicitation).toHaveProperty('binary');
      const inputResponses = { [KEY]: { action: 'accept', content: { scan: URI } } };
      const { scan } = heard(await client.request(method, { ...params, requestState, inputResponses }));
      expect(scan).toMatchObject({ action: 'accept', content: { scan: { uploadId: 'their-id' } } });
      expect(lab.uploads[0]?.body).toContain(PNG.toString('latin1'));
      await lab.stop();
    },
  );

  it.each(ROUNDS)('%s: another one cannot use what was answered to it (2356-38)', async (method, params) => {
    const lab = await AskingServer.start({ scan: { method: 'elicitation/create', params: binary() } });
    const client = RawClient.stateless(lab.wharf.mcp, MODERN, { capabilities: FORMS });
    const { requestState } = wanted(await client.request(method, params));
    const { error } = await call(client, { requestState, inputResponses: {} });
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('of another call') });
    await lab.stop();
  });
});

describe('a server that asks for a file on a page that is not opened in time, while it answers another request than a call', () => {
  const timeouts = { elicitationNotice: '300ms' };

  it.each(OTHERS.slice(0, 3))('%s: its client gets an error with the link (BR-13)', async (method, params) => {
    await start(binary(), {}, { timeouts });
    const client = await RawClient.connect(wharf().mcp, '2025-11-25', { capabilities: PAGE });
    const request = await RawCall.of(client, method, params);
    const { id, params: asked } = await request.message((message) => message.method === 'elicitation/create');
    await client.post({ jsonrpc: '2.0', id, result: { action: 'accept' } });
    const { error } = await request.message((message) => message.error !== undefined);
    expect(error).toMatchObject({ data: { code: 'question_put_off' } });
    expect(error?.message).toMatch(/did not open it within 300 ms.*make the same request again, which then gets/s);
    expect(error?.message).toContain(asked?.url);
  });

  it.each(ROUNDS)(
    '%s: so does that of 2026-07-28; the same request made again gets the file (BR-13)',
    async (...request) => {
      const scan = { method: 'elicitation/create', params: binary() };
      const lab = await AskingServer.start({ scan }, { config: { timeouts } });
      const client = RawClient.stateless(lab.wharf.mcp, MODERN, { capabilities: PAGE });
      const [method, params] = request;
      const { requestState, inputRequests } = wanted(await client.request(method, params));
      const { url } = inputRequests?.[KEY]?.params ?? {};
      const inputResponses = { [KEY]: { action: 'accept' } };
      const { error } = await client.request(method, { ...params, requestState, inputResponses });
      expect(error).toMatchObject({ code: -32603, data: { code: 'question_put_off' } });
      expect(error?.message).toContain(url);
      expect(await upload(String(url))).toBe(201);
      const again = wanted(await client.request(method, params));
      const answer = heard(await client.request(method, { ...params, requestState: again.requestState }));
      expect(answer.scan).toMatchObject({ action: 'accept' });
      expect(lab.uploads).toHaveLength(1);
      await lab.stop();
    },
  );
});

describe('a server that asks its client’s model', () => {
  const data = Buffer.alloc(300_000, 7).toString('base64');
  const messages = [{ role: 'user', content: { type: 'image', data, mimeType: 'image/png' } }];

  it('sends an image of any size to it', async () => {
    const ask = { method: 'sampling/createMessage', params: { messages, maxTokens: 1 } };
    const own = await AskingServer.start({ ask });
    const client = RawClient.stateless(own.wharf.mcp, MODERN, { capabilities: { ...FORMS, sampling: {} } });
    const { inputRequests, requestState } = wanted(await call(client));
    expect(inputRequests).toEqual({ ask });
    const { result } = await call(client, { requestState, inputResponses: { ask: { role: 'assistant' } } });
    expect(JSON.stringify(result)).toContain('assistant');
    await own.stop();
  });

  it('does not hide a question to the person behind it', async () => {
    const ask = { method: 'sampling/createMessage', params: { messages, maxTokens: 1 } };
    const own = await AskingServer.start({ ask, scan: { method: 'elicitation/create', params: binary() } });
    const client = RawClient.stateless(own.wharf.mcp, MODERN, { capabilities: FORMS });
    const { error } = await call(client);
    expect(error?.message).toContain('it asks for input with more than 262.1 kB');
    await own.stop();
  });
});
