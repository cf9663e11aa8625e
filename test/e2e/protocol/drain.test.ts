import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { startFakeUpstream } from '../../helpers/fake-upstream.js';
import { startFaultUpstream } from '../../helpers/fault-upstream.js';
import { gate } from '../../helpers/gate.js';
import { close, listen } from '../../helpers/loopback.js';
import { RawClient } from '../../helpers/raw-client.js';
import { freshName, redisUrl } from '../../helpers/services.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

/** A stdio server whose tools do on the channel what their names say. */
const TALKATIVE = fileURLToPath(new URL('../../../../test/helpers/talkative-server.fixture.mjs', import.meta.url));

const OPENED = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'one', version: '1' } };

/** Resolves when a part of a file has come. */
const hasFileUnderWay = ({ adminUrl }: Wharf) =>
  until(async () => /wharf_part_memory_bytes [1-9]/.test(await (await fetch(`${adminUrl}/metrics`)).text()));

describe('draining', () => {
  it('lets running exchanges finish, ends GET streams, and refuses new ones (R8)', async () => {
    const fake = await startFakeUpstream({ transport: 'sse', session: true });
    const wharf = await startWharf({ servers: { fake: { url: fake.url, transport: 'streamable-http' } } });
    const client = await RawClient.connect(wharf.mcp);
    const body = 'data: {"jsonrpc":"2.0","id":5,"result":{"content":[]}}\n\n';
    const refusing = gate();
    fake.queue.push({ contentType: 'text/event-stream', framing: 'chunked', body, after: refusing.opened });
    const running = client.post({ jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'echo' } });
    await until(() => fake.requests.at(-1)?.body.includes('"id":5') ?? false);
    fake.queue.push({
      contentType: 'text/event-stream',
      framing: 'chunked',
      body: ': hello\n\n',
      cutAfter: 9999,
      cut: 'stall',
    });
    const stream = await fetch(wharf.mcp, { headers: { ...client.headers(), accept: 'text/event-stream' } });
    const stopped = wharf.stop();
    await until(async () => (await fetch(`${wharf.adminUrl}/readyz`)).status === 503);
    const refused = await client.post({ jsonrpc: '2.0', id: 6, method: 'ping' });
    expect(refused).toMatchObject({ status: 503, messages: [{ id: 6, error: { data: { code: 'draining' } } }] });
    refusing.open();
    expect((await running).messages[0]).toMatchObject({ id: 5, result: { content: [] } });
    await stream.text();
    await stopped;
    await fake.close();
  });

  it('keeps the stream of a session for what its server says before it answers the last call, and ends others at once', async () => {
    const fake = await startFakeUpstream({ transport: 'sse', session: true });
    const wharf = await startWharf({ servers: { fake: { url: fake.url, transport: 'streamable-http' } } });
    const [busy, idle] = [await RawClient.connect(wharf.mcp), await RawClient.connect(wharf.mcp)];
    const [telling, answering] = [gate(), gate()];
    const [said, answer] = [
      'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"nearly"}}\n\n',
      'data: {"jsonrpc":"2.0","id":5,"result":{"content":[]}}\n\n',
    ];
    const events = { contentType: 'text/event-stream', framing: 'chunked' } as const;
    const streamOf = (client: RawClient) =>
      fetch(wharf.mcp, { headers: { ...client.headers(), accept: 'text/event-stream' } });
    fake.queue.push({ ...events, body: said, after: telling.opened, cutAfter: 9999, cut: 'stall' });
    const kept = streamOf(busy);
    await until(() => fake.queue.length === 0);
    fake.queue.push({ ...events, body: ': hello\n\n', cutAfter: 9999, cut: 'stall' });
    const other = await streamOf(idle);
    fake.queue.push({ ...events, body: answer, after: answering.opened });
    const running = busy.post({ jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'echo' } });
    await until(() => fake.requests.at(-1)?.body.includes('"id":5') ?? false);
    const stopped = wharf.stop();
    await other.text();
    telling.open();
    const heard = (await kept).body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await heard?.read())?.value).toContain('nearly');
    answering.open();
    expect((await running).messages[0]).toMatchObject({ id: 5, result: { content: [] } });
    expect(await heard?.read()).toMatchObject({ done: true });
    await stopped;
    await fake.close();
  });

  it('answers meanwhile on the admin port, where readiness says why it is not ready', async () => {
    const fake = await startFakeUpstream({ transport: 'sse', session: true });
    const wharf = await startWharf({ servers: { fake: { url: fake.url, transport: 'streamable-http' } } });
    const client = await RawClient.connect(wharf.mcp);
    const body = 'data: {"jsonrpc":"2.0","id":5,"result":{"content":[]}}\n\n';
    const asking = gate();
    fake.queue.push({ contentType: 'text/event-stream', framing: 'chunked', body, after: asking.opened });
    const running = client.post({ jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'echo' } });
    await until(() => fake.requests.at(-1)?.body.includes('"id":5') ?? false);
    const stopped = wharf.stop();
    // each on a connection of its own, as probes do
    const asked = async (path: string) => {
      const response = await fetch(`${wharf.adminUrl}${path}`, { headers: { connection: 'close' } });
      return [response.status, await response.text()] as const;
    };
    const [ready, alive, metrics] = [await asked('/readyz'), await asked('/healthz'), await asked('/metrics')];
    expect([ready[0], JSON.parse(ready[1])]).toMatchObject([503, { status: 'draining' }]);
    expect([alive[0], metrics[0]]).toEqual([200, 200]);
    expect(metrics[1]).toContain('wharf_open_exchanges 1');
    asking.open();
    expect((await running).messages[0]).toMatchObject({ id: 5, result: { content: [] } });
    await stopped;
    await expect(asked('/healthz')).rejects.toThrow();
    await fake.close();
  });

  it('passes on what a client answers to its server, and what it takes back, while a call waits for that', async () => {
    const wharf = await startWharf({ servers: { talkative: { command: [process.execPath, TALKATIVE] } } });
    const [asked, other] = [await RawClient.connect(wharf.mcp), await RawClient.connect(wharf.mcp)];
    const answer = await asked.open('tools/call', { name: 'ask', arguments: {} });
    const heard = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await heard?.read())?.value).toContain('"method":"roots/list"');
    const stopped = wharf.stop();
    await until(async () => (await fetch(`${wharf.adminUrl}/readyz`)).status === 503);
    for (const message of [
      { jsonrpc: '2.0', id: 6, method: 'tools/list' },
      { jsonrpc: '2.0', id: 6, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {} } },
    ])
      expect(await other.post(message)).toMatchObject({
        status: 503,
        messages: [{ id: 6, error: { data: { code: 'draining' } } }],
      });
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 77 } };
    expect((await asked.post(cancel)).status).toBe(202);
    expect((await asked.post({ jsonrpc: '2.0', id: 0, result: { roots: [{ uri: 'file:///tmp' }] } })).status).toBe(202);
    let rest = '';
    for (let read = await heard?.read(); read && !read.done; read = await heard?.read()) rest += read.value;
    expect(rest).toContain('file:///tmp');
    await stopped;
    await expect(fetch(wharf.mcp)).rejects.toThrow();
  });

  it('takes no connection where another replica can: a balancer goes on to that one', async () => {
    const fake = await startFakeUpstream({ transport: 'sse', session: true });
    const servers = { fake: { url: fake.url, transport: 'streamable-http' } };
    const wharf = await startWharf({ servers, stores: 's3+redis', keyPrefix: `${freshName('drain')}:` });
    const client = await RawClient.connect(wharf.mcp);
    const finishing = gate();
    const body = 'data: {"jsonrpc":"2.0","id":5,"result":{"content":[]}}\n\n';
    fake.queue.push({ contentType: 'text/event-stream', framing: 'chunked', body, after: finishing.opened });
    const running = client.post({ jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'echo' } });
    await until(() => fake.requests.at(-1)?.body.includes('"id":5') ?? false);
    const stopped = wharf.stop();
    await until(async () => (await fetch(`${wharf.adminUrl}/readyz`)).status === 503);
    const { hostname, port } = new URL(wharf.url);
    const refused = await once(connect(Number(port), hostname), 'connect').catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'ECONNREFUSED' });
    finishing.open();
    const { messages, headers } = await running;
    expect(messages[0]).toMatchObject({ id: 5, result: { content: [] } });
    // so that the balancer sends nothing more on it
    expect(headers.get('connection')).toBe('close');
    await stopped;
    await fake.close();
  });

  it('serves what a balancer has sent on connections that it keeps, where it closes them for another replica', async () => {
    const fake = await startFakeUpstream({ transport: 'json', session: true });
    const servers = { fake: { url: fake.url, transport: 'streamable-http' } };
    const wharf = await startWharf({ servers, stores: 's3+redis', keyPrefix: `${freshName('drain')}:` });
    const { hostname, port } = new URL(wharf.url);
    const kept = [1, 2, 3].map(() => {
      const socket = connect(Number(port), hostname);
      const heard = { text: '', statuses: () => heard.text.match(/^HTTP\/1\.1 \d+/gm) ?? [] };
      socket.on('data', (bytes: Buffer) => {
        heard.text += bytes.toString('latin1');
      });
      const closed = once(socket, 'close');
      return { socket, heard, closed };
    });
    const ask = () => {
      for (const { socket } of kept) socket.write(`GET / HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`);
    };
    ask();
    await until(() => kept.every(({ heard }) => heard.statuses().length === 1));
    ask();
    const stopped = wharf.stop();
    for (const { heard, closed } of kept) {
      await closed;
      expect(heard.statuses()).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
    }
    await stopped;
    await fake.close();
  });

  it('serves one more request on a connection whose answer had begun: a balancer sends it before it sees the port closed', async () => {
    const finishing = gate();
    // its answers begin at once, and end when they may
    const server = createServer((incoming, outgoing) => {
      void text(incoming).then(async (body) => {
        const { id, method } = JSON.parse(body) as { id?: number; method: string };
        if (id === undefined) return outgoing.writeHead(202).end();
        outgoing.writeHead(200, { 'content-type': 'text/event-stream' }).write(': begun\n\n');
        if (method === 'tools/call') await finishing.opened;
        const result = method === 'initialize' ? OPENED : { content: [] };
        return outgoing.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
      });
    });
    const url = `http://127.0.0.1:${await listen(server)}/mcp`;
    const servers = { one: { url, transport: 'streamable-http' } };
    const wharf = await startWharf({ servers, stores: 's3+redis', keyPrefix: `${freshName('drain')}:` });
    const client = await RawClient.connect(wharf.mcp);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const call = async (id: number) => {
      const headers = { ...client.headers(), 'content-type': 'application/json' };
      const sent = request(wharf.mcp, { method: 'POST', agent, headers });
      sent.end(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'echo' } }));
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      return { answer, local: sent.socket?.localPort };
    };
    const first = await call(5);
    const stopped = wharf.stop();
    await until(async () => (await fetch(`${wharf.adminUrl}/readyz`)).status === 503);
    const second = call(6);
    finishing.open();
    expect(await text(first.answer)).toContain('"id":5,"result"');
    const { answer, local } = await second;
    expect([local, answer.statusCode, answer.headers.connection]).toEqual([first.local, 200, 'close']);
    expect(await text(answer)).toContain('"id":6,"result"');
    await stopped;
    agent.destroy();
    await close(server);
  });

  it('keeps the connections that rest for what a balancer sends on them meanwhile, once', async () => {
    const fake = await startFakeUpstream({ transport: 'json', session: true });
    const servers = { fake: { url: fake.url, transport: 'streamable-http' } };
    const wharf = await startWharf({ servers, stores: 's3+redis', keyPrefix: `${freshName('drain')}:` });
    const client = await RawClient.connect(wharf.mcp);
    const { hostname, port } = new URL(wharf.url);
    const kept = connect(Number(port), hostname);
    let heard = '';
    kept.on('data', (bytes: Buffer) => {
      heard += bytes.toString('latin1');
    });
    const statuses = () => heard.match(/^HTTP\/1\.1 \d+/gm) ?? [];
    const ask = () => kept.write(`GET / HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`);
    ask();
    await until(() => statuses().length === 1);
    const finishing = gate();
    fake.respond = ({ body }) =>
      body.includes('"id":5') ? { after: finishing.opened, contentType: 'application/json', body: '{}' } : undefined;
    const running = client.post({ jsonrpc: '2.0', id: 5, method: 'ping' });
    await until(() => fake.requests.at(-1)?.body.includes('"id":5') ?? false);
    const stopped = wharf.stop();
    await until(async () => (await fetch(`${wharf.adminUrl}/readyz`)).status === 503);
    const closed = once(kept, 'close');
    ask();
    await closed;
    expect(statuses()).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
    finishing.open();
    await running;
    await stopped;
    await fake.close();
  });

  it('passes on what a client answers to its stdio server at another replica, while a call waits for that', async () => {
    const shared = { stores: 's3+redis', bucket: freshName('owed'), keyPrefix: `${freshName('owed')}:` } as const;
    const servers = { talkative: { command: [process.execPath, TALKATIVE] } };
    const [one, two] = [await startWharf({ servers, ...shared }), await startWharf({ servers, ...shared })];
    const asked = await RawClient.connect(one.mcp);
    const elsewhere = RawClient.of(two.mcp, '2025-06-18', { 'mcp-session-id': String(asked.session) });
    const answer = await asked.open('tools/call', { name: 'ask', arguments: {} });
    const heard = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await heard?.read())?.value).toContain('"method":"roots/list"');
    const roots = { jsonrpc: '2.0', id: 0, result: { roots: [{ uri: 'file:///tmp' }] } };
    // a client that has gone to another replica by itself begins anew
    expect((await elsewhere.post(roots)).status).toBe(404);
    const stopped = one.stop();
    await until(async () => (await elsewhere.post(roots)).status === 202);
    // a request is not passed on
    expect((await elsewhere.post({ jsonrpc: '2.0', id: 6, method: 'tools/list' })).status).toBe(404);
    let rest = '';
    for (let read = await heard?.read(); read && !read.done; read = await heard?.read()) rest += read.value;
    expect(rest).toContain('file:///tmp');
    await stopped;
    expect((await elsewhere.post(roots)).status).toBe(404);
    const redis = new Redis(redisUrl());
    expect(await redis.keys(`${shared.keyPrefix}owed:*`)).toEqual([]);
    redis.disconnect();
    await two.stop();
  });

  it('lets a download finish that Wharf streams itself', async () => {
    const fake = await startFakeUpstream({ transport: 'json', session: true });
    const wharf = await startWharf({ servers: { fake: { url: fake.url } } });
    const client = await RawClient.connect(wharf.mcp);
    // more than the sockets between the two hold
    const made = await client.request('tools/call', { name: 'blob', arguments: { size: 32_000_000, seed: 3 } });
    const [url = ''] = /http:\/\/[\d.:]+\/d\/[\w-]+/.exec(JSON.stringify(made.result)) ?? [];
    const download = await fetch(url);
    const stopped = wharf.stop();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await download.arrayBuffer()).byteLength).toBe(32_000_000);
    await stopped;
    await fake.close();
  });

  it('says how many exchanges it cuts off when the time is over', async () => {
    const fake = await startFakeUpstream({ transport: 'sse', session: true });
    const servers = { fake: { url: fake.url, transport: 'streamable-http' } };
    const wharf = await startWharf({ servers, config: { timeouts: { drain: '100ms' } } });
    const client = await RawClient.connect(wharf.mcp);
    fake.queue.push({
      contentType: 'text/event-stream',
      framing: 'chunked',
      body: ': x\n\n',
      cutAfter: 9999,
      cut: 'stall',
    });
    const running = client.post({ jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'echo' } });
    running.catch(() => {});
    await until(() => fake.requests.at(-1)?.body.includes('"id":5') ?? false);
    await wharf.stop();
    expect(wharf.lines).toContainEqual({
      level: 'warn',
      fields: { running: 1, limit: 'timeouts.drain' },
      text: 'Exchanges that still run are cut off.',
    });
    await expect(running).rejects.toThrow();
    await fake.close();
  });

  it.each([
    ['over HTTP', 'json'],
    ['by a stream', 'sse'],
    ['over stdio', 'stdio'],
  ] as const)(
    'says in the line of a call that it cuts off why that failed, and blames no server: %s',
    async (_way, kind) => {
      const server = await startFaultUpstream(kind);
      const wharf = await startWharf({ servers: { one: server.server }, config: { timeouts: { drain: '100ms' } } });
      const client = await RawClient.connect(wharf.mcp);
      const running = client.call('blob', { size: 100_000, stopAfter: 50_000 });
      running.catch(() => {});
      await hasFileUnderWay(wharf);
      await wharf.stop();
      await expect(running).rejects.toThrow();
      const line = wharf.lines.find(({ fields }) => fields.name === 'blob');
      expect(line).toMatchObject({ text: 'exchange', fields: { server: 'one', error: 'draining' } });
      const warned = wharf.lines.filter(({ level }) => level !== 'info').map(({ text }) => text);
      expect(warned).toEqual(['Exchanges that still run are cut off.']);
      await server.close();
    },
  );

  it('says of an upload that it cuts off that its sender has not left', async () => {
    const fake = await startFakeUpstream();
    const wharf = await startWharf({ servers: { fake: { url: fake.url } }, config: { timeouts: { drain: '100ms' } } });
    const client = await RawClient.connect(wharf.mcp);
    const { messages } = await client.post({ jsonrpc: '2.0', id: 5, method: 'files/authorizeUpload', params: {} });
    const { url } = (messages[0] as { result: { upload: { url: string } } }).result.upload;
    const { hostname, port, pathname } = new URL(url);
    const sender = connect(Number(port), hostname);
    sender.write(`PUT ${pathname} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Length: 1000000\r\n\r\nbytes`);
    await hasFileUnderWay(wharf);
    const closed = once(sender, 'close');
    await wharf.stop();
    await closed;
    expect(wharf.lines.filter(({ text }) => text === 'upload')).toEqual([
      expect.objectContaining({ fields: expect.objectContaining({ outcome: 'aborted', error: 'draining' }) }),
    ]);
    await fake.close();
  });

  it('removes the sessions of its processes from Redis before it leaves Redis', async () => {
    const { server } = await startFaultUpstream('stdio');
    const keyPrefix = `${freshName('drain')}:`;
    const wharf = await startWharf({ servers: { one: server }, stores: 's3+redis', keyPrefix });
    const redis = new Redis(redisUrl());
    const sessions = () => redis.keys(`${keyPrefix}session:*`);
    for (let n = 0; n < 3; n++) await RawClient.connect(wharf.mcp);
    expect(await sessions()).toHaveLength(3);
    await wharf.stop();
    expect(await sessions()).toEqual([]);
    expect(wharf.lines.filter(({ level }) => level !== 'info')).toEqual([]);
    redis.disconnect();
  });
});
