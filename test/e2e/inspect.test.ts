import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startFixtureServer, stdioCommand } from '../conformance/fixture-server.js';
import { startFakeUpstream } from '../helpers/fake-upstream.js';
import { close, listen } from '../helpers/loopback.js';
import { filesystemServer, startEverything } from '../helpers/sdk-servers.js';
import { start, wharf } from './cli-process.js';

const LISTING = fileURLToPath(new URL('../helpers/listing-server.js', import.meta.url));
const listing = (mode: string) => [process.execPath, LISTING, mode];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-inspect-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function file(name: string, text: string): Promise<string> {
  await writeFile(join(folder, name), text);
  return join(folder, name);
}

describe('wharf inspect', () => {
  it('of one command prints a config that wharf check accepts', async () => {
    const { code, out, err } = await wharf('inspect', '--', ...listing('pages'));
    expect(err).toMatch(/asking for its tools \(stdio\)[\s\S]*2 tools, 1 argument that may be a file/);
    expect(out).toMatch(/# certain: format is byte; its name is .*\n +image_base64: \{ encoding: base64 \}/);
    expect(out).toContain('crop, photo: declared by its server (x-mcp-file), needs no config');
    expect(code).toBe(0);
    const checked = await wharf('check', '--config', await file('one.yaml', out));
    expect(checked).toMatchObject({ code: 0, err: '' });
  });

  it('shows the last words of a server that ends, and leads to no log', async () => {
    const command = [process.execPath, '-e', 'console.error("API_KEY is missing"); process.exit(3)'];
    const { code, err } = await wharf('inspect', '--', ...command);
    expect(code).toBe(1);
    expect(err).toContain('its last words: API_KEY is missing');
    expect(err).not.toContain('log of Wharf');
  });

  it("asks a server with Wharf's own token for it, and says where one shows its tools to people alone", async () => {
    let answer: object = { access_token: 'for-the-server', token_type: 'Bearer', expires_in: 300 };
    const tokens = createServer((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
    const tokenUrl = `http://127.0.0.1:${await listen(tokens)}/token`;
    const guarded = await startFakeUpstream({ transport: 'json' });
    guarded.respond = ({ headers }) =>
      headers.authorization === 'Bearer for-the-server' ? undefined : { status: 401, headers: {} };
    const grant = { tokenUrl, clientId: 'wharf', clientSecret: 'a-secret-of-wharf' };
    const of = (upstreamAuth: object) => ({ url: guarded.url, transport: 'streamable-http', upstreamAuth });
    const servers = { own: of({ clientCredentials: grant }), mail: of({ delegate: true }) };
    const auth = { use: 'apiKeys', keys: [{ name: 'ann', hash: `sha256:${'0'.repeat(64)}` }] };
    const config = await file('tokens.yaml', JSON.stringify({ servers, auth }));
    const { err } = await wharf('inspect', '--config', config);
    expect(err).toMatch(/own: \d+ tools?, /);
    expect(err).toContain('mail: It answers, and shows its tools to callers who have logged in');
    answer = { access_token: 'another', token_type: 'Bearer' };
    const refused = await wharf('inspect', '--config', config, 'own');
    expect(refused.err).toContain('it does not accept what servers.own.upstreamAuth holds');
    expect(refused.err + refused.out).not.toMatch(/another|a-secret-of-wharf/);
    await Promise.all([close(tokens), guarded.close()]);
  });

  it('of a list of 130,000 tools, and of as many messages at once, reads to the end', async () => {
    const MANY = 130_000;
    const server = await startFakeUpstream({ transport: 'json' });
    const messages = (id: unknown) => [
      ...Array.from({ length: MANY }, () => ({ jsonrpc: '2.0', method: 'notifications/x' })),
      { jsonrpc: '2.0', id, result: { tools: Array.from({ length: MANY }, () => ({ name: 't' })) } },
    ];
    server.respond = ({ body: asked }) => {
      if (!asked.includes('"tools/list"')) return undefined;
      const { id } = JSON.parse(asked.toString()) as { id: unknown };
      const body = `data: ${JSON.stringify(messages(id))}\n\n`;
      return { status: 200, headers: { 'content-type': 'text/event-stream' }, body };
    };
    const { code, err } = await wharf('inspect', '--upstream', server.url);
    expect(err).toContain('130000 tools');
    expect(code).toBe(0);
    await server.close();
  });

  it('of a config asks every server, whichever fail', async () => {
    const servers = {
      good: { command: listing('pages') },
      gone: { url: 'http://127.0.0.1:1/mcp' },
      loop: { command: listing('loop') },
      refuse: { command: listing('refuse') },
      die: { command: listing('die') },
      silent: { command: listing('silent') },
    };
    const config = await file('many.yaml', JSON.stringify({ servers, timeouts: { upstream: '8s' } }));
    const { code, out, err } = await wharf('inspect', '--config', config);
    expect(code).toBe(1);
    expect(out).toMatch(/^servers:\n(?: +#.*\n)* {2}good:\n {4}tools:\n {6}ocr:/m);
    expect(out.match(/could not be asked to the end/g)).toHaveLength(5);
    expect(err).toMatch(/gone: The server "gone" cannot be reached/);
    expect(err).toMatch(/loop: .*do not end/);
    expect(err).toMatch(/refuse: The server refused initialize: not today, initialize \(-32000\)/);
    expect(err).toMatch(/die: The server "die" ended/);
    expect(err).toMatch(/silent: The server "silent" did not answer within 8 s\. \[timeouts\.upstream\]/);
  });

  it('waits for an answer no longer than a person would, says what to do and asks the next server', async () => {
    const mute = createServer();
    const url = `http://127.0.0.1:${await listen(mute)}/mcp`;
    const servers = { sleeps: { command: ['sleep', '100'] }, mute: { url }, good: { command: listing('pages') } };
    const config = await file('mute.yaml', JSON.stringify({ servers, timeouts: { queue: '8s' } }));
    const { code, out, err } = await wharf('inspect', '--config', config);
    await close(mute);
    expect(code).toBe(1);
    const advice = 'if it only needs longer, raise timeouts.queue in a config.';
    const within = 'did not answer within 8 s. [timeouts.queue]';
    const env = 'under Wharf it has only HOME, LANG, PATH, TMPDIR and USER, and what --env or "env" names';
    expect(err).toContain(`sleeps: The server "sleeps" ${within} Run its command by itself: ${env}; ${advice}\n`);
    expect(err).toContain(`mute: The server "mute" ${within} Look whether an MCP server runs at its URL; ${advice}\n`);
    expect(err).toContain('good: 2 tools, 1 argument that may be a file\n');
    expect(out.match(/could not be asked to the end/g)).toHaveLength(2);
  });

  it('of one server of a config asks only that', async () => {
    const servers = { good: { command: listing('pages') }, bad: { command: listing('die') } };
    const config = await file('two.yaml', JSON.stringify({ servers }));
    const { code, err } = await wharf('inspect', '--config', config, 'good');
    expect([code, err.includes('bad')]).toEqual([0, false]);
    expect(await wharf('inspect', '-c', config, 'goods')).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('no server called "goods"; the config has: good, bad'),
    });
  });

  it('that is interrupted takes its processes with it', async () => {
    const pidFile = join(folder, 'pid');
    const running = start(['inspect', '--', ...listing('silent'), pidFile]);
    let pid = 0;
    while (pid === 0) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      pid = Number(await readFile(pidFile, 'utf8').catch(() => ''));
    }
    expect(process.kill(pid, 0)).toBe(true);
    running.child.kill('SIGINT');
    const { code, out } = await running.ended;
    expect(code).toBe(1);
    expect(out).toContain('could not be asked to the end');
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  it.each([
    [['inspect'], /wharf inspect --config/],
    [['inspect', 'ocr'], /wharf inspect/],
    [['inspect', 'ocr', '--upstream', 'http://127.0.0.1:1/'], /a server is chosen from a config/],
    [['inspect', '--config', 'x', '--upstream', 'y'], /only one of/],
    [['inspect', '--config', 'x', 'a', 'b'], /too many arguments/],
  ])('%j is a usage error', async (args, message) => {
    const { code, out, err } = await wharf(...args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(message);
  });
});

describe('the tools of', () => {
  it('server-everything, over every transport', async () => {
    for (const transport of ['stdio', 'http', 'sse'] as const) {
      const server = await startEverything(transport);
      const { code, out, err } = await wharf('inspect', ...server.wharfArgs);
      server.stop();
      expect({ transport, code, err }).toMatchObject({
        code: 0,
        err: expect.stringMatching(/1[0-9] tools, 1 argument /),
      });
      expect(out).toMatch(
        /# +gzip-file-as-resource:\n +# +files:\n +# +# likely: .*data URI.*\n +# +# it takes addresses, paths or text too .*\n +# +data: \{ encoding: dataUri \}\n/,
      );
      expect(await wharf('check', '-c', await file(`${transport}.yaml`, out))).toMatchObject({ code: 0 });
    }
  });

  it('server-filesystem, which takes no files but paths of its own', async () => {
    const { code, out } = await wharf('inspect', ...filesystemServer(folder).wharfArgs);
    expect([code, /encoding/.test(out)]).toEqual([0, false]);
    expect(out).toMatch(/nothing to configure: read_file,[\s\S]*write_file/);
  });

  it('a server of 2026-07-28, which has no sessions', async () => {
    const http = await startFixtureServer('http-2026');
    const overHttp = await wharf('inspect', '--upstream', http.url);
    http.stop();
    expect(overHttp).toMatchObject({ code: 0, out: expect.stringContaining('test_simple_text') });
    const overStdio = await wharf('inspect', '--', ...stdioCommand('stdio-2026'));
    expect(overStdio).toMatchObject({ code: 0, out: expect.stringContaining('test_simple_text') });
  });
});
