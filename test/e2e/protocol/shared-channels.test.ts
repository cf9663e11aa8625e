import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { gauge } from '../../helpers/fault-checks.js';
import { isRunning } from '../../helpers/is-running.js';
import { RawClient, type RawMessage, readAnswer } from '../../helpers/raw-client.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

/** A stdio server whose tools do on the channel what their names say. */
const SCRIPT = fileURLToPath(new URL('../../../../test/helpers/talkative-server.fixture.mjs', import.meta.url));

let wharf: Wharf;

const start = () => startWharf({ servers: { talkative: { command: [process.execPath, SCRIPT] } } });

beforeAll(async () => {
  wharf = await start();
});

afterAll(() => wharf?.stop());

/** Reads a stream's messages as they come. */
async function* messagesOf(response: Response): AsyncGenerator<RawMessage> {
  let text = '';
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString();
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const data = text
        .slice(0, end)
        .split('\n')
        .find((line) => line.startsWith('data: '));
      text = text.slice(end + 2);
      if (data) yield JSON.parse(data.slice(6)) as RawMessage;
    }
  }
}

/** Sends a request. Its answer begins once the server has it. */
const begin = (client: RawClient, message: object) =>
  fetch(wharf.mcp, {
    method: 'POST',
    headers: { ...client.headers(), 'content-type': 'application/json' },
    body: JSON.stringify(message),
  });

const openGet = (client: RawClient) =>
  fetch(wharf.mcp, { headers: { ...client.headers(), accept: 'text/event-stream' } });

/** How many messages found no stream. */
const dropped = async ({ adminUrl } = wharf) =>
  (await gauge(adminUrl, 'wharf_dropped_messages_total{server="talkative",reason="no_stream"}')) || 0;

const held = () => gauge(wharf.adminUrl, 'wharf_held_bytes');

