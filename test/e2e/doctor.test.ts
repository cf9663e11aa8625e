import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ClamdStub, type StubOptions } from '../helpers/clamd-stub.js';
import { type FakeUpstream, startFakeUpstream } from '../helpers/fake-upstream.js';
import { startRefusingS3 } from '../helpers/fault-s3.js';
import { freePorts } from '../helpers/gateway-process-ports.js';
import { close, listen } from '../helpers/loopback.js';
import { OtlpCollector } from '../helpers/otlp-collector.js';
import { OwnClamd } from '../helpers/own-clamd.js';
import { OwnRedis } from '../helpers/own-redis.js';
import { freshName, redisUrl, s3Config } from '../helpers/services.js';
import { startWharf } from '../helpers/wharf.js';
import { wharf } from './cli-process.js';

let folder: string;
let fake: FakeUpstream;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-doctor-'));
  fake = await startFakeUpstream({ transport: 'json' });
});

afterAll(async () => {
  await fake?.close();
  await rm(folder, { recursive: true, force: true });
});

interface Report {
  ok: boolean;
  checks: { group: string; title: string; state: string; text: string; todo?: string }[];
}

async function doctor(config: Record<string, unknown>, ...args: string[]) {
  const file = join(folder, 'wharf.yaml');
  const stores = { objects: { use: 'filesystem', path: join(folder, 'data') } };
  const written = { listen: '127.0.0.1:0', servers: { good: { url: fake.url } }, ...stores, ...config };
  await writeFile(file, JSON.stringify(written));
  const { code, out, err } = await wharf('doctor', '--config', file, ...args);
  const report = args.includes('--json') ? (JSON.parse(out) as Report) : { ok: code === 0, checks: [] };
  const of = (group: string, title?: string) =>
    report.checks.find((one) => one.group === group && (title === undefined || one.title === title));
  return { code, out, err, report, of };
}

/** What the doctor says of a bucket that refuses some requests. @param what the requests, by method and path */
async function doctorOfBucketThatDenies(what: RegExp) {
  const s3 = s3Config(freshName('doctor'));
  const refusing = await startRefusingS3(s3.endpoint);
  refusing.refuse({ what, status: 403, code: 'AccessDenied' });
  const objects = { use: 's3', ...s3, endpoint: refusing.url };
  return doctor({ objects }, '--json', '--only', 'objects').finally(() => refusing.close());
}

