import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterEach, describe, expect, it } from '@jest/globals';
import { create, preflight, settings } from '../../../adapters/upstream/stdio.js';
import type { SharedConnection, SharedUpstream } from '../../../gateway/ports/upstream.js';
import { isRunning } from '../../helpers/is-running.js';
import type { Taken } from '../../helpers/taking-server.js';
import { until } from '../../helpers/wait.js';
import { describeSharedUpstream, describeUpstream, type UpstreamSubject } from '../upstream.contract.js';
import { describeSending, type SendingSubject } from '../upstream-sending.contract.js';
import {
  calm,
  failureOf,
  fixture,
  fixtureFile,
  type LogLine,
  type Overrides,
  recordingLog,
  request,
  stdioServer,
  upstreamDeps,
} from './subject.js';

function subject(): UpstreamSubject {
  const pids = new Set<number>();
  const start = (command: string[], overrides: Overrides = {}): SharedUpstream => {
    const log = recordingLog();
    // every child has a log of its own, which names it
    log.child = (fields) => {
      pids.add(Number(fields.pid));
      return log;
    };
    return create(settings.parse({ command }), { ...upstreamDeps(overrides), log });
  };
  return {
    healthy: async (overrides) => start(stdioServer(), overrides),
    unreachable: async () => start(['/nonexistent/server']),
    dying: async () => start(fixture('half-line')),
    limitOfOne: { limits: { processes: 1 } },
    limitError: 'process_limit',
    leftovers: () => [...pids].filter(isRunning).length,
    clean: async () => undefined,
  };
}

function sending(): SendingSubject {
  const folder = mkdtempSync(join(tmpdir(), 'wharf-taken-'));
  return {
    taking: async (pace, overrides) => {
      const file = join(folder, 'taken');
      writeFileSync(file, '');
      const command = [process.execPath, fixtureFile('taking-stdio.fixture.mjs'), pace, file];
      const taken = (): Taken[] => {
        const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
        return lines.map((line) => JSON.parse(line) as Taken);
      };
      return { upstream: create(settings.parse({ command }), upstreamDeps(overrides)), taken };
    },
    stall: 'upstream',
    clean: async () => rmSync(folder, { recursive: true }),
  };
}

describeSending('stdio', sending);
describeUpstream('stdio', subject);
describeSharedUpstream('stdio', subject);

