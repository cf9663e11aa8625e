import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PIXEL } from '../../helpers/pixel.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream, RpcError } from '../../helpers/recording-upstream.js';
import { freshName } from '../../helpers/services.js';
import type { Wharf } from '../../helpers/wharf.js';
import { startGatewayFor, TOOLS, textOf, uploadAll } from '../asking/lab.js';
import { asked, RawCall } from '../asking/raw-call.js';

const VERSION = '2025-11-25';
const FORM = { elicitation: {}, fileInputs: {} };
const PAGE = { elicitation: { url: {} } };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const picture = `data:image/png;base64,${PIXEL.toString('base64')}`;

let upstream: RecordingUpstream;
let wharf: Wharf;

beforeAll(async () => {
  upstream = await RecordingUpstream.start({
    methods: {
      'tools/list': (_, { headers: { authorization } }) => {
        if (String(authorization).includes('made-up')) throw new RpcError(-32001, 'no such token', undefined, 401);
        return { tools: TOOLS };
      },
      'tools/call': ({ arguments: given }) => ({ content: [{ type: 'text', text: JSON.stringify(given) }] }),
    },
  });
  wharf = await startGatewayFor(upstream, { config: { auth: { use: 'passthrough' } } });
});

afterAll(async () => {
  await wharf?.stop();
  await upstream?.stop();
});

let tokens = 0;
const calls = () => upstream.with('tools/call').length;

/** A call with the first token that waits for its file, and the same session with another token. */
async function begin(
  capabilities: object,
  token = `renewed-${tokens++}`,
  { at, elsewhere }: { at: Wharf; elsewhere: Wharf } = { at: wharf, elsewhere: wharf },
) {
  const headers = bearer('first');
  const { call, question } = asked(
    await RawCall.begin(at.mcp, 'take', {}, { capabilities: { ...capabilities }, headers }),
  );
  const renewed = RawClient.of(elsewhere.mcp, VERSION, {
    ...(token === '' ? {} : bearer(token)),
    'mcp-session-id': String(call.client.session),
  });
  const { id, params } = await question();
  return { call, renewed, id, params };
}

describe('a client that renews its token while a call of its waits for a file (passthrough)', () => {
  it.each(['accept', 'decline', 'cancel'])(
    'is heard when it answers with %s, and the server is not',
    async (action) => {
      const { call, renewed, id } = await begin(FORM);
      const before = calls();
      const result = { action, ...(action === 'accept' && { content: { file: picture } }) };
      expect((await renewed.post({ jsonrpc: '2.0', id, result })).status).toBe(202);
      const answer = await call.result();
      expect(answer.isError ?? false).toBe(action !== 'accept');
      if (action === 'accept') expect(JSON.parse(textOf(answer)).file).toBe(PIXEL.toString('base64'));
      expect(calls() - before).toBe(action === 'accept' ? 1 : 0);
      expect(upstream.requests.some(({ body }) => body.includes(String(id)))).toBe(false);
    },
  );

  it('cancels the call, whose link then takes nothing', async () => {
    const { renewed, call, params } = await begin(PAGE);
    await renewed.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: call.id } });
    expect(await call.broken()).toBe(false);
    expect(await uploadAll(String(params?.url), [['a.png', PIXEL]])).toBe(410);
  });

  it('is not heard in another session', async () => {
    const { call, id } = await begin(FORM);
    const other = await RawClient.connect(wharf.mcp, VERSION, { capabilities: FORM, headers: bearer('second') });
    await other.post({ jsonrpc: '2.0', id, result: { action: 'decline' } });
    await call.client.post({ jsonrpc: '2.0', id, result: { action: 'accept', content: { file: picture } } });
    expect((await call.result()).isError).toBeUndefined();
  });
});

describe('a token of the same session that the server refuses', () => {
  it.each(['made-up', ''])('answers no question and cancels no call ("%s")', async (token) => {
    const { call, renewed, id } = await begin(FORM, token);
    const requestId = call.id;
    const told = { progressToken: id, progress: 1 };
    for (const message of [
      { id, result: { action: 'decline' } },
      { method: 'notifications/cancelled', params: { requestId } },
      { method: 'notifications/progress', params: told },
    ]) {
      expect((await renewed.post({ jsonrpc: '2.0', ...message })).status).toBe(401);
    }
    await call.client.post({ jsonrpc: '2.0', id, result: { action: 'accept', content: { file: picture } } });
    expect((await call.result()).isError).toBeUndefined();
  });

  it('leaves the page of the call open', async () => {
    const { call, renewed, params } = await begin(PAGE, 'made-up');
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: call.id } };
    expect((await renewed.post(cancelled)).status).toBe(401);
    const page = await fetch(String(params?.url), { headers: { accept: 'application/json' } });
    expect(await page.json()).toMatchObject({ status: 'open' });
  });

  it.each([
    ['made-up', 401],
    ['', 401],
    ['taken', 204],
  ])('ends no session that the server has no id of ("%s": %i)', async (token, status) => {
    const { client } = await RawCall.begin(wharf.mcp, 'take', { file: picture }, { headers: bearer('first') });
    const session = { 'mcp-session-id': String(client.session) };
    const other = RawClient.of(wharf.mcp, VERSION, { ...(token === '' ? {} : bearer(token)), ...session });
    expect(await other.delete()).toBe(status);
    expect(await client.delete()).toBe(status === 204 ? 404 : 204);
  });

  it('is judged once for all that it then says, as is one that the server takes', async () => {
    const { call, renewed, id } = await begin(FORM);
    const before = upstream.with('tools/list').length;
    for (const progress of [1, 2, 3])
      await renewed.post({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: id, progress } });
    await renewed.post({ jsonrpc: '2.0', id, result: { action: 'decline' } });
    await call.result();
    expect(upstream.with('tools/list').length - before).toBe(1);
  });
});

it('a call that waits at another replica is cancelled by a token that the server takes, and by no other', async () => {
  const shared = { stores: 's3+redis', bucket: freshName('renewed'), keyPrefix: `${freshName('renewed')}:` } as const;
  const config = { auth: { use: 'passthrough' } };
  const at = await startGatewayFor(upstream, { ...shared, config });
  const elsewhere = await startGatewayFor(upstream, { ...shared, config });
  try {
    const { call, renewed } = await begin(PAGE, 'made-up', { at, elsewhere });
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: call.id } };
    expect((await renewed.post(cancelled)).status).toBe(401);
    const session = { 'mcp-session-id': String(call.client.session) };
    const other = RawClient.of(elsewhere.mcp, VERSION, { ...bearer('taken'), ...session });
    expect(call.messages.filter(({ id, method }) => id === call.id && method === undefined)).toEqual([]);
    expect((await other.post(cancelled)).status).toBe(202);
    expect(await call.broken()).toBe(false);
  } finally {
    await at.stop();
    await elsewhere.stop();
  }
});