describe('wharf doctor', () => {
  it('says of each part in one line that it works, and exits with 0', async () => {
    const { code, out } = await doctor({});
    expect(code).toBe(0);
    expect(out).toMatch(/^objects\n {2}✓ store, read and remove +filesystem: 2000 bytes/m);
    expect(out).toMatch(/^ {2}✓ list and clear up +filesystem: files are listed/m);
    expect(out).toMatch(/^state\n {2}✓ .* memory: each step is atomic/m);
    expect(out).toMatch(/^servers\n {2}✓ good +probed, \d+ tools$/m);
    expect(out).toMatch(/^\d+ ok, \d+ warnings?, 0 failed$/m);
  });

  it('tries a server of the command line, by its URL or by its command', async () => {
    const byUrl = await wharf('doctor', '--upstream', fake.url, '--only', 'servers');
    expect([byUrl.code, byUrl.out]).toEqual([0, expect.stringMatching(/ probed, \d+ tools$/m)]);
    const ends = ['node', '-e', "console.error('API_KEY is missing'); process.exit(3)"];
    const byCommand = await wharf('doctor', '--only', 'servers', '--', ...ends);
    expect([byCommand.code, byCommand.out]).toEqual([
      1,
      expect.stringMatching(
        /exit code 3 before it wrote anything\. Because: its last words: API_KEY is missing\n.*"wharf inspect", with what/,
      ),
    ]);
    const missing = await wharf('doctor', '--', 'definitely-not-there');
    expect([missing.code, missing.err]).toEqual([1, expect.stringMatching(/^the command after --: is not found/)]);
  });

  it('tries every other part where the command of one server is missing', async () => {
    const servers = { good: { url: fake.url }, bad: { command: ['definitely-not-there'] } };
    const { code, of } = await doctor({ servers }, '--json');
    expect([code, of('servers', 'good')?.state, of('servers', 'bad')?.state]).toEqual([1, 'ok', 'failed']);
    expect(of('config', 'servers.bad.command[0]')).toMatchObject({
      state: 'failed',
      text: 'is not found in PATH (it is "definitely-not-there")',
    });
    expect(of('state')?.state).toBe('ok');
  });

  it('sends the collector of telemetry a message without content, and warns where it is not taken', async () => {
    const collector = await OtlpCollector.start();
    const at = async (endpoint: string) => {
      const telemetry = { use: 'otlp', endpoint };
      const { code, of } = await doctor({ telemetry }, '--json', '--only', 'telemetry');
      return { code, ...of('telemetry') };
    };
    const taken = await at(collector.url);
    await collector.stop();
    expect(taken).toMatchObject({ code: 0, state: 'ok' });
    const other = createServer((_, response) => response.writeHead(404).end());
    const refused = await at(`http://127.0.0.1:${await listen(other)}`);
    await close(other);
    expect(refused).toMatchObject({
      code: 0,
      state: 'warning',
      text: expect.stringMatching(/answers with HTTP 4\d\d/),
    });
    expect(refused.todo).toMatch(/telemetry\.endpoint.*4318/);
  });

  it('tries a real S3 and a real Redis: presigned links, forged and expired ones too', async () => {
    const secret = 'the tests of this repository share this secret';
    const { code, report, of, out } = await doctor(
      {
        objects: { use: 's3', ...s3Config(freshName('doctor')) },
        state: { use: 'redis', url: redisUrl(), keyPrefix: `${freshName('doctor')}:` },
        secret,
      },
      '--json',
    );
    expect(report.checks.filter(({ state }) => state === 'failed')).toEqual([]);
    expect(of('objects', 'list and clear up')).toMatchObject({ state: 'ok' });
    expect(of('objects', 'presigned links')).toMatchObject({
      state: 'ok',
      text: expect.stringContaining('refuses those that are forged or have expired'),
    });
    expect(of('state')).toMatchObject({ state: 'ok', text: expect.stringContaining('redis') });
    expect(code).toBe(0);
    expect(out).not.toContain(secret);
    expect(out).not.toMatch(/Signature=[0-9a-f]/);
  });

  it('says which commands a user of Redis lacks, where callers have limits', async () => {
    const redis = await OwnRedis.start();
    try {
      const steps = '+set +get +getdel +del +pttl +pexpire +eval +evalsha +ping +hello +info +time';
      await redis.command('acl', 'setuser', 'few', 'on', '>few', '~wharf:*', '-@all', ...steps.split(' '));
      const url = redis.url.replace('//', '//few:few@');
      const config = { state: { use: 'redis', url }, secret: 'the tests of this repository share this secret' };
      const limited = await doctor({ ...config, limits: { requestsPerMinute: 5 } }, '--json', '--only', 'state');
      expect(limited.of('state', 'create, read, expire and remove')).toMatchObject({ state: 'ok' });
      expect(limited.of('state', 'what callers have used')).toMatchObject({ state: 'failed' });
      expect(limited.of('state', 'rights')).toMatchObject({
        state: 'failed',
        text: 'redis: its user lacks +hgetall, +hset, +hdel, +pexpireat',
        todo: expect.stringContaining('ACL SETUSER NAME +hgetall +hset +hdel +pexpireat'),
      });
      const free = await doctor(config, '--json', '--only', 'state');
      expect(free.of('state', 'what callers have used')).toMatchObject({ state: 'skipped' });
      expect(free.of('state', 'rights')).toMatchObject({ state: 'ok' });
      const numbered = await doctor(
        { ...config, state: { use: 'redis', url: `${url}/2` } },
        '--json',
        '--only',
        'state',
      );
      const refused = { state: 'failed', todo: expect.stringContaining('ACL SETUSER NAME +select') };
      expect(numbered.of('state', 'create, read, expire and remove')).toMatchObject(refused);
      await redis.command('acl', 'setuser', 'few', '+hgetall', '+hset', '+hdel', '+pexpireat');
      const given = await doctor({ ...config, limits: { requestsPerMinute: 5 } }, '--json', '--only', 'state');
      expect(given.of('state', 'what callers have used')).toMatchObject({ state: 'ok' });
    } finally {
      await redis.stop();
    }
  });

  it('lets a real clamd find the EICAR file', async () => {
    const clamd = await OwnClamd.start();
    try {
      const { of } = await doctor({ antivirus: clamd.config }, '--json', '--only', 'antivirus');
      expect(of('antivirus')).toMatchObject({ state: 'ok', text: expect.stringContaining('clamd finds it') });
    } finally {
      await clamd.stop();
    }
    const { of } = await doctor({ antivirus: clamd.config }, '--json', '--only', 'antivirus');
    expect(of('antivirus')).toMatchObject({ state: 'failed', todo: expect.stringContaining('antivirus.host') });
  });

  it.each<[string, StubOptions, string]>([
    ['passes the test file', { proof: 'stream: OK' }, 'it does not find the EICAR test file'],
    ['finds something in every file', { reply: () => 'stream: Any FOUND' }, 'clamd calls a harmless file infected'],
  ])('says what is wrong with a clamd that %s', async (_, options, text) => {
    const stub = await ClamdStub.start(options);
    try {
      const antivirus = { use: 'clamd', port: stub.port, maxSizeMiB: 1 };
      const { of } = await doctor({ antivirus }, '--json', '--only', 'antivirus');
      expect(of('antivirus')).toMatchObject({ state: 'failed', text: expect.stringContaining(text) });
    } finally {
      await stub.stop();
    }
  });

  it('says by which code S3 refuses a step', async () => {
    const stored = s3Config(freshName('doctor'));
    const s3 = await startRefusingS3(stored.endpoint);
    s3.refuse({ what: /^DELETE /, status: 403, code: 'AccessDenied' });
    const objects = { use: 's3', ...stored, endpoint: s3.url };
    const { code, of } = await doctor({ objects }, '--json', '--only', 'objects');
    await s3.close();
    expect(code).toBe(1);
    const text = expect.stringMatching(/Because: AccessDenied: /);
    expect(of('objects', 'store, read and remove')).toMatchObject({ state: 'failed', text });
  });

  it('knows a tool by the name that clients see, and by a pattern', async () => {
    const url = fake.url;
    const { of } = await doctor(
      {
        servers: {
          pattern: { url, tools: { 'e*': { limits: { file: '1MB' } } } },
          ['n'.repeat(54)]: { url, tools: { progress: { name: 'p' } } },
          ['m'.repeat(54)]: { url },
        },
      },
      '--json',
      '--only',
      'servers',
    );
    expect(of('servers', 'pattern')).toMatchObject({ state: 'ok' });
    expect(of('servers', 'n'.repeat(54))).toMatchObject({ state: 'ok' });
    expect(of('servers', 'm'.repeat(54))).toMatchObject({
      state: 'warning',
      text: expect.stringContaining('a name has 62 characters with its server\'s: "progress"'),
      todo: expect.stringContaining('Cursor'),
    });
  });

  it('says what is wrong and what to do, and exits with 1', async () => {
    const [nobody] = await freePorts(1);
    const { code, report, of } = await doctor(
      {
        servers: {
          good: { url: fake.url, tools: { nosuch: { files: { a: { encoding: 'base64' } } } } },
          gone: { url: `http://127.0.0.1:${nobody}/mcp` },
        },
        objects: {
          use: 's3',
          ...s3Config(freshName('doctor')),
          publicEndpoint: `http://127.0.0.1:${nobody}`,
        },
        publicUrl: `http://127.0.0.1:${nobody}`,
      },
      '--json',
    );
    expect(code).toBe(1);
    expect(report.ok).toBe(false);
    expect(of('servers', 'gone')).toMatchObject({ state: 'failed', todo: expect.stringContaining('at its URL') });
    expect(of('servers', 'good')).toMatchObject({ state: 'warning', text: expect.stringContaining('nosuch') });
    expect(of('objects', 'store, read and remove')).toMatchObject({ state: 'ok' });
    expect(of('objects', 'presigned links')).toMatchObject({
      state: 'failed',
      todo: expect.stringContaining('objects.publicEndpoint'),
    });
    expect(of('publicUrl')).toMatchObject({ state: 'failed', text: expect.stringContaining('ECONNREFUSED') });
  });

  it('says what it gets from a web server instead of MCP', async () => {
    const pages = createServer((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<h1>Welcome</h1>');
    });
    const url = `http://127.0.0.1:${await listen(pages)}/mcp`;
    const { code, of } = await doctor({ servers: { page: { url } } }, '--json', '--only', 'servers');
    await close(pages);
    expect(code).toBe(1);
    expect(of('servers', 'page')).toMatchObject({
      text: 'The server refused initialize: HTTP 200 with text/html, which is not an answer of MCP',
      todo: expect.stringContaining('at its URL'),
    });
  });

  it('does not try what a store that cannot be used lacks, whose advice would lead elsewhere', async () => {
    const [nobody] = await freePorts(1);
    const { code, of } = await doctor(
      {
        objects: { use: 's3', ...s3Config(freshName('doctor')), secretAccessKey: 'not-the-secret' },
        state: { use: 'redis', url: `redis://127.0.0.1:${nobody}` },
        secret: 'the tests of this repository share this secret',
        allowedOrigins: ['https://app.example.com'],
      },
      ...['--json', '--only', 'objects', '--only', 'state'],
    );
    expect(code).toBe(1);
    expect(of('objects', 'store, read and remove')).toMatchObject({
      state: 'failed',
      text: expect.stringContaining('SignatureDoesNotMatch, HTTP 403'),
    });
    for (const title of ['list and clear up', 'presigned links', 'links in web pages'])
      expect(of('objects', title)).toMatchObject({ state: 'skipped', text: expect.stringContaining('not tried') });
    expect(of('state', 'create, read, expire and remove')).toMatchObject({ state: 'failed' });
    expect(of('state', 'settings')).toMatchObject({ state: 'skipped', text: expect.stringContaining('not tried') });
  });

  it.each([
    ['list the bucket', /^GET \/[^?]*\?.*list-type=2/],
    ['list unfinished uploads', /^GET \/[^?]*\?.*uploads/],
    ['abort uploads', /^DELETE .*uploadId=/],
  ])('finds a bucket where Wharf may not %s: what breaks off would stay for good', async (_, what) => {
    const { code, of } = await doctorOfBucketThatDenies(what);
    expect(code).toBe(1);
    expect(of('objects', 'store, read and remove')).toMatchObject({ state: 'ok' });
    expect(of('objects', 'list and clear up')).toMatchObject({
      state: 'failed',
      text: expect.stringContaining('AccessDenied'),
      todo: expect.stringContaining('s3:AbortMultipartUpload'),
    });
  });

  it.each([
    ['read', /^GET \/[^?]*\/f\/[^?]*\?x-id=GetObject/, 'store, read and remove', 'cannot be read', 's3:GetObject'],
    ['remove', /^DELETE \/[^?]*\/f\//, 'store, read and remove', 'cannot be removed', 's3:DeleteObject'],
    ['store', /^PUT \/[^?]*\/f\//, 'store, read and remove', 'no file can be stored', 's3:PutObject'],
    ['list the parts of', /^GET .*uploadId=/, 'uploads that go on', 'AccessDenied', 's3:ListMultipartUploadParts'],
  ])(
    'finds a bucket where Wharf may not %s files, and says which right that takes',
    async (_, what, title, text, todo) => {
      const { code, of } = await doctorOfBucketThatDenies(what);
      expect(code).toBe(1);
      expect(of('objects', title)).toMatchObject({
        state: 'failed',
        text: expect.stringContaining(text),
        todo: expect.stringContaining(todo),
      });
    },
  );

  it('tells whether publicUrl leads here: to the Wharf that runs, or to its place', async () => {
    const running = await startWharf({ servers: { good: { url: fake.url } } });
    const listen = new URL(running.url).host;
    expect((await doctor({ listen, publicUrl: running.url }, '--json', '--only', 'publicUrl')).of('publicUrl')).toEqual(
      expect.objectContaining({ state: 'ok' }),
    );
    await running.stop();
    expect((await doctor({ listen, publicUrl: running.url }, '--json', '--only', 'publicUrl')).of('publicUrl')).toEqual(
      expect.objectContaining({ state: 'ok' }),
    );
    const other = createServer((_, response) => response.end('another program')).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const publicUrl = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const { of, code } = await doctor({ publicUrl }, '--json', '--only', 'publicUrl');
    other.close();
    expect(of('publicUrl')).toMatchObject({
      state: 'failed',
      text: expect.stringContaining('something else answers'),
    });
    expect(code).toBe(1);
  });

  it('says that another program has the port of Wharf, and not that Wharf has it', async () => {
    const running = await startWharf({ servers: { good: { url: fake.url } }, config: { adminListen: '127.0.0.1:0' } });
    const other = createServer((_, response) => response.end('another program')).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const taken = `127.0.0.1:${(other.address() as AddressInfo).port}`;
    const ours = { listen: new URL(running.url).host, adminListen: new URL(running.adminUrl).host };
    const found = async (config: object) => {
      const { of } = await doctor({ ...config }, '--json', '--only', 'machine');
      return [of('machine', 'listen'), of('machine', 'adminListen')];
    };
    const well = { state: 'ok', text: expect.stringMatching(/^a Wharf listens on 127\.0\.0\.1:\d+$/) };
    const ill = { state: 'failed', text: `${taken} is in use by another program, and Wharf cannot start` };
    expect(await found(ours)).toMatchObject([well, well]);
    expect(await found({ ...ours, adminListen: taken })).toMatchObject([
      well,
      { ...ill, todo: 'End that program, or set adminListen to another port.' },
    ]);
    await running.stop();
    expect(await found({ ...ours, listen: taken })).toMatchObject([
      ill,
      { state: 'ok', text: expect.stringMatching(/ is free$/) },
    ]);
    const [elsewhere] = await found({
      ...{ listen: '198.51.100.1:8080', publicUrl: 'http://a' },
      auth: { use: 'none', allowPublic: true },
    });
    expect(elsewhere).toMatchObject({
      ...{ state: 'failed', text: expect.stringContaining('EADDRNOTAVAIL') },
      todo: expect.stringMatching(/^Set listen to an address of this machine/),
    });
    other.close();
  });

  it('checks only what --only names, and refuses a group that there is not', async () => {
    const { report } = await doctor({}, '--json', '--only', 'state', '--only', 'machine');
    expect(new Set(report.checks.map(({ group }) => group))).toEqual(new Set(['state', 'machine']));
    expect(await doctor({}, '--only', 'everything')).toMatchObject({
      code: 2,
      err: expect.stringContaining('there are: config, machine, objects'),
    });
  });
});