describe('stdio', () => {
  const lines: LogLine[] = [];
  let upstream: SharedUpstream;

  const open = (
    command: string[],
    more: Overrides & { env?: object; cwd?: string; withheldEnv?: string[] } = {},
  ): Promise<SharedConnection> => {
    const { env, cwd, withheldEnv, ...overrides } = more;
    lines.length = 0;
    const deps = { ...upstreamDeps(overrides), log: recordingLog(lines) };
    const parsed = settings.parse({ command, ...(env && { env }), ...(cwd && { cwd }) });
    const inherited = { PATH: process.env.PATH ?? '', HOME: '/home/x', SECRET: 'parent', NODE_OPTIONS: '--bad' };
    upstream = create(parsed, { ...deps, inheritedEnv: inherited, withheldEnv });
    return upstream.connect(calm());
  };
  const firstLine = async (body: Readable): Promise<Record<string, unknown>> => {
    let text = '';
    await new Promise<void>((resolve, reject) => {
      const read = (part: Buffer): void => {
        text += part.toString();
        if (!text.includes('\n')) return;
        body.off('data', read);
        body.off('error', reject);
        resolve();
      };
      body.on('data', read);
      body.on('error', reject);
    });
    return JSON.parse(text.slice(0, text.indexOf('\n'))) as Record<string, unknown>;
  };
  const drainUntilFailure = async (body: Readable) => {
    let text = '';
    const failure = await failureOf(
      (async () => {
        for await (const part of body) text += String(part);
      })(),
    );
    return { failure, text };
  };

  afterEach(() => upstream.close());

  it('gives the child five variables of its own environment and those of the config (G40)', async () => {
    const connection = await open(fixture('env'), { env: { LANG: 'C', API_KEY: 'k' }, cwd: '/' });
    await connection.send(request(1, 'ping'));
    const told = await firstLine(connection.body);
    expect(told.env).toEqual({ PATH: process.env.PATH, HOME: '/home/x', LANG: 'C', API_KEY: 'k' });
    expect(told.cwd).toBe('/');
    expect(told.group).toBe(told.pid);
  });

  it('passes arguments as they are, through no shell', async () => {
    const script = 'process.stdout.write(JSON.stringify(process.argv.slice(1)) + "\\n"); process.stdin.resume()';
    const connection = await open([process.execPath, '-e', script, '$HOME; echo *', '']);
    expect(await firstLine(connection.body)).toEqual(['$HOME; echo *', '']);
  });

  it('writes one line per message, whatever line breaks it holds', async () => {
    const connection = await open(fixture('echo'));
    await connection.send(Buffer.from('{\r\n  "a": "x\\n",\n "b": 1\n}'));
    await connection.send(Buffer.from('{"next":1}'));
    let text = '';
    connection.body.on('data', (part) => {
      text += String(part);
    });
    await until(() => text.endsWith('}\n') && text.split('\n').length === 3);
    expect(text).toBe('{    "a": "x\\n",  "b": 1 }\n{"next":1}\n');
  });

  it('keeps messages that are sent together in order', async () => {
    const connection = await open(fixture('echo'));
    const messages = Array.from({ length: 50 }, (_, i) => `{"n":${i},"pad":"${'p'.repeat(i * 1000)}"}`);
    let text = '';
    connection.body.on('data', (part) => {
      text += String(part);
    });
    await Promise.all(messages.map((message) => connection.send(Buffer.from(message))));
    const expected = `${messages.join('\n')}\n`;
    await until(() => text.length >= expected.length);
    expect(text).toBe(expected);
  });

  it('says how a process died and what it said last, but only to the operator', async () => {
    const connection = await open(fixture('half-line'));
    await connection.send(request(1, 'ping'));
    const { failure, text } = await drainUntilFailure(connection.body);
    expect(text).toBe('{"whole":true}\n{"half":');
    expect(failure.code).toBe('upstream_closed');
    expect(failure.message).toBe('The server "subject" ended before its answer was complete.');
    expect(failure.cause).toHaveProperty('message', 'signal SIGKILL; its last words: out of paper');
    expect((await failureOf(connection.send(request(2, 'ping')))).code).toBe('upstream_closed');
  });

  it('says that a process wrote nothing to standard error, instead of none as its last words', async () => {
    const connection = await open([process.execPath, '-e', 'process.exit(3)']);
    const { failure } = await drainUntilFailure(connection.body);
    expect(failure.cause).toHaveProperty('message', 'exit code 3; it wrote nothing to standard error');
  });

  it('says with which code a process ended that wrote nothing, and is not ready until another one has written', async () => {
    const once = join(mkdtempSync(join(tmpdir(), 'wharf-once-')), 'mended');
    const script = `if (!require('node:fs').existsSync(${JSON.stringify(once)})) { console.error('no licence'); process.exit(4); }
      process.stdin.once('data', () => process.stdout.write('{}\\n'))`;
    const upstream = create(settings.parse({ command: [process.execPath, '-e', script] }), upstreamDeps());
    await upstream.check();
    const { failure } = await drainUntilFailure((await upstream.connect(calm())).body);
    expect(failure.message).toBe(
      'The server "subject" ended with exit code 4 before it wrote anything; its last words are in the log of Wharf.',
    );
    expect(failure.cause).toHaveProperty('message', 'exit code 4; its last words: no licence');
    const faultOf = () => upstream.check().catch((error: unknown) => error);
    await until(async () => (await faultOf()) !== undefined);
    expect(await faultOf()).toMatchObject({
      code: 'upstream_unreachable',
      facts: { reason: 'its process ended with exit code 4 before it wrote anything' },
    });
    writeFileSync(once, '');
    const connection = await upstream.connect(calm());
    await connection.send(request(1, 'ping'));
    await firstLine(connection.body);
    await upstream.check();
    await upstream.close();
    await upstream.check();
    rmSync(once);
  });

  it('says which variable a process misses that Wharf has, and how to pass it on', async () => {
    const script = (said: string) => [
      process.execPath,
      '-e',
      `console.error(${JSON.stringify(said)}); process.exit(1)`,
    ];
    const withheldEnv = ['_', 'API_KEY', 'OTHER_KEY'];
    const wordsOf = async (said: string, more: { env?: object } = {}) => {
      const connection = await open(script(said), { withheldEnv, ...more });
      const { failure } = await drainUntilFailure(connection.body);
      return (failure.cause as Error).message.replace(/^exit code 1; its last words: /, '');
    };
    expect(await wordsOf('Set API_KEY.')).toBe(
      'Set API_KEY. (Wharf has API_KEY, and does not pass it on: that takes --env API_KEY, or "env" of the server in the config)',
    );
    expect(await wordsOf('MY_API_KEY is missing')).toBe('MY_API_KEY is missing');
    expect(await wordsOf('_ = open(API)')).toBe('_ = open(API)');
    expect(await wordsOf('API_KEY is wrong', { env: { API_KEY: 'x' } })).toBe('API_KEY is wrong');
  });

  it.each([
    ['npm error code ENOTFOUND', 'HTTPS_PROXY'],
    ['npm error code SELF_SIGNED_CERT_IN_CHAIN', 'NODE_EXTRA_CA_CERTS'],
    ['error: dns error: failed to lookup address information', 'https_proxy'],
    ['curl: (6) Could not resolve host: x', 'ALL_PROXY'],
  ])('says which variable leads into the network that a process did not reach: %s, %s', async (said, name) => {
    const script = `console.error(${JSON.stringify(said)}); process.exit(1)`;
    const causeWith = async (withheldEnv: string[]) => {
      const connection = await open([process.execPath, '-e', script], { withheldEnv });
      return ((await drainUntilFailure(connection.body)).failure.cause as Error).message;
    };
    expect(await causeWith(['MY_PROXY_NAME', name])).toContain(`(Wharf has ${name}, and does not pass it on`);
    expect(await causeWith(['MY_PROXY_NAME'])).toBe(`exit code 1; its last words: ${said}`);
  });

  it('keeps of a stack what happened, not where', async () => {
    const connection = await open([process.execPath, '-e', 'require("/no/such/module.js")']);
    const { failure } = await drainUntilFailure(connection.body);
    const { message } = failure.cause as Error;
    expect(message).toMatch(/^exit code 1; its last words: .*Error: Cannot find module '\/no\/such\/module\.js'/s);
    expect(message).not.toMatch(/^\s+at /m);
  });

  it('says so too when the pipe breaks some time before the process has ended', async () => {
    const script = 'exec <&-; sleep 0.4; echo no licence >&2; exit 7';
    const connection = await open(['sh', '-c', script]);
    connection.body.on('error', () => void connection.close()).resume();
    let failure: unknown;
    for (let at = 0; failure === undefined; at++) {
      failure = await connection.send(request(at, 'ping')).catch((error: unknown) => error);
    }
    expect((failure as Error).cause).toHaveProperty('message', 'exit code 7; its last words: no licence');
    expect(failure).toHaveProperty('facts.reason', 'exit code 7');
  });

  it('hands over all that a process wrote before it died, also to a slow reader', async () => {
    const script = 'process.stdin.once("data", () => process.stdout.write("x".repeat(3e6), () => process.exit(3)))';
    const connection = await open([process.execPath, '-e', script]);
    await connection.send(request(1, 'ping'));
    let bytes = 0;
    const failure = await failureOf(
      (async () => {
        for await (const part of connection.body as AsyncIterable<Buffer>) {
          bytes += part.length;
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      })(),
    );
    expect([bytes, failure.code]).toEqual([3_000_000, 'upstream_closed']);
    expect(failure.cause).toHaveProperty('message', expect.stringContaining('exit code 3'));
  });

  it('treats an exit without being asked as a failure, whatever the code', async () => {
    const connection = await open([process.execPath, '-e', 'process.exit(0)']);
    const { failure } = await drainUntilFailure(connection.body);
    expect([failure.code, failure.cause]).toEqual([
      'upstream_closed',
      expect.objectContaining({ message: expect.stringContaining('exit code 0') }),
    ]);
  });

  it('ends a process that closed its stdout', async () => {
    const connection = await open(fixture('close-stdout'));
    await connection.send(request(1, 'ping'));
    const { failure } = await drainUntilFailure(connection.body);
    expect(failure.code).toBe('upstream_closed');
  });

  it('says so when the process closed its stdin', async () => {
    const connection = await open(fixture('close-stdin'));
    await firstLine(connection.body);
    const big = Buffer.alloc(1_000_000, 0x20);
    expect((await failureOf(connection.send(big))).code).toBe('upstream_closed');
  });

  it('ends the grandchildren with the child, even those that ignore SIGTERM', async () => {
    const connection = await open(fixture('family'));
    const { pid, child } = await firstLine(connection.body);
    expect([isRunning(Number(pid)), isRunning(Number(child))]).toEqual([true, true]);
    await connection.close();
    await until(() => !isRunning(Number(pid)) && !isRunning(Number(child)));
  });

  it('ends what a dead process left behind, and the body with it', async () => {
    const connection = await open(fixture('orphan'));
    await firstLine(connection.body);
    await connection.send(request(1, 'ping'));
    const { failure } = await drainUntilFailure(connection.body);
    expect(failure.cause).toHaveProperty('message', expect.stringContaining('exit code 7'));
  });

  it('ends a process that ignores the end of its stdin and SIGTERM', async () => {
    const connection = await open(fixture('stubborn'));
    const { pid } = await firstLine(connection.body);
    await connection.close();
    await until(() => !isRunning(Number(pid)));
  });

  it('lets go of a place only when the process is gone', async () => {
    const first = await open(stdioServer(), { limits: { processes: 1 } });
    const failure = await failureOf(upstream.connect(calm()));
    expect(failure.facts).toEqual({ server: 'subject', limit: 'limits.processes', allowed: 1 });
    const closing = first.close();
    expect((await failureOf(upstream.connect(calm()))).code).toBe('process_limit');
    await closing;
    await (await upstream.connect(calm())).close();
  });

  it('has as many places as the system allows open files for now, and names that limit', async () => {
    let fits = 1;
    const deps = { ...upstreamDeps({ limits: { processes: 2 } }), processesThatFit: () => fits };
    upstream = create(settings.parse({ command: stdioServer() }), deps);
    const first = await upstream.connect(calm());
    const failure = await failureOf(upstream.connect(calm()));
    expect(failure.facts).toEqual({ server: 'subject', limit: 'ulimit -n', allowed: 1 });
    fits = 100;
    const second = await upstream.connect(calm());
    expect((await failureOf(upstream.connect(calm()))).facts).toMatchObject({ limit: 'limits.processes', allowed: 2 });
    fits = 1;
    await first.close();
    expect((await failureOf(upstream.connect(calm()))).facts).toMatchObject({ limit: 'ulimit -n', allowed: 1 });
    await second.close();
  });

  it('gives the place back when the program cannot be started', async () => {
    const failed = open(['/nonexistent'], { limits: { processes: 1 } });
    expect((await failureOf(failed)).code).toBe('upstream_unreachable');
    expect((await failureOf(upstream.connect(calm()))).code).toBe('upstream_unreachable');
  });

  it.each<[string, string[], string, object?]>([
    ['a file that is no program', [import.meta.filename], 'its command may not be executed'],
    ['a folder', ['/tmp'], 'its command may not be executed'],
    ['a path that leads nowhere', ['/nonexistent/server'], 'its command was not found'],
    ['a name that is nowhere on PATH', ['no-such-program-here'], 'its command was not found'],
    [
      'a program in a folder that is not there',
      [process.execPath],
      'its working directory does not exist',
      { cwd: '/nonexistent' },
    ],
  ])('cannot start %s, and is not ready for the same reason', async (_what, command, reason, more = {}) => {
    upstream = create(settings.parse({ command, ...more }), upstreamDeps());
    const failures = [await failureOf(upstream.check()), await failureOf(upstream.connect(calm()))];
    for (const failure of failures) expect(failure).toMatchObject({ code: 'upstream_unreachable', facts: { reason } });
  });

  it.each([
    ['a program that is not there', '#!/nonexistent/python3 -u'],
    ['a program of a name that ends with a return', '#!/bin/sh\r'],
  ])(
    'cannot start a script whose first line names %s, and does not say that the script is missing',
    async (_what, line) => {
      const folder = mkdtempSync(join(tmpdir(), 'wharf-script-'));
      writeFileSync(join(folder, 'served'), `${line}\n`, { mode: 0o755 });
      for (const more of [{ command: [join(folder, 'served')] }, { command: ['served'], env: { PATH: folder } }]) {
        const options = settings.parse(more);
        upstream = create(options, upstreamDeps());
        const reason = 'the interpreter that its command names was not found';
        const failures = [await failureOf(upstream.check()), await failureOf(upstream.connect(calm()))];
        for (const { facts } of failures) expect(facts.reason).toBe(reason);
        const [fault] = await preflight(options, { inheritedEnv: {} });
        expect(fault?.message).toBe('is a script whose first line names a program that is not here');
      }
      rmSync(folder, { recursive: true });
    },
  );

  it('names a program on the PATH that may not be run where there is no other', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'wharf-path-'));
    writeFileSync(join(folder, 'served'), '#!/bin/sh\n', { mode: 0o644 });
    upstream = create(settings.parse({ command: ['served'], env: { PATH: `${folder}:/nowhere` } }), upstreamDeps());
    expect((await failureOf(upstream.check())).facts.reason).toBe('its command may not be executed');
    rmSync(folder, { recursive: true });
  });

  it('finds a program on the PATH that the child gets', async () => {
    await (await open(['sh', '-c', 'cat'])).close();
    await upstream.check();
    upstream = create(settings.parse({ command: ['sh'], env: { PATH: '/nowhere' } }), upstreamDeps());
    expect((await failureOf(upstream.check())).code).toBe('upstream_unreachable');
  });

  it('makes the sender wait while the process does not read, and gives up after timeouts.upstream', async () => {
    const connection = await open(fixture('deaf'), { timeouts: { upstream: 300 } });
    const { pid } = await firstLine(connection.body);
    const big = Buffer.alloc(4_000_000, 0x20);
    const failure = await failureOf(connection.send(big));
    expect([failure.code, failure.facts.limit]).toEqual(['upstream_timeout', 'timeouts.upstream']);
    // half a message stands in its stdin, so the process is of no more use
    await until(() => !isRunning(Number(pid)));
  });

  it('logs what the process says on stderr, in bounded lines and a bounded number', async () => {
    const connection = await open(fixture('shout'));
    await connection.send(request(1, 'ping'));
    expect(await firstLine(connection.body)).toEqual({ done: true });
    await connection.close();
    await until(() => lines.some((line) => line.level === 'warn'));
    const said = lines.filter((line) => line.text === 'upstream stderr').map((line) => String(line.line));
    expect(said[0]).toBe('x'.repeat(8 * 1024));
    expect(said[1]).toBe('line 0');
    const dropped = lines.filter((line) => line.level === 'warn').reduce((sum, line) => sum + Number(line.lines), 0);
    expect(said.length + dropped).toBe(10_001);
    expect(dropped).toBeGreaterThan(9000);
  });

  it('leaves no process when the whole upstream is closed', async () => {
    const first = await open(fixture('stubborn'));
    const second = await upstream.connect(calm());
    const pids = [await firstLine(first.body), await firstLine(second.body)].map(({ pid }) => Number(pid));
    await upstream.close();
    await until(() => !pids.some(isRunning));
  });
});

describe('settings of a stdio upstream', () => {
  it.each([
    ['no program', { command: [] }],
    ['an empty program', { command: [''] }],
    ['a command line instead of a list', { command: 'node server.js' }],
    ['a NUL', { command: ['node', 'a\0b'] }],
    ['a variable name with =', { command: ['node'], env: { 'A=B': 'c' } }],
    ['an unknown key', { command: ['node'], args: [] }],
  ])('refuse %s', (_what, value) => {
    expect(settings.safeParse(value).success).toBe(false);
  });
});
