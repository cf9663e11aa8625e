import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../helpers/fake-upstream.js';
import { until } from '../helpers/wait.js';
import { ROOT, type Running, runScript, start } from './cli-process.js';

let folder: string;
let fake: FakeUpstream;
let running: Running | undefined;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-cli-run-'));
  fake = await startFakeUpstream({ transport: 'json' });
});
afterEach(async () => {
  running?.child.kill('SIGKILL');
  await running?.ended;
  running = undefined;
});
afterAll(async () => {
  await fake.close();
  await rm(folder, { recursive: true });
});

/** Starts `wharf --upstream` on ports that the system chooses and waits until it is up. */
async function startWharf(...args: string[]): Promise<{ process: Running; mcp: string; admin: string }> {
  running = start(['--upstream', fake.url, '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0', ...args], {
    cwd: folder,
  });
  const [, mcp, admin] = await running.printed(/(http:\/\/\S+\/mcp)\n[\s\S]*admin +(http:\S+)[\s\S]*files .*\n/);
  return { process: running, mcp: String(mcp), admin: String(admin) };
}

const ping = (id: number) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  body: JSON.stringify({
    jsonrpc: '2.0',
    id,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  }),
});

it('`wharf` says that the folder in which it is started is gone', async () => {
  const gone = await mkdtemp(join(folder, 'gone-'));
  const script = `cd '${gone}' && rmdir '${gone}' && exec "$0" "$@"`;
  const { code, err } = await runScript(
    '/bin/sh',
    ['-c', script, process.execPath, `${ROOT}dist/gateway/main.js`, '--', 'x'],
    {},
  );
  expect([code, err]).toEqual([1, 'working directory: is gone: start Wharf in one that exists\n']);
});

/** A server that tells its variables when it is initialized. */
const TELLS_ENV = `process.stdin.on('data', (line) => String(line).includes('"initialize"') && console.log(
  JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(line).id, result: { protocolVersion: '2025-06-18', capabilities: {},
    serverInfo: { name: 'env', version: '1' }, env: process.env } })))`;

it('`wharf --env NAME` gives the command that variable, and no other', async () => {
  const args = ['--listen', '127.0.0.1:0', '--env', 'WHARF_TEST_A', '--', process.execPath, '-e', TELLS_ENV];
  running = start(args, { cwd: folder, env: { WHARF_TEST_A: 'a', WHARF_TEST_B: 'b' } });
  const [, mcp] = await running.printed(/(http:\/\/\S+\/mcp)\n/);
  const answer = await (await fetch(String(mcp), ping(0))).text();
  expect(answer).toContain('"WHARF_TEST_A":"a"');
  expect(answer).not.toContain('WHARF_TEST_B');
});

describe('a start', () => {
  it('prints the URL to paste, the admin URL and where files go, and both URLs work', async () => {
    const { process, mcp, admin } = await startWharf();
    expect(process.out()).toMatch(/files +filesystem \/\S*wharf\S*; kept 1d, links live as long as their files/);
    expect((await fetch(mcp, ping(1))).status).toBe(200);
    expect((await fetch(`${admin}/healthz`)).status).toBe(200);
  });

  it('with a config says in the log that it is up, which version it is, and what it has read', async () => {
    const file = join(folder, 'up.yaml');
    await writeFile(file, JSON.stringify({ listen: '127.0.0.1:0', servers: { one: { url: fake.url } } }));
    running = start(['--config', file], { cwd: folder });
    await running.printed(/files .*\n/);
    running.child.kill('SIGTERM');
    const [up, draining] = (await running.ended).err.split('\n').map((line) => line !== '' && JSON.parse(line));
    expect(up).toMatchObject({
      level: 'info',
      text: 'Wharf is up.',
      file,
      servers: 1,
      version: expect.stringMatching(/^\d/),
    });
    expect(draining).toMatchObject({ text: expect.stringContaining('Draining'), signal: 'SIGTERM' });
  });

  it('opens no admin port on loopback unless asked to, so that two of them do not collide', async () => {
    const once = ['--upstream', fake.url, '--listen', '127.0.0.1:0'];
    running = start(once, { cwd: folder });
    const second = start(once, { cwd: folder });
    try {
      for (const one of [running, second]) {
        const [, mcp] = await one.printed(/(http:\/\/\S+\/mcp)\n[\s\S]*files .*\n/);
        expect((await fetch(String(mcp), ping(1))).status).toBe(200);
        expect(one.out()).not.toContain('admin');
      }
    } finally {
      second.child.kill('SIGKILL');
      await second.ended;
    }
  });

  it('logs JSON lines on standard error and nothing but text on standard output', async () => {
    const { process, mcp } = await startWharf('--log-level', 'debug');
    await (await fetch(mcp, ping(1))).text();
    process.child.kill('SIGTERM');
    const { out, err } = await process.ended;
    const lines = err.trimEnd().split('\n');
    for (const line of lines)
      expect(JSON.parse(line)).toEqual(
        expect.objectContaining({ level: expect.any(String), text: expect.any(String) }),
      );
    expect(out).not.toContain('{"');
  });

  it.each([
    ['a start', ['--listen', '127.0.0.1:0']],
    ['one on standard input', ['stdio']],
  ])('warns of a command that is missing on this machine: %s', async (_name, args) => {
    running = start([...args, '--', 'definitely-not-there'], { cwd: folder });
    if (args[0] !== 'stdio') {
      await running.printed(/files .*\n/);
      running.child.kill('SIGTERM');
    }
    const { err } = await running.ended;
    const lines = err.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        text: 'the command after -- is not found in PATH (it is "definitely-not-there").',
      }),
    );
  });

  it.each([
    ['--listen', '--admin-listen'],
    ['--admin-listen', '--listen'],
  ])('fails with one plain line that names the option when the port of %s is taken', async (option, other) => {
    const taken: Server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as { port: number };
    const args = ['--upstream', fake.url, option, `127.0.0.1:${port}`, other, '127.0.0.1:0'];
    const { code, out, err } = await start(args, { cwd: folder }).ended;
    taken.close();
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain(`127.0.0.1:${port} is already in use. Choose another port with ${option}.\n`);
    expect(err).not.toContain('    at ');
  });
});

