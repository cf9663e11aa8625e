import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { gate } from '../../helpers/gate.js';
import { RawClient } from '../../helpers/raw-client.js';
import { freshName } from '../../helpers/services.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const VERSION = '2025-06-18';

let fake: FakeUpstream;
let one: Wharf;
let two: Wharf;

beforeEach(async () => {
  fake = await startFakeUpstream({ transport: 'sse', session: true });
  const servers = { fake: { url: fake.url, transport: 'streamable-http' } };
  const shared = { servers, stores: 's3+redis', bucket: freshName('cancelled') } as const;
  const keyPrefix = `${freshName('cancelled')}:`;
  one = await startWharf({ ...shared, keyPrefix });
  two = await startWharf({ ...shared, keyPrefix });
});

afterEach(async () => {
  await Promise.all([one?.stop(), two?.stop()]);
  await fake?.close();
});

const call = (id: number, name: string) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } });
const cancel = (requestId: number) => ({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
const isCall = ({ body }: { body: Buffer }) => body.includes('"tools/call"');
const isList = ({ body }: { body: Buffer }) => body.includes('"tools/list"');

/** The same client, as a balancer sends its request to the other replica. */
const atTwo = (client: RawClient) => RawClient.of(two.mcp, VERSION, { 'mcp-session-id': String(client.session) });

describe('a call that its client cancels at another replica', () => {
  it.each([
    ['ends', {}],
    ['breaks off', { cut: 'rst' }],
  ] as const)('gets no error when its stream %s without an answer', async (_, end) => {
    const cancelled = gate();
    const stream = { contentType: 'text/event-stream', framing: 'chunked', body: ': working\n\n', ...end } as const;
    fake.respond = (request) => (isCall(request) ? { after: cancelled.opened, ...stream } : undefined);
    const client = await RawClient.connect(one.mcp, VERSION);
    const called = client.post(call(7, 'echo'));
    await until(() => fake.requests.some(isCall));
    expect((await atTwo(client).post(cancel(7))).status).toBe(202);
    cancelled.open();
    expect((await called).messages).toEqual([]);
    // a call that is not cancelled is told of the same end
    expect((await client.post(call(8, 'echo'))).messages).toMatchObject([
      { id: 8, error: { data: { code: 'upstream_closed' } } },
    ]);
  });

  it('is not made where its server has not been sent it', async () => {
    const cancelled = gate();
    const list = '{"jsonrpc":"2.0","id":"wharf-1","result":{"tools":[]}}';
    fake.respond = (request) =>
      isList(request) ? { after: cancelled.opened, contentType: 'application/json', body: list } : undefined;
    const client = await RawClient.connect(one.mcp, VERSION);
    const called = client.post(call(7, 'echo'));
    await until(() => fake.requests.some(isList));
    await atTwo(client).post(cancel(7));
    cancelled.open();
    expect(await called).toMatchObject({ status: 202, text: '' });
    expect(fake.requests.filter(isCall)).toEqual([]);
  });
});

it('a call is made all the same that another session has cancelled by the same id', async () => {
  const listed = gate();
  const list = '{"jsonrpc":"2.0","id":"wharf-1","result":{"tools":[]}}';
  fake.respond = (request) =>
    isList(request) ? { after: listed.opened, contentType: 'application/json', body: list } : undefined;
  const [client, other] = [await RawClient.connect(one.mcp, VERSION), await RawClient.connect(one.mcp, VERSION)];
  const called = client.post(call(7, 'echo'));
  await until(() => fake.requests.some(isList));
  await atTwo(other).post(cancel(7));
  listed.open();
  expect((await called).messages.at(-1)).toMatchObject({ id: 7, result: {} });
});
