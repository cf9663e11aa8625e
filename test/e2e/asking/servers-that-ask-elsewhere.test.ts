import { afterEach, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf } from '../../helpers/wharf.js';
import { AskingServer, call as callOf, MODERN, wanted } from './input-lab.js';
import { discover, PNG } from './lab.js';
import { RawCall } from './raw-call.js';
import { binary, FORMS, parts, start, stop, toldIn, URI, wharf } from './server-lab.js';

const OTHERS = [
  ['prompts/get', { name: 'p' }],
  ['resources/read', { uri: 'docs://a' }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } }],
  ['tasks/result', { taskId: 'a' }],
] as const;

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

  it('is told on 2026-07-28 only of what its client knows, where its questions reach the client as they come', async () => {
    const capabilities = { tools: {}, prompts: {}, resources: {} };
    const upstream = await RecordingUpstream.start({
      tools: [],
      methods: { 'server/discover': () => ({ ...discover(), capabilities }) },
    });
    const own = await startWharf({ servers: { docs: { url: upstream.url, transport: 'streamable-http' } } });
    const client = RawClient.stateless(own.mcp, MODERN, { capabilities: FORMS });
    for (const [method, params, binaryMode] of [
      ['prompts/get', { name: 'p' }, undefined],
      ['resources/read', { uri: 'docs://a' }, undefined],
      ['tools/call', { name: 't', arguments: {} }, expect.any(Object)],
    ] as const) {
      await client.request(method, params);
      const meta = upstream.with(method).at(-1)?.params._meta as Record<string, { elicitation: { binary?: object } }>;
      expect(meta['io.modelcontextprotocol/clientCapabilities']?.elicitation.binary).toEqual(binaryMode);
    }
    await own.stop();
    await upstream.stop();
  });
});

describe('a server that asks its client’s model', () => {
  const data = Buffer.alloc(300_000, 7).toString('base64');
  const messages = [{ role: 'user', content: { type: 'image', data, mimeType: 'image/png' } }];

  it('sends an image of any size to it', async () => {
    const ask = { method: 'sampling/createMessage', params: { messages, maxTokens: 1 } };
    const own = await AskingServer.start({ ask });
    const client = RawClient.stateless(own.wharf.mcp, MODERN, { capabilities: { ...FORMS, sampling: {} } });
    const { inputRequests, requestState } = wanted(await callOf(client));
    expect(inputRequests).toEqual({ ask });
    const { result } = await callOf(client, { requestState, inputResponses: { ask: { role: 'assistant' } } });
    expect(JSON.stringify(result)).toContain('assistant');
    await own.stop();
  });

  it('does not hide a question to the person behind it', async () => {
    const ask = { method: 'sampling/createMessage', params: { messages, maxTokens: 1 } };
    const own = await AskingServer.start({ ask, scan: { method: 'elicitation/create', params: binary() } });
    const client = RawClient.stateless(own.wharf.mcp, MODERN, { capabilities: FORMS });
    const { error } = await callOf(client);
    expect(error?.message).toContain('it asks for input with more than 262.1 kB');
    await own.stop();
  });
});