describe('a log whose reader has gone', () => {
  it('ends no call, and does not keep Wharf from its end', async () => {
    const { process, mcp } = await startWharf();
    process.child.stderr?.destroy();
    for (const id of [1, 2, 3]) {
      expect((await fetch(mcp, ping(id))).status).toBe(200);
      // longer than lines wait for others
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    process.child.kill('SIGTERM');
    expect((await process.ended).code).toBe(0);
  });

  it('does not keep Wharf from its end either when nothing was logged since', async () => {
    const { process } = await startWharf();
    process.child.stderr?.destroy();
    process.child.kill('SIGTERM');
    expect((await process.ended).code).toBe(0);
  });
});

describe('a signal', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('%s drains and exits 0', async (signal) => {
    const { process } = await startWharf();
    process.child.kill(signal);
    expect((await process.ended).code).toBe(0);
  });

  it('lets a running exchange finish', async () => {
    fake.queue.push({
      headDelayMs: 700,
      contentType: 'application/json',
      body: '{"jsonrpc":"2.0","id":5,"result":{}}',
    });
    const { process, mcp } = await startWharf();
    const seen = fake.requests.length;
    const answer = fetch(mcp, ping(5));
    await until(() => fake.requests.length > seen);
    process.child.kill('SIGTERM');
    expect(await (await answer).json()).toEqual({ jsonrpc: '2.0', id: 5, result: {} });
    expect((await process.ended).code).toBe(0);
  });

  it('SIGHUP neither reloads nor ends it, and the log says so', async () => {
    fake.queue.push({
      headDelayMs: 500,
      contentType: 'application/json',
      body: '{"jsonrpc":"2.0","id":5,"result":{}}',
    });
    const { process, mcp } = await startWharf();
    const seen = fake.requests.length;
    const answer = fetch(mcp, ping(5));
    await until(() => fake.requests.length > seen);
    process.child.kill('SIGHUP');
    await until(() => process.err().includes('SIGHUP'));
    expect(process.err()).toMatch(/^\{"level":"warn".*"signal":"SIGHUP".*no config file to reload/m);
    expect(await (await answer).json()).toEqual({ jsonrpc: '2.0', id: 5, result: {} });
    process.child.kill('SIGTERM');
    expect((await process.ended).code).toBe(0);
  });

  it('SIGHUP while it starts does not end it either, and the config is read again once it is up', async () => {
    // its store is asked in the middle of the start
    const store = createHttpServer((_request, response) => {
      running?.child.kill('SIGHUP');
      response.writeHead(200, { 'x-amz-request-id': 'one' }).end();
    });
    await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve));
    const endpoint = `http://127.0.0.1:${(store.address() as AddressInfo).port}`;
    const file = join(folder, 'hung-up.yaml');
    const keys = { accessKeyId: 'a', secretAccessKey: 'b' };
    const objects = { use: 's3', bucket: 'wharf', region: 'us-east-1', endpoint, ...keys };
    await writeFile(file, JSON.stringify({ servers: { one: { url: fake.url } }, objects, listen: '127.0.0.1:0' }));
    running = start(['--config', file], { cwd: folder });
    await running.printed(/files .*\n/);
    await until(() => running?.err().includes('"why":"SIGHUP","text":"The config says what it said before."') === true);
    running.child.kill('SIGTERM');
    expect((await running.ended).code).toBe(0);
    store.closeAllConnections();
    store.close();
  });

  it('a second one ends it at once with 1', async () => {
    fake.queue.push({ never: true });
    const { process, mcp } = await startWharf();
    const seen = fake.requests.length;
    const answer = fetch(mcp, ping(5)).catch(() => 'cut off');
    await until(() => fake.requests.length > seen);
    process.child.kill('SIGTERM');
    // The log says when the first one has arrived; two signals of one kind would else count as one.
    await until(() => process.err().includes('Draining'));
    process.child.kill('SIGTERM');
    expect((await process.ended).code).toBe(1);
    expect(await answer).toBe('cut off');
  });
});
