import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { fixture, stdioServer } from '../contract/upstream/subject.js';
import { recordDigest } from '../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../helpers/fake-upstream.js';
import { blobDigest } from '../helpers/fake-upstream-blob.js';
import { isRunning } from '../helpers/is-running.js';
import { RecordingUpstream } from '../helpers/recording-upstream.js';
import { until } from '../helpers/wait.js';
import { FaceProcess } from './stdio-face-process.js';

let face: FaceProcess;
let fake: FakeUpstream | undefined;

const start = async (...args: string[]) => {
  face = await FaceProcess.start(...args);
  return face;
};
const startFake = async (...args: string[]) => {
  fake = await startFakeUpstream({ transport: 'json' });
  return start('--upstream', fake.url, ...args);
};

const TELLS_ENV = `process.stdin.once('data', () => console.log(
  JSON.stringify({ jsonrpc: '2.0', id: 0, result: { protocolVersion: '2025-06-18', env: process.env } })))`;

/** Until the client's stream is open, so that what a test has the server say next is for its own request. */
const initialized = async () => {
  await face.initialize();
  await until(() => fake?.requests.some(({ method }) => method === 'GET') ?? false);
};

afterEach(async () => {
  await face.clean();
  await fake?.close();
  fake = undefined;
});

describe('wharf stdio', () => {
  it('says nothing but messages on standard output and logs on standard error', async () => {
    await start('--log-level', 'debug', '--', ...stdioServer());
    await face.initialize();
    face.request(1, 'tools/call', { name: 'blob', arguments: { size: 2_000_000 } });
    await face.answer(1);
    face.child.stdin.end();
    expect(await face.ended).toBe(0);
    expect(face.messages.map(({ id }) => id)).toEqual([0, 1]);
    for (const line of face.err.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('level');
  });

  it('passes an answer without files byte for byte', async () => {
    await start('--', ...stdioServer());
    await face.initialize();
    face.send('  {"jsonrpc":"2.0", "id":"a\\u0062",\t"method":"ping"}');
    face.request(7, 'tools/call', { name: 'echo', arguments: { text: 'a\nb\u2028' } });
    await Promise.all([face.answer(7), face.message(({ id }) => id === 'ab')]);
    expect(face.out.split('\n').slice(1).sort()).toEqual([
      '',
      '{"result":{"content":[{"type":"text","text":"a\\nb\u2028"}]},"jsonrpc":"2.0","id":7}',
      '{"result":{},"jsonrpc":"2.0","id":"ab"}',
    ]);
  });

  it('serves its links, and nothing else, on a loopback port, to requests that name it rightly', async () => {
    await start('--', ...stdioServer());
    await face.initialize();
    face.request(1, 'tools/call', { name: 'blob', arguments: { size: 2_000_000, type: 'audio' } });
    const { result } = await face.answer(1);
    const link = String(result?.content?.[1]?.uri);
    expect(link.startsWith(`${await face.links()}d/`)).toBe(true);
    const life = 'The user can open the link while this server runs and keeps the file. Save it to have it longer.';
    expect(String(result?.content?.[0]?.text).split('\n')).toContain(life);
    const file = await fetch(link);
    const bytes = Buffer.from(await file.arrayBuffer());
    const digest = Buffer.from(blobDigest({ size: 2_000_000, seed: 1, mimeType: 'audio/wav' }), 'hex');
    expect(recordDigest(bytes)).toBe(`sha-256:${digest.toString('base64url')}`);

    const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} };
    const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(initialize) };
    for (const path of ['mcp', 'fake-stdio-server/mcp', 'healthz', 'metrics', '']) {
      expect([path, (await fetch((await face.links()) + path, post)).status]).toEqual([path, 404]);
    }
    const asOther = (headers: object) =>
      new Promise((resolve, reject) => {
        const sent = httpRequest(link, { headers: { ...headers } }, (answer) => resolve(answer.resume().statusCode));
        sent.on('error', reject).end();
      });
    expect(await asOther({ host: 'evil.example' })).toBe(403);
    expect(await asOther({ origin: 'https://evil.example' })).toBe(403);
    expect(await asOther({})).toBe(200);
    // a download warns of nothing: Node's warnings are no lines of the log
    for (const line of face.err.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('level');
  });

  it('says of each link that it ends with the process, also where the same bytes have a second name', async () => {
    const blob = Buffer.alloc(100_000, 1).toString('base64');
    const content = ['one.bin', 'two.bin'].map((name) => ({
      type: 'resource',
      resource: { uri: `docs://shelf/${name}`, blob },
    }));
    const upstream = await RecordingUpstream.start({ tools: [], methods: { 'tools/call': () => ({ content }) } });
    try {
      await start('--upstream', upstream.url);
      await face.initialize();
      face.request(1, 'tools/call', { name: 'give', arguments: {} });
      const { result } = await face.answer(1);
      const texts = (result?.content ?? []).flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
      expect(texts.map((text) => text.split(' · ')[0])).toEqual(['one.bin', 'two.bin']);
      for (const text of texts) expect(text).toContain('while this server runs and keeps the file');
    } finally {
      await upstream.stop();
    }
  });

  it('answers each request under way before it ends with its input', async () => {
    await start('--', ...stdioServer());
    face.request(0, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {} });
    for (let id = 1; id <= 20; id++) face.request(id, 'tools/call', { name: 'blob', arguments: { size: 600_000 } });
    face.child.stdin.end();
    expect(await face.ended).toBe(0);
    const ids = face.messages.map(({ id }) => Number(id)).sort((a, b) => a - b);
    expect(ids).toEqual([...Array(21).keys()]);
    expect(await face.leftovers()).toEqual([]);
  });

  it('refuses what is not a message, and goes on', async () => {
    await start('--', ...stdioServer());
    await face.initialize();
    face.send('hello', '{"jsonrpc":"2.0","id":5,"method":"ping"', '[]', '"text"', '', '{"jsonrpc":"2.0"} {}');
    face.request(6, 'ping');
    await face.answer(6);
    await until(() => face.messages.length >= 7);
    const codes = face.messages.flatMap(({ error }) => (error ? [error.code] : []));
    expect(codes.sort()).toEqual([-32600, -32600, -32700, -32700, -32700]);
    const cut = face.messages.find(({ id, error }) => id === 5 && error);
    expect(cut?.error?.code).toBe(-32700);
  });

  it('refuses a message that is too long, wherever its id stands, and goes on', async () => {
    await start('--', ...stdioServer());
    await face.initialize();
    const pad = 'p'.repeat(5_000_000);
    face.send(`{"method":"ping","params":{"pad":"${pad}"},"jsonrpc":"2.0","id":5}`);
    face.request(6, 'ping');
    await face.answer(6);
    const { error } = await face.answer(5);
    expect([error?.code, error?.data?.code, error?.data?.limit]).toEqual([
      -32600,
      'message_too_large',
      'limits.message',
    ]);
  });

  it('refuses a message that nests too deep, wherever its id stands, and goes on', async () => {
    await start('--', ...stdioServer());
    await face.initialize();
    face.send(`{"method":"ping","params":{"x":${'['.repeat(2000)}${']'.repeat(2000)}},"jsonrpc":"2.0","id":5}`);
    face.request(6, 'ping');
    await face.answer(6);
    const { error } = await face.answer(5);
    expect([error?.code, error?.data?.code, error?.data?.limit]).toEqual([-32600, 'too_deep', 'limits.depth']);
  });

  it('gives progress and answers in their order, of many calls at one time', async () => {
    await start('--', ...stdioServer());
    await face.initialize();
    for (let id = 1; id <= 10; id++) {
      const params = { name: 'progress', arguments: { steps: 5 }, _meta: { progressToken: `t${id}` } };
      face.request(id, 'tools/call', params);
    }
    for (let id = 1; id <= 10; id++) await face.answer(id);
    for (let id = 1; id <= 10; id++) {
      const steps = face.messages.flatMap(({ params }) =>
        params?.progressToken === `t${id}` ? [params.progress] : [],
      );
      expect(steps).toEqual([1, 2, 3, 4, 5]);
    }
  });
});

