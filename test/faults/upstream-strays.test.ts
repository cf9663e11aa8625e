import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type FakeUpstream, type ScriptedAnswer, startFakeUpstream } from '../helpers/fake-upstream.js';
import { gauge } from '../helpers/fault-checks.js';
import { RawClient } from '../helpers/raw-client.js';
import { until } from '../helpers/wait.js';
import { startWharf, type Wharf } from '../helpers/wharf.js';

/** A result of some other caller's. */
const stray = (id: unknown) => JSON.stringify({ result: { prompts: [{ name: 'secret' }] }, jsonrpc: '2.0', id });
const long = (id: unknown) => JSON.stringify({ result: { note: 'secret'.repeat(20_000) }, jsonrpc: '2.0', id });
const failed = (id: unknown) => JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32602, message: 'secret' } });
const event = (message: string) => `event: message\ndata: ${message}\n\n`;

const JSON_TYPE = { contentType: 'application/json' };
const SSE_TYPE = { contentType: 'text/event-stream' };

describe('a server that answers a request with the answer to another one', () => {
  let fake: FakeUpstream;
  let wharf: Wharf;
  let client: RawClient;

  beforeEach(async () => {
    fake = await startFakeUpstream();
    wharf = await startWharf({ servers: { one: { url: fake.url, transport: 'streamable-http' } } });
    client = await RawClient.connect(wharf.mcp);
  });
  afterEach(async () => {
    await wharf.stop();
    await fake.close();
  });

  const ask = (id: unknown) => client.post({ jsonrpc: '2.0', id, method: 'prompts/list' });
  const last = () => fake.requests.at(-1)?.connection;

  it.each<[string, ScriptedAnswer, string]>([
    ['JSON', { ...JSON_TYPE, body: stray(6) }, 'upstream_invalid'],
    [
      'JSON with its id first',
      { ...JSON_TYPE, body: '{"jsonrpc":"2.0","id":6,"result":{"a":"secret"}}' },
      'upstream_invalid',
    ],
    [
      'JSON that comes in parts',
      { ...JSON_TYPE, body: stray(6), framing: 'chunked', chunk: 30, gapMs: 5 },
      'upstream_invalid',
    ],
    ['long JSON', { ...JSON_TYPE, body: long(6) }, 'upstream_invalid'],
    ['JSON without a type', { body: stray(6) }, 'upstream_invalid'],
    ['an error', { ...JSON_TYPE, body: failed(6) }, 'upstream_invalid'],
    ['an event', { ...SSE_TYPE, body: event(stray(6)) }, 'upstream_closed'],
    ['an event with an error', { ...SSE_TYPE, body: event(failed(6)) }, 'upstream_closed'],
    [
      'an event that comes in parts',
      { ...SSE_TYPE, body: event(stray(6)), framing: 'chunked', chunk: 30, gapMs: 5 },
      'upstream_closed',
    ],
    ['a long event', { ...SSE_TYPE, body: event(long(6)), framing: 'chunked' }, 'upstream_closed'],
  ])('gives none of it away, and is asked no more on that connection: %s (G13)', async (_, answer, code) => {
    await ask(5);
    const before = last();
    fake.queue.push(answer);
    const { text, messages } = await ask(7);
    expect(text).not.toContain('secret');
    expect(messages).toMatchObject([{ id: 7, error: { data: { code } } }]);
    expect(last()).toBe(before);
    // the answers to the following ones would come one too late
    const { messages: next } = await ask(8);
    expect(next).toMatchObject([{ id: 8, result: {} }]);
    expect(last()).not.toBe(before);
    await until(() => fake.openConnections === 1);
  });

  const own = (id: unknown) => JSON.stringify({ result: { own: true }, jsonrpc: '2.0', id });
  const ofTwo = [7, 8].map((id) => ({ jsonrpc: '2.0', id, method: 'prompts/list' }));

  it.each<[string, unknown, ScriptedAnswer]>([
    ['in a list, as JSON', ofTwo[0], { ...JSON_TYPE, body: `[${stray(5)}]` }],
    ['in a list, as an event', ofTwo[0], { ...SSE_TYPE, body: event(`[${stray(5)},${stray(6)}]`) }],
    ['in a list, long', ofTwo[0], { ...JSON_TYPE, body: `[${long(5)}]` }],
    ['in a list, as errors', ofTwo[0], { ...JSON_TYPE, body: `[${failed(5)},${failed(6)}]` }],
    ['beside the right one', ofTwo[0], { ...JSON_TYPE, body: `[${own(7)},${stray(6)}]` }],
    [
      'beside the right one, with ids first',
      ofTwo[0],
      { ...JSON_TYPE, body: `[{"jsonrpc":"2.0","id":7,"result":{}},${stray(6)}]` },
    ],
    ['in a list, to a batch', ofTwo, { ...JSON_TYPE, body: `[${stray(5)},${stray(6)}]` }],
    ['in a list, to a batch, as an event', ofTwo, { ...SSE_TYPE, body: event(`[${stray(5)},${stray(6)}]`) }],
    ['alone, to a batch', ofTwo, { ...JSON_TYPE, body: stray(6) }],
    ['beside one of two, to a batch', ofTwo, { ...JSON_TYPE, body: `[${own(8)},${stray(6)}]` }],
  ])('gives none of it away where several come together: %s (G13)', async (_, asked, answer) => {
    const older = await RawClient.connect(wharf.mcp, '2025-03-26');
    const before = last();
    fake.queue.push(answer);
    const { text, messages } = await older.post(asked);
    expect(text).not.toContain('secret');
    const wanted = Array.isArray(asked) ? [7, 8] : [7];
    expect(messages.flat().map((message) => Object.keys(message as object).includes('error'))).toEqual(
      wanted.map(() => true),
    );
    await older.post({ jsonrpc: '2.0', id: 9, method: 'prompts/list' });
    expect(last()).not.toBe(before);
  });

  it('gives none of it to a client that only notifies', async () => {
    const before = last();
    fake.queue.push({ ...JSON_TYPE, body: stray(6) });
    const { status, text } = await client.post({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' });
    expect(status).toBeLessThan(300);
    expect(text).not.toContain('secret');
    await ask(8);
    expect(last()).not.toBe(before);
  });

  it('passes on the right one behind it in a body of known length', async () => {
    fake.queue.push({ ...SSE_TYPE, body: event(stray(6)) + event(own(7)) });
    const { text, messages } = await ask(7);
    expect(text).not.toContain('secret');
    expect(messages).toEqual([{ jsonrpc: '2.0', id: 7, result: { own: true } }]);
  });

  it('passes on a list that answers a batch, in any order and spelling', async () => {
    const older = await RawClient.connect(wharf.mcp, '2025-03-26');
    const body = '[{"jsonrpc":"2.0","id":"8","result":{}},{"jsonrpc":"2.0","id":7.0,"result":{}}]';
    for (const answer of [
      { ...JSON_TYPE, body },
      { ...SSE_TYPE, body: event(body) },
    ]) {
      fake.queue.push(answer);
      expect((await older.post(ofTwo)).text).toContain(body);
    }
  });

  it('passes on the right one behind it', async () => {
    fake.queue.push({ ...SSE_TYPE, body: event(stray(6)) + event('{"jsonrpc":"2.0","id":7,"result":{"own":true}}') });
    const { text, messages } = await ask(7);
    expect(text).not.toContain('secret');
    expect(messages).toEqual([{ jsonrpc: '2.0', id: 7, result: { own: true } }]);
  });

  it('fills no log, however many of them come in one stream', async () => {
    const many = Array.from({ length: 500 }, (_, at) => event(stray(`no${at}`))).join('');
    fake.queue.push({ ...SSE_TYPE, body: many + event(own(7)) });
    expect((await ask(7)).messages).toMatchObject([{ id: 7, result: { own: true } }]);
    expect(wharf.lines.filter(({ text }) => text.includes('another request'))).toHaveLength(10);
    const dropped = 'wharf_dropped_messages_total{server="one",reason="other_request"}';
    expect(await gauge(wharf.adminUrl, dropped)).toBe(500);
  });

  it.each([
    ['an id in the other spelling', 7, '{"jsonrpc":"2.0","id":"7","result":{}}'],
    ['a number in another spelling', 7, '{"jsonrpc":"2.0","result":{},"id":7.0}'],
    ['a text in another spelling', 'é', '{"jsonrpc":"2.0","id":"\\u00e9","result":{}}'],
    ['an id among other members', 7, '{"jsonrpc":"2.0","result":{},"id":7,"x":{"id":6}}'],
    ['an error without an id', 7, '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}'],
    [
      'an error with an id of its own',
      7,
      '{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"no"}}',
    ],
    ['an error with the id of no request', 7, '{"jsonrpc":"2.0","id":0,"error":{"code":-32600,"message":"no"}}'],
    ['an error with the same id always', 7, '{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"no"}}'],
    ['an error to a text', 'a', '{"jsonrpc":"2.0","id":6,"error":{"code":-32600,"message":"no"}}'],
    ['blanks', 7, ' { "jsonrpc" : "2.0" , "result" : {} , "id" : 7 } \n'],
  ])('is believed where it may be the right one: %s', async (_, id, body) => {
    for (const answer of [
      { ...JSON_TYPE, body },
      { ...SSE_TYPE, body: event(body.trim()) },
    ]) {
      fake.queue.push(answer);
      expect((await ask(id)).text).toContain(body.trim());
    }
  });
});
