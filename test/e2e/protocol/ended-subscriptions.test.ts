import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient, readAnswer } from '../../helpers/raw-client.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { FaceProcess } from '../stdio-face-process.js';

/** Ends the subscription to a resource when its tool `end` is called with it; against MCP, `self` calls itself cancelled. */
const SERVER = `
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const listening = new Map();
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'tools/list') return say({ id, result: { resultType: 'complete', tools: [{ name: 'end', inputSchema: { type: 'object' } }] } });
  const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
  if (method === 'subscriptions/listen') {
    listening.set(params.notifications.resourceSubscriptions[0], id);
    return say({ method: 'notifications/subscriptions/acknowledged', params: { notifications: params.notifications, _meta } });
  }
  if (method !== 'tools/call') return;
  if (params.name === 'self') {
    say({ method: 'notifications/progress', params: { progressToken: params._meta.progressToken, progress: 1 } });
    say({ method: 'notifications/cancelled', params: { requestId: id } });
    return say({ id, result: { resultType: 'complete', content: [] } });
  }
  say({ method: 'notifications/cancelled', params: { requestId: listening.get(params.arguments.uri), reason: 'bye' } });
  say({ id, result: { resultType: 'complete', content: [] } });
});`;

const COMMAND = [process.execPath, '-e', SERVER];
const to = (uri: string) => ({ notifications: { resourceSubscriptions: [uri] } });

describe('a subscription that a stdio server ends', () => {
  let wharf: Wharf;

  beforeAll(async () => {
    wharf = await startWharf({ servers: { docs: { command: COMMAND } } });
  });

  afterAll(() => wharf?.stop());

  it('ends the stream of its own client over HTTP, which gets no message about it', async () => {
    const [first, second] = [0, 1].map(() => RawClient.stateless(wharf.mcp, '2026-07-28', {})) as [
      RawClient,
      RawClient,
    ];
    const ended = await first.open('subscriptions/listen', to('docs://a'));
    const stop = new AbortController();
    const other = await second.open('subscriptions/listen', to('docs://b'), {}, stop.signal);
    let isOver = false;
    const left = other.text().catch(() => {
      isOver = true;
    });
    await first.request('tools/call', { name: 'end', arguments: { uri: 'docs://a' } });
    const { messages } = await readAnswer(ended);
    expect(messages.map(({ method }) => method)).toEqual(['notifications/subscriptions/acknowledged']);
    expect(isOver).toBe(false);
    stop.abort();
    await left;
  });

  it('is the only request that it ends so: a call that it calls cancelled still has its answer', async () => {
    const client = RawClient.stateless(wharf.mcp, '2026-07-28', {});
    const { answer } = await client.request('tools/call', { name: 'self', _meta: { progressToken: 'p' } });
    expect(answer.messages.map(({ method, result }) => method ?? result)).toEqual([
      'notifications/progress',
      'notifications/cancelled',
      { resultType: 'complete', content: [] },
    ]);
  });
});

describe('a subscription that a stdio server ends, behind the stdio face', () => {
  let face: FaceProcess;

  afterEach(() => face.clean());

  it('is ended by the server’s own message under its client’s id, and has no other answer', async () => {
    face = await FaceProcess.start('--', ...COMMAND);
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'host', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const said = (name: string) => face.messages.filter(({ method }) => method === `notifications/${name}`);
    face.request(17, 'subscriptions/listen', { ...to('docs://a'), _meta });
    await until(() => said('subscriptions/acknowledged').length === 1);
    face.request(18, 'tools/call', { name: 'end', arguments: { uri: 'docs://a' }, _meta });
    await face.answer(18);
    expect(said('cancelled').map(({ params }) => params)).toEqual([{ requestId: 17, reason: 'bye' }]);
    face.request(19, 'tools/list', { _meta });
    await face.answer(19);
    expect(face.messages.filter(({ id }) => id === 17)).toEqual([]);
  });
});
