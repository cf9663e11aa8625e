import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

/** JSON-RPC 2.0, section 5: the id of an answer is that of its request, unless that could not be found out. */
let fake: FakeUpstream;
let wharf: Wharf;

beforeAll(async () => {
  fake = await startFakeUpstream({ transport: 'json', session: false });
  wharf = await startWharf({
    servers: { fake: { url: fake.url, transport: 'streamable-http' } },
    config: { callers: [{ limits: { requestsPerMinute: 100 } }] },
  });
});

afterAll(async () => {
  await wharf?.stop();
  await fake?.close();
});

async function refusal(body: string, path = '/fake/mcp'): Promise<{ code: string; id: unknown }> {
  const response = await fetch(`${wharf.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body,
  });
  const { id, error } = (await response.json()) as { id?: unknown; error?: { data?: { code: string } } };
  return { code: error?.data?.code ?? '', id };
}

describe('the answer to a request that is refused has its id', () => {
  it.each([
    ['params that are a list', { id: 1, method: 'ping', params: [1] }],
    ['params that are a text', { id: 'a', method: 'ping', params: 'x' }],
    ['a tool whose name is a list', { id: 3, method: 'tools/call', params: { name: ['take'] } }],
    ['a method that is a list', { id: 6, method: ['ping'] }],
    ['a method that is an object', { id: 'm', method: { ping: 1 } }],
    ['another spelling of a method', { id: 4, method: 'Tools/Call', params: { name: 'take' } }],
  ])('of %s', async (_, message) => {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    expect(await refusal(text)).toEqual({ code: 'request_invalid', id: message.id });
  });

  it('at a server that does not exist', async () => {
    const text = '{"jsonrpc":"2.0","id":5,"method":"ping"}';
    expect(await refusal(text, '/other/mcp')).toEqual({ code: 'server_unknown', id: 5 });
    expect(await refusal(text, '/fake/mcp/')).toEqual({ code: 'route_unknown', id: 5 });
  });
});

describe('the answer to a request that is refused has no id', () => {
  it.each([
    ['that is an object', '{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}'],
    ['that is too long', `{"jsonrpc":"2.0","id":"${'a'.repeat(2000)}","method":"ping"}`],
    ['in JSON that breaks off', '{"jsonrpc":"2.0","id":5,"method":"ping"'],
    ['of a batch as a whole', '[{"jsonrpc":"2.0","id":5,"method":"ping","params":[]}]'],
    ['of a notification', '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"take"}}'],
  ])('%s', async (_, text) => {
    expect((await refusal(text)).id).toBeUndefined();
  });
});

describe('the answer to a request of too many', () => {
  it('has its id', async () => {
    const text = '{"jsonrpc":"2.0","id":"late","method":"ping","params":[]}';
    const refusals: Awaited<ReturnType<typeof refusal>>[] = [];
    for (let count = 0; count < 101; count++) refusals.push(await refusal(text));
    expect(refusals.at(-1)).toEqual({ code: 'rate_limited', id: 'late' });
  });
});