describe('the processes of wharf stdio', () => {
  const pidOf = async (): Promise<number> => {
    const { params } = await face.message(({ method }) => method === 'notifications/pid');
    return Number(params?.pid);
  };
  /** A server that says its process id and heeds neither the end of its input nor SIGTERM. */
  const STUBBORN = `
    process.on('SIGTERM', () => {});
    setInterval(() => {}, 1000);
    require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method } = JSON.parse(line);
      const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
      if (method === 'initialize') say({ id, result: { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: {} } });
      if (method === 'notifications/initialized') say({ method: 'notifications/pid', params: { pid: process.pid } });
      if (method === 'die') process.exit(5);
    });`;

  it.each(['SIGTERM', 'SIGINT'] as const)('all end on %s, however stubborn', async (signal) => {
    await start('--', process.execPath, '-e', STUBBORN);
    await face.initialize();
    const pid = await pidOf();
    face.request(1, 'hang');
    face.child.kill(signal);
    expect(await face.ended).toBe(0);
    await until(() => !isRunning(pid));
    expect(await face.leftovers()).toEqual([]);
  });

  it('go on after SIGHUP, which reloads nothing', async () => {
    await start('--', ...stdioServer());
    await face.initialize();
    face.child.kill('SIGHUP');
    await until(() => face.err.includes('no config file to reload'));
    face.request(1, 'tools/call', { name: 'echo', arguments: { text: 'still here' } });
    expect(JSON.stringify((await face.answer(1)).result)).toContain('still here');
    face.child.stdin.end();
    expect(await face.ended).toBe(0);
  });

  it('all end with the input', async () => {
    await start('--', process.execPath, '-e', STUBBORN);
    await face.initialize();
    const pid = await pidOf();
    face.child.stdin.end();
    expect(await face.ended).toBe(0);
    await until(() => !isRunning(pid));
  });

  it('end with 1 when the server dies, after an error for what was asked', async () => {
    await start('--', process.execPath, '-e', STUBBORN);
    await face.initialize();
    await pidOf();
    face.request(1, 'hang');
    face.request(2, 'die');
    expect(await face.ended).toBe(1);
    for (const id of [1, 2]) expect((await face.answer(id)).error?.data?.code).toBe('upstream_closed');
    expect(await face.leftovers()).toEqual([]);
  });

  it('say why a server cannot be started', async () => {
    await start('--', '/nonexistent/server');
    face.request(0, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {} });
    expect((await face.answer(0)).error?.data?.code).toBe('upstream_unreachable');
  });

  it('do not wait for a client that reads nothing', async () => {
    await start('--', ...stdioServer());
    await face.initialize();
    face.child.stdout.pause();
    for (let id = 1; id <= 200; id++) {
      face.request(id, 'tools/call', { name: 'echo', arguments: { text: 'x'.repeat(20_000) } });
    }
    // its port is served all the while
    expect((await fetch(await face.links())).status).toBe(404);
    const exit = once(face.child, 'exit');
    face.child.kill('SIGTERM');
    expect(await exit).toEqual([0, null]);
    face.child.stdout.resume();
  });

  it('end with the input within timeouts.drain, also for a client that reads nothing', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'wharf-face-'));
    const file = join(folder, 'wharf.json');
    const command = stdioServer();
    await writeFile(file, JSON.stringify({ servers: { sound: { command } }, timeouts: { drain: '500ms' } }));
    face = FaceProcess.startIn(folder, '--config', file);
    await face.initialize();
    const exit = once(face.child, 'exit');
    face.child.stdout.pause();
    for (let id = 1; id <= 50; id++) {
      face.request(id, 'tools/call', { name: 'echo', arguments: { text: 'x'.repeat(20_000) } });
    }
    face.child.stdin.end();
    expect(await exit).toEqual([0, null]);
    face.child.stdout.resume();
  });

  it.each([['half-line', 'upstream_closed']])('%s: the answer that was begun is an error', async (mode, code) => {
    await start('--', ...fixture(mode));
    face.request(0, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {} });
    expect((await face.answer(0)).error?.data?.code).toBe(code);
  });
});