describe('a session over stdio', () => {
  it('routes each answer to the POST that asked, whatever their order', async () => {
    const client = await RawClient.connect(wharf.mcp);
    const [slow, fast] = await Promise.all([
      client.call('wait', { ms: 300, say: 'slow' }),
      client.call('wait', { ms: 10, say: 'fast' }),
    ]);
    expect(slow.result?.content?.[0]?.text).toBe('slow');
    expect(fast.result?.content?.[0]?.text).toBe('fast');
  });

  it('routes progress by its token while two requests are open', async () => {
    const client = await RawClient.connect(wharf.mcp);
    const call = (token: string) =>
      client.request('tools/call', { name: 'progress', arguments: {}, _meta: { progressToken: token } });
    const [a, b] = await Promise.all([call('a'), call('b')]);
    for (const [answer, token] of [
      [a, 'a'],
      [b, 'b'],
    ] as const) {
      const tokens = answer.answer.messages
        .filter(({ method }) => method === 'notifications/progress')
        .map(({ params }) => params?.progressToken);
      expect(tokens).toEqual([token, token]);
    }
  });

  it('brings a server’s request to the only open POST, and its answer back', async () => {
    const client = await RawClient.connect(wharf.mcp);
    const answer = messagesOf(await client.open('tools/call', { name: 'ask', arguments: {} }));
    // the request has id 0, as the official SDK's first one does
    expect((await answer.next()).value).toMatchObject({ method: 'roots/list', id: 0 });
    await client.post({ jsonrpc: '2.0', id: 0, result: { roots: [{ uri: 'file:///tmp' }] } });
    const { value } = await answer.next();
    expect(value?.result?.content?.[0]?.text).toContain('file:///tmp');
    expect((await answer.next()).done).toBe(true);
  });

  it('prefers the GET stream for what belongs to no request', async () => {
    const client = await RawClient.connect(wharf.mcp);
    const stream = messagesOf(await openGet(client));
    const called = client.call('notify', {});
    expect((await stream.next()).value).toMatchObject({ method: 'notifications/resources/list_changed' });
    expect((await called).answer.messages).toHaveLength(1);
    await stream.return(undefined);
  });

  it('tells a client that opens its stream later, once, which lists have changed meanwhile', async () => {
    const client = await RawClient.connect(wharf.mcp);
    const before = await dropped();
    await client.call('change-later', {});
    // by the metric: it counts what the server said last
    await until(async () => (await dropped()) > before);
    const first = messagesOf(await openGet(client));
    const told = [await first.next(), await first.next(), await first.next()];
    expect(told.map(({ value }) => value?.method)).toEqual(
      ['tools', 'prompts', 'resources'].map((list) => `notifications/${list}/list_changed`),
    );
    await client.call('notify', {});
    expect((await first.next()).value).toMatchObject({ method: 'notifications/resources/list_changed' });
    await first.return(undefined);
    await until(async () => {
      const answer = await openGet(client);
      if (answer.status === 409) return false;
      await client.call('ask-later', {});
      const again = messagesOf(answer);
      // nothing of before comes first
      expect((await again.next()).value).toMatchObject({ id: 'later' });
      await again.return(undefined);
      return true;
    });
  });

  it('has one GET stream only', async () => {
    const client = await RawClient.connect(wharf.mcp);
    const first = await openGet(client);
    expect((await openGet(client)).status).toBe(409);
    await first.body?.cancel();
  });

  it('answers a server’s request that can reach no client with an error, after 5 s', async () => {
    const client = await RawClient.connect(wharf.mcp);
    const before = await dropped();
    const begun = performance.now();
    await client.call('ask-later', {});
    // by the metric: a call to ask for it would be a stream on which the request reaches the client
    await until(async () => (await dropped()) > before);
    expect(performance.now() - begun).toBeGreaterThan(4900);
    const { result } = await client.call('what-came-back', {});
    expect(result?.content?.[0]?.text).toMatch(/no stream open/);
  });

  it('answers those that come together with an error, 5 s after they came', async () => {
    const client = await RawClient.connect(wharf.mcp);
    const before = await dropped();
    const other = await start();
    try {
      const later = await RawClient.connect(other.mcp);
      await client.call('ask-often-later', { times: 4 });
      await until(async () => (await held()) > 0);
      await later.call('ask-later', {});
      await until(async () => (await dropped(other)) > 0);
      // a later one has had its 5 s; one after the other, the last of them would have waited for 20
      expect(await dropped()).toBeGreaterThanOrEqual(before + 4);
    } finally {
      await other.stop();
    }
  });

  it('reads no more of them than it may keep, and forgets them with the session', async () => {
    const client = await RawClient.connect(wharf.mcp);
    await client.call('ask-often-later', { times: 40_000 });
    await until(async () => (await held()) > 0);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(await held()).toBeLessThan(4_000_000);
    await fetch(wharf.mcp, { method: 'DELETE', headers: client.headers() });
    await until(async () => (await held()) === 0);
  });

  it('ends the stream of a call that its client cancelled, and lets its id go', async () => {
    const client = await RawClient.connect(wharf.mcp);
    const call = (ms: number, say: string) =>
      begin(client, { jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'wait', arguments: { ms, say } } });
    const cancelled = await call(600_000, 'never');
    await client.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } });
    expect((await readAnswer(cancelled)).messages).toEqual([]);
    const [again] = (await readAnswer(await call(10, 'again'))).messages;
    expect(again?.result?.content?.[0]?.text).toBe('again');
  });

  it('ends the stream of a batch that cancels a call of its own', async () => {
    const client = await RawClient.connect(wharf.mcp, '2025-03-26');
    const call = (id: number, ms: number, say: string) => {
      return { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'wait', arguments: { ms, say } } };
    };
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 8 } };
    const { messages } = await client.post([call(7, 10, 'done'), call(8, 60_000, 'never'), cancel]);
    expect(messages.map(({ id, result }) => [id, result?.content?.[0]?.text])).toEqual([[7, 'done']]);
  });

  it('brings the answer of a server that answers a cancelled call all the same', async () => {
    const client = await RawClient.connect(wharf.mcp);
    const params = { name: 'wait', arguments: { ms: 1000, say: 'too late' } };
    const call = await begin(client, { jsonrpc: '2.0', id: 6, method: 'tools/call', params });
    await client.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 6 } });
    expect((await readAnswer(call)).messages[0]?.result?.content?.[0]?.text).toBe('too late');
  });

  it('passes over lines that are not messages', async () => {
    const client = await RawClient.connect(wharf.mcp);
    const { result } = await client.call('noise', {});
    expect(result?.content?.[0]?.text).toBe('after the noise');
  });

  it('waits on when the server repeats the id of a request, and answers nothing', async () => {
    const client = await RawClient.connect(wharf.mcp);
    const { result, answer } = await client.call('log-request', {});
    expect(result?.content?.[0]?.text).toBe('after the log');
    expect(answer.messages).toHaveLength(1);
  });

  it.each(['2.50', '1.5e300', '1E-7'])(
    'takes the answer to the id %s, which its server spells otherwise',
    async (id) => {
      const client = await RawClient.connect(wharf.mcp);
      const { messages } = await client.post(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`);
      expect(messages).toEqual([{ jsonrpc: '2.0', id: Number(id), result: {} }]);
    },
  );

  it.each([
    ['text-id', 5, 'by its text'],
    ['number-id', '5', 'by its number'],
  ])('takes an answer whose id is written otherwise, and gives it its own: %s', async (name, id, said) => {
    const client = await RawClient.connect(wharf.mcp);
    const { messages } = await client.post({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name, arguments: {} },
    });
    expect(messages).toEqual([expect.objectContaining({ id })]);
    expect(messages[0]?.result?.content?.[0]?.text).toBe(said);
  });

  it('answers with an error when the answer is not JSON', async () => {
    const client = await RawClient.connect(wharf.mcp);
    const { error } = await client.call('broken', {});
    expect(error?.data?.code).toBe('upstream_invalid');
  });

  it.each([
    ['an id', { id: 'x'.repeat(1025), params: {} }],
    ['a progress token', { id: 1, params: { _meta: { progressToken: 'x'.repeat(1025) } } }],
  ])('refuses %s that is too long, and names it', async (what, more) => {
    const client = await RawClient.connect(wharf.mcp);
    const answer = await client.post({ jsonrpc: '2.0', method: 'tools/call', ...more });
    expect(answer.status).toBe(400);
    expect(answer.messages[0]?.error?.message).toBe(
      `Invalid request: ${what} has at most 1024 bytes, and this one has 1027.`,
    );
  });

  it('gives an error to who waits when the process dies, and 404 after that', async () => {
    const client = await RawClient.connect(wharf.mcp);
    const { error } = await client.call('die', {});
    expect(error).toMatchObject({ code: -32603, data: { code: 'upstream_closed' } });
    expect((await client.post({ jsonrpc: '2.0', id: 9, method: 'ping' })).status).toBe(404);
    const again = await RawClient.connect(wharf.mcp);
    expect((await again.call('wait', { ms: 0, say: 'up' })).result?.content?.[0]?.text).toBe('up');
  });

  it('warns once of a process that dies: in the line of the call that waits, or in one of its own', async () => {
    const warned = (from: number) => wharf.lines.slice(from).filter(({ level }) => level === 'warn');
    const busy = await RawClient.connect(wharf.mcp);
    const before = wharf.lines.length;
    await busy.call('die', {});
    await until(() => wharf.lines.slice(before).some(({ fields }) => fields.error === 'upstream_closed'));
    expect(warned(before)).toMatchObject([
      { text: 'an exchange failed', fields: { name: 'die', code: 'upstream_closed' } },
    ]);

    const idle = await RawClient.connect(wharf.mcp);
    const { result } = await idle.call('pid', {});
    const [later, pid] = [wharf.lines.length, Number(result?.content?.[0]?.text)];
    process.kill(pid, 'SIGKILL');
    await until(() => warned(later).length > 0);
    expect(warned(later)).toMatchObject([
      {
        text: 'the channel broke off',
        fields: { code: 'upstream_closed', err: { message: expect.stringContaining('signal SIGKILL') } },
      },
    ]);

    const ended = await RawClient.connect(wharf.mcp);
    const last = wharf.lines.length;
    await ended.delete();
    expect(warned(last)).toEqual([]);
  });

  it('is over after DELETE, and its process gone', async () => {
    const client = await RawClient.connect(wharf.mcp);
    const { result } = await client.call('pid', {});
    const pid = Number(result?.content?.[0]?.text);
    expect(await client.delete()).toBe(204);
    await until(async () => !isRunning(pid));
    expect((await client.post({ jsonrpc: '2.0', id: 9, method: 'ping' })).status).toBe(404);
  });

  it('needs a session to be spoken to', async () => {
    const client = RawClient.stateless(wharf.mcp, '2025-06-18');
    const answer = await client.post({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    expect(answer.status).toBe(400);
    expect(answer.messages[0]).toMatchObject({ id: 1, error: { data: { code: 'session_required' } } });
  });

  it('tells a client that its answer is coming, before the server has said anything', async () => {
    const client = await RawClient.connect(wharf.mcp);
    const left = new AbortController();
    const never = { name: 'wait', arguments: { ms: 60_000, say: 'never' } };
    const response = await client.open('tools/call', never, {}, left.signal);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    left.abort();
  });

  it('answers in JSON to a client that takes nothing else', async () => {
    const client = await RawClient.connect(wharf.mcp);
    const answer = await client.post({ jsonrpc: '2.0', id: 1, method: 'ping' }, { accept: 'application/json' });
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.text).toBe('{"result":{},"id":1,"jsonrpc":"2.0"}');
  });
});

describe('stateless clients over stdio', () => {
  const version = '2026-07-28';
  const meta = (more: object = {}) => ({
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': {},
    ...more,
  });
  const call = (id: unknown, name: string, args: object, more: object = {}) =>
    RawClient.stateless(wharf.mcp, version).post(
      { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args, _meta: meta(more) } },
      { 'mcp-protocol-version': version, 'mcp-method': 'tools/call', 'mcp-name': name },
    );

  it('share a process, and each gets the answer to its own id (R21)', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => call(1, 'wait', { ms: 100 - index * 5, say: `caller ${index}` })),
    );
    for (const [index, answer] of answers.entries()) {
      expect(answer.messages).toEqual([expect.objectContaining({ id: 1 })]);
      expect(answer.messages[0]?.result?.content?.[0]?.text).toBe(`caller ${index}`);
    }
    const pids = await Promise.all([call('a', 'pid', {}), call('b', 'pid', {})]);
    expect(pids[0]?.messages[0]?.result?.content).toEqual(pids[1]?.messages[0]?.result?.content);
  });

  it('get their own progress tokens back', async () => {
    const answers = await Promise.all(['x', 'x', 7].map((progressToken) => call(1, 'progress', {}, { progressToken })));
    for (const [index, token] of ['x', 'x', 7].entries()) {
      const progress = answers[index]?.messages.filter(({ method }) => method === 'notifications/progress');
      expect(progress?.map(({ params }) => params?.progressToken)).toEqual([token, token]);
    }
  });

  it('an unknown method is 404 with -32601 (BASE-02)', async () => {
    const answer = await RawClient.stateless(wharf.mcp, version).post(
      { jsonrpc: '2.0', id: 1, method: 'no/such', params: { _meta: meta() } },
      { 'mcp-protocol-version': version, 'mcp-method': 'no/such' },
    );
    expect(answer.status).toBe(404);
    expect(answer.messages[0]).toMatchObject({ id: 1, error: { code: -32601 } });
  });

  it('that leave have cancelled: the server is told', async () => {
    const gone = new AbortController();
    const client = RawClient.stateless(wharf.mcp, version, { capabilities: {} });
    await client.open('tools/call', { name: 'wait', arguments: { ms: 600_000, say: 'never' } }, {}, gone.signal);
    gone.abort();
    const count = async () => (await call(2, 'cancelled', {})).messages[0]?.result?.content?.[0]?.text;
    await until(async () => (await count()) === '1');
  });

  it('cannot cancel the calls of others: the ids that they name are their own', async () => {
    const told = async () => (await call(2, 'cancelled', {})).messages[0]?.result?.content?.[0]?.text;
    const before = await told();
    const client = RawClient.stateless(wharf.mcp, version);
    const headers = { 'mcp-protocol-version': version, 'mcp-method': 'notifications/cancelled' };
    const cancel = (requestId: number) => ({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId, _meta: meta() },
    });
    // ids that calls have on the channel
    for (let id = 1; id <= 60; id += 1) expect((await client.post(cancel(id), headers)).status).toBe(202);
    const batch = await client.post([cancel(1), cancel(2)], headers);
    expect([batch.status, batch.messages[0]?.error?.message]).toEqual([
      400,
      'Invalid request: a batch needs a session.',
    ]);
    expect(await told()).toBe(before);
  });
});