describe('wharf stdio in front of an HTTP server', () => {
  const answer = (id: number, result: object = {}) => JSON.stringify({ jsonrpc: '2.0', id, result });

  it('speaks with one session, the negotiated version, and ends the session at last', async () => {
    fake = await startFakeUpstream({ transport: 'json', session: true });
    await start('--upstream', fake.url);
    await initialized();
    face.request(1, 'ping');
    await face.answer(1);
    face.child.stdin.end();
    expect(await face.ended).toBe(0);
    const [first, ...later] = fake.requests;
    expect(first?.headers['mcp-session-id']).toBeUndefined();
    for (const { headers } of later) {
      expect([headers['mcp-session-id'], headers['mcp-protocol-version']]).toEqual([
        'upstream-session-1',
        '2025-06-18',
      ]);
    }
    const methods = fake.requests.map(({ method }) => method);
    expect([methods.at(-1), methods.filter((method) => method === 'GET').length]).toEqual(['DELETE', 1]);
  });

  it('gives what comes on the GET stream to the client, and the client’s answer to the server', async () => {
    await startFake();
    await initialized();
    fake?.push({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    await face.message(({ method }) => method === 'notifications/tools/list_changed');
    fake?.push({ jsonrpc: '2.0', id: 'ask-1', method: 'roots/list' });
    await face.message(({ method }) => method === 'roots/list');
    face.send({ jsonrpc: '2.0', id: 'ask-1', result: { roots: [] } });
    await until(() => fake?.requests.some(({ body }) => body.includes('"roots":[]')) ?? false);
  });

  it('puts a body of several lines on one', async () => {
    await startFake();
    await initialized();
    fake?.queue.push({ contentType: 'application/json', body: '{\r\n "jsonrpc": "2.0",\n "id": 1, "result": {}\n}\n' });
    face.request(1, 'ping');
    await face.answer(1);
    fake?.queue.push({
      contentType: 'text/event-stream',
      body: 'event: other\ndata: {"no":"message"}\n\ndata: {"jsonrpc":"2.0",\ndata: "id":2,"result":{}}\n\n',
    });
    face.request(2, 'ping');
    await face.answer(2);
    expect(face.out).not.toContain('no');
    expect(face.out.split('\n').length).toBe(4);
  });

  it('takes a stream up again that broke off before its answer', async () => {
    await startFake();
    await initialized();
    const event = (id: string, data: string) => `id: ${id}\nretry: 10\ndata: ${data}\n\n`;
    const progress = '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}';
    if (fake) {
      fake.respond = ({ method, headers }) =>
        method === 'GET' && headers['last-event-id'] === 'e1'
          ? { contentType: 'text/event-stream', body: event('e2', answer(1, { late: true })) }
          : undefined;
    }
    fake?.queue.push({ contentType: 'text/event-stream', body: event('e1', progress), cut: 'rst', framing: 'chunked' });
    face.request(1, 'tools/call', { name: 'x' });
    expect((await face.answer(1)).result).toEqual({ late: true });
    expect(face.messages.filter(({ method }) => method === 'notifications/progress').length).toBe(1);
  });

  it('writes nothing of a stream that is not a message or answers another request, and answers what waits', async () => {
    await startFake();
    await initialized();
    const events = [
      'hello',
      '{"jsonrpc":"2.0",',
      'null',
      '{}',
      '[ ]',
      `{"jsonrpc":"2.0","id":9,"result":{} `,
      answer(2, { ok: true }),
    ];
    const body = events.map((data) => `data: ${data}\n\n`).join('');
    fake?.queue.push({ contentType: 'text/event-stream', body });
    face.request(1, 'tools/call', { name: 'x' });
    expect((await face.answer(1)).error?.data).toMatchObject({ code: 'upstream_closed' });
    expect(face.messages.map(({ id }) => id)).toEqual([0, 1]);
  });

  it('does not wait for a second answer where the first cannot be read, on a stream that stays open', async () => {
    await startFake();
    await initialized();
    const body = `data: {"jsonrpc":"2.0","id":"1","result":{"content":[\n\n`;
    fake?.queue.push({ contentType: 'text/event-stream', body, cut: 'stall', framing: 'chunked' });
    face.request(1, 'tools/call', { name: 'x' });
    expect((await face.answer(1)).error?.data).toMatchObject({ code: 'upstream_invalid', server: 'default' });
    face.request(2, 'ping');
    expect((await face.answer(2)).result).toEqual({});
    expect(face.messages.map(({ id }) => id)).toEqual([0, 1, 2]);
  });

  it.each([
    ['a page', { status: 500, contentType: 'text/html', body: '<h1>no</h1>' }, 'upstream_refused'],
    ['something else', { contentType: 'text/html', body: '<h1>hi</h1>' }, 'upstream_invalid'],
    ['nothing', { status: 202 }, 'upstream_invalid'],
    [
      'half an answer',
      { contentType: 'application/json', body: '{"id":1,', cutAfter: 6, cut: 'rst' },
      'upstream_closed',
    ],
  ] as const)('answers with an error when the server gives %s', async (_what, scripted, code) => {
    await startFake();
    await initialized();
    fake?.queue.push(scripted);
    face.request(1, 'ping');
    expect((await face.answer(1)).error?.data?.code).toBe(code);
    face.request(2, 'ping');
    expect((await face.answer(2)).result).toEqual({});
  });

  it('gives an error with a status of its own to the request that met it', async () => {
    await startFake();
    await initialized();
    const body = '{"jsonrpc":"2.0","error":{"code":-32000,"message":"Payload Too Large"},"id":null}';
    fake?.queue.push({ status: 413, contentType: 'application/json', body });
    face.request(1, 'ping');
    expect((await face.answer(1)).error).toEqual({ code: -32000, message: 'Payload Too Large' });
  });

  it('closes the request that the client cancels, and gives no answer to it', async () => {
    await startFake();
    await initialized();
    fake?.queue.push({ never: true });
    face.request(1, 'tools/call', { name: 'x' });
    await until(() => fake?.requests.some(({ body }) => body.includes('tools/call')) ?? false);
    face.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    await until(() => fake?.requests.find(({ body }) => body.includes('tools/call'))?.abandoned ?? false);
    face.request(2, 'ping');
    await face.answer(2);
    expect(fake?.requests.some(({ body }) => body.includes('notifications/cancelled'))).toBe(true);
    expect(face.messages.map(({ id }) => id)).toEqual([0, 2]);
  });
});

describe('the command line of wharf stdio', () => {
  it('fronts the named one of several servers, and starts no other', async () => {
    await start();
    await face.ended;
    const file = join(face.folder, 'servers.json');
    const [command = '', ...args] = stdioServer();
    const other = { command: process.execPath, args: ['-e', 'process.exit(9)'] };
    await writeFile(file, JSON.stringify({ mcpServers: { 'My Files': { command, args }, other } }));
    // as the host writes it, and as the path of its URL is called
    const named = await FaceProcess.start('--config', file, 'My Files');
    const cleaned = await FaceProcess.start('--config', file, 'my-files');
    for (const one of [named, cleaned]) {
      await one.initialize();
      one.child.stdin.end();
      expect(await one.ended).toBe(0);
    }
    const unnamed = await FaceProcess.start('--config', file);
    expect([await unnamed.ended, unnamed.out]).toEqual([1, '']);
    expect(unnamed.err).toContain('(My Files, other)');
    const wrong = await FaceProcess.start('--config', file, 'nobody');
    expect([await wrong.ended, wrong.err]).toEqual([1, expect.stringContaining('no server called "nobody"')]);
    for (const one of [named, cleaned, unnamed, wrong]) {
      expect(await one.leftovers()).toEqual([]);
      await one.clean();
    }
  });

  it.each([
    ['nothing to front', []],
    ['a server without a config', ['files', '--upstream', 'http://127.0.0.1:1/mcp']],
    ['two things to front', ['--upstream', 'http://127.0.0.1:1/mcp', '--', 'node']],
  ])('refuses %s', async (_what, args) => {
    await start(...args);
    expect([await face.ended, face.out]).toEqual([2, '']);
    expect(face.err).not.toBe('');
  });

  it('gives the server the variables that are named, and no other', async () => {
    await start('--env', 'WHARF_TEST_A', '--env', 'WHARF_TEST_B', '--', ...fixture('env'));
    await until(() => face.child.exitCode !== null);
    expect([await face.ended, face.err]).toEqual([1, expect.stringContaining('WHARF_TEST_A')]);
    await face.clean();
    process.env.WHARF_TEST_A = 'a';
    process.env.WHARF_TEST_B = 'b';
    try {
      await start('--env', 'WHARF_TEST_A', '--', process.execPath, '-e', TELLS_ENV);
      const { result } = await face.initialize();
      expect(result?.env).toMatchObject({ WHARF_TEST_A: 'a' });
      expect(result?.env).not.toHaveProperty('WHARF_TEST_B');
    } finally {
      delete process.env.WHARF_TEST_A;
      delete process.env.WHARF_TEST_B;
    }
  });

  it('serves links where it is told to', async () => {
    await start('--listen', '127.0.0.1:0', '--public-url', 'http://localhost:1234', '--', ...stdioServer());
    await face.initialize();
    expect(await face.links()).toBe('http://localhost:1234/');
  });
});
