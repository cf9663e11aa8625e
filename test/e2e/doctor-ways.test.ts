import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server, request as send } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type AuthorizationServer, startAuthorizationServer } from '../helpers/authorization-server.js';
import { type FakeUpstream, startFakeUpstream } from '../helpers/fake-upstream.js';
import { freePort } from '../helpers/gateway-process-ports.js';
import { Issuer } from '../helpers/issuer.js';
import { close, listen } from '../helpers/loopback.js';
import { OwnRedis } from '../helpers/own-redis.js';
import { freshName, s3Config } from '../helpers/services.js';
import { startWharf, type Wharf } from '../helpers/wharf.js';
import { wharf } from './cli-process.js';

const SECRET = 'the doctor and the Wharf that runs share this';

let folder: string;
let fake: FakeUpstream;
let written = 0;
const ends: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-doctor-ways-'));
  fake = await startFakeUpstream({ transport: 'json' });
});

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

afterAll(async () => {
  await fake?.close();
  await rm(folder, { recursive: true, force: true });
});

interface Found {
  group: string;
  title: string;
  state: string;
  text: string;
  todo?: string;
}

async function doctor(config: Record<string, unknown>, ...args: string[]) {
  written += 1;
  const file = join(folder, `wharf-${written}.yaml`);
  const objects = { use: 'filesystem', path: join(folder, 'data') };
  const whole = { listen: '127.0.0.1:0', servers: { good: { url: fake.url } }, objects, ...config };
  await writeFile(file, JSON.stringify(whole));
  const { code, out, err } = await wharf('doctor', '--config', file, '--json', ...args);
  expect(err).toBe('');
  const { checks } = JSON.parse(out) as { checks: Found[] };
  const of = (title: string) => checks.find((one) => one.title === title) ?? { state: 'missing', text: '', group: '' };
  return { code, out, checks, of };
}

interface Faults {
  /** Answers are passed on when they are complete. */
  gathers?: boolean;
  /** A silence after which an answer is cut off, milliseconds. */
  cutsAfter?: number;
  /** The largest body that is passed on. */
  mostBody?: number;
  /** Refuses each body in the midst of it, when its beginning is on its way already. */
  breaksOff?: boolean;
  /** Headers of the request that are not passed on. */
  drops?: string;
  /** Added to each answer. */
  adds?: Record<string, string>;
}

/** A reverse proxy on loopback with the faults that real ones have. */
async function proxyTo(port: number, faults: Faults): Promise<string> {
  const server: Server = createServer((request, response) => {
    if (faults.breaksOff && request.method === 'POST') {
      const { url: path, headers } = request;
      const onward = send({ host: '127.0.0.1', port, path, method: 'POST', headers });
      onward.on('error', () => response.writeHead(413).end());
      onward.write('x'.repeat(1000), () => onward.destroy());
      request.resume();
      onward.on('close', () => response.headersSent || response.writeHead(413).end());
      return;
    }
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts);
      if (body.length > (faults.mostBody ?? Number.POSITIVE_INFINITY)) {
        response.writeHead(413).end();
        return;
      }
      const headers = { ...request.headers };
      if (faults.drops) delete headers[faults.drops];
      const onward = send({ host: '127.0.0.1', port, path: request.url, method: request.method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, { ...answer.headers, ...faults.adds });
        const gathered: Buffer[] = [];
        let cut: NodeJS.Timeout | undefined;
        const wait = () => {
          clearTimeout(cut);
          if (faults.cutsAfter !== undefined) cut = setTimeout(() => response.destroy(), faults.cutsAfter);
        };
        answer.on('data', (part: Buffer) => {
          wait();
          if (faults.gathers) gathered.push(part);
          else response.write(part);
        });
        answer.on('end', () => {
          clearTimeout(cut);
          response.end(Buffer.concat(gathered));
        });
      });
      onward.on('error', () => response.destroy());
      onward.end(body);
    });
  });
  const own = await listen(server);
  ends.push(() => close(server));
  return `http://127.0.0.1:${own}`;
}

/** A Wharf that runs behind a proxy, and the config that both the doctor and Wharf have. */
async function behind(faults: Faults, secret = SECRET) {
  const port = await freePort();
  const publicUrl = await proxyTo(port, faults);
  const config = { listen: `127.0.0.1:${port}`, publicUrl, secret, allowedHosts: ['127.0.0.1'] };
  const running: Wharf = await startWharf({
    servers: { good: { url: fake.url } },
    config: { ...config, secret: SECRET },
  });
  ends.push(() => running.stop());
  return config;
}

const FAULTS: [what: string, faults: Faults, title: string, text: string][] = [
  ['gathers answers', { gathers: true }, 'event streams', 'arrive together'],
  ['cuts off silent answers', { cutsAfter: 5000 }, 'event streams', 'is cut off'],
  ['takes small bodies alone', { mostBody: 1024 * 1024 }, 'large requests', 'HTTP 413'],
  ['takes Origin away', { drops: 'origin' }, 'pages of other sites', 'Origin does not arrive'],
  [
    'lets every page read answers',
    { adds: { 'access-control-allow-origin': '*' } },
    'pages of other sites',
    'Access-Control-Allow-Origin',
  ],
];

type Report = Awaited<ReturnType<typeof doctor>>;

describe('wharf doctor, through a proxy to the Wharf that runs,', () => {
  // all at once, because each waits for a stream that is silent for 15.5 s
  let well: Report;
  let foreign: Report;
  let stopped: Report;
  let brokenOff: Report;
  let faulty: Map<string, Report>;

  beforeAll(async () => {
    const run = async (config: Promise<Record<string, unknown>>) => doctor(await config, '--only', 'publicUrl');
    const alone = async (faults: Faults) => {
      const port = await freePort();
      return { listen: `127.0.0.1:${port}`, publicUrl: await proxyTo(port, faults) };
    };
    const [reports, ...others] = await Promise.all([
      Promise.all(FAULTS.map(async ([what, faults]) => [what, await run(behind(faults))] as const)),
      run(behind({})),
      run(behind({}, 'another secret than that of the Wharf that runs')),
      run(alone({ gathers: true })),
      run(alone({ breaksOff: true })),
    ]);
    faulty = new Map(reports);
    [well, foreign, stopped, brokenOff] = others;
  });

  it('finds event streams, large bodies and foreign pages well', () => {
    const { of, code, out } = well;
    expect(of('leads to Wharf')).toMatchObject({ state: 'ok' });
    expect(of('event streams')).toMatchObject({ state: 'ok', text: expect.stringContaining('15.5 s') });
    expect(of('large requests')).toMatchObject({ state: 'ok' });
    expect(of('pages of other sites')).toMatchObject({ state: 'ok', text: 'are refused' });
    expect(code).toBe(0);
    expect(out).not.toContain(SECRET);
    expect(out).not.toMatch(/\d{13}\.[\w-]{43}/);
  });

  it.each(FAULTS)('finds a proxy that %s', (what, _faults, title, text) => {
    const { of, code } = faulty.get(what) as Report;
    expect(of(title)).toMatchObject({ state: 'failed', text: expect.stringContaining(text), todo: expect.any(String) });
    expect(of('leads to Wharf').state).toBe('ok');
    expect(code).toBe(1);
  });

  it('does not try what only a shared secret proves to be its own Wharf', () => {
    expect(foreign.of('leads to Wharf')).toMatchObject({ state: 'ok', text: expect.stringContaining('to a Wharf') });
    expect(foreign.of('event streams').state).toBe('skipped');
    expect(foreign.of('large requests').state).toBe('skipped');
  });

  it('takes the place of a Wharf that is stopped', () => {
    const { of } = stopped;
    expect(of('leads to Wharf').state).toBe('ok');
    expect(of('event streams')).toMatchObject({ state: 'failed', text: expect.stringContaining('arrive together') });
    expect(of('large requests').state).toBe('ok');
  });

  it('goes on there when a proxy breaks off a body that it has begun to pass on', () => {
    const { of, code } = brokenOff;
    expect(of('large requests')).toMatchObject({ state: 'failed', text: expect.stringContaining('HTTP 413') });
    expect(of('event streams').state).toBe('ok');
    expect(code).toBe(1);
  });
});

describe('the paths of the doctor', () => {
  it.each([
    ['a word', 'x'],
    ['an old proof', `1600000000000.${'A'.repeat(43)}`],
    ['a proof that is made up', `${Date.now()}.${'A'.repeat(43)}`],
  ])('do not exist for %s', async (_what, token) => {
    const { publicUrl } = await behind({});
    for (const path of [`/check/${token}`, `/check/${token}/stream`])
      expect((await fetch(`${publicUrl}${path}`)).status).toBe(404);
  });
});

describe('wharf doctor, of logins,', () => {
  const jwt = (issuer: string, more: object = {}) => ({
    auth: { use: 'jwt', jwt: { issuers: [{ issuer }], ...more } },
    publicUrl: 'http://127.0.0.1:1',
    secret: SECRET,
  });

  it('finds a real authorization server well', async () => {
    const server: AuthorizationServer = await startAuthorizationServer();
    ends.push(() => server.stop());
    const { of } = await doctor(jwt(server.url), '--only', 'auth');
    expect(of(new URL(server.url).host)).toMatchObject({
      state: 'ok',
      text: expect.stringMatching(/^1 key, PKCE with S256, clients name themselves by a document \(CIMD\); .*RFC 8707/),
    });
  });

  it.each<[string, Record<string, unknown>, string, string]>([
    ['without PKCE', { code_challenge_methods_supported: undefined }, 'failed', 'PKCE'],
    ['with plain PKCE alone', { code_challenge_methods_supported: ['plain'] }, 'failed', 'PKCE'],
    ['without a registration', { client_id_metadata_document_supported: false }, 'warning', 'by hand'],
    ['of another name', { issuer: 'https://other.example' }, 'failed', 'names another issuer'],
    ['without keys', { jwks_uri: undefined }, 'failed', 'jwks_uri'],
  ])('finds an issuer %s', async (_what, metadata, state, text) => {
    const issuer = await Issuer.start();
    ends.push(() => issuer.close());
    const well = { code_challenge_methods_supported: ['S256'], client_id_metadata_document_supported: true };
    issuer.metadata = { ...well, ...metadata };
    const { of } = await doctor(jwt(issuer.url), '--only', 'auth');
    expect(of(new URL(issuer.url).host)).toMatchObject({
      state,
      text: expect.stringContaining(text),
      todo: expect.any(String),
    });
  });

  it.each<[string, unknown[], string]>([
    ['none', [], 'no key in its list can verify'],
    ['a shared secret alone', [{ kty: 'oct', k: 'c2VjcmV0' }], 'no key in its list can verify'],
    ['more keys than Wharf takes', Array(101).fill({ kty: 'EC' }), '101 keys; at most 100 are taken'],
  ])('reads the keys of an issuer as a gateway does: %s', async (_what, keys, text) => {
    const issuer = await Issuer.start();
    ends.push(() => issuer.close());
    issuer.showsKey = false;
    issuer.extraKeys = keys;
    const { of } = await doctor(jwt(issuer.url), '--only', 'auth');
    const found = { state: 'failed', text: expect.stringContaining(text) };
    expect(of(new URL(issuer.url).host)).toMatchObject(found);
  });

  it("gets Wharf's own token for a server, and asks the server with it", async () => {
    const server = await startAuthorizationServer({}, [
      {
        client_id: 'wharf',
        client_secret: 'a-secret-of-wharf',
        grant_types: ['client_credentials'],
        response_types: [],
        redirect_uris: [],
        scope: 'mcp',
      },
    ]);
    const guarded = await startFakeUpstream({ transport: 'json' });
    guarded.respond = ({ headers: { authorization = '' } }) =>
      authorization.startsWith('Bearer ey') ? undefined : { status: 401 };
    ends.push(
      () => server.stop(),
      () => guarded.close(),
    );
    const grant = (clientSecret: string) => ({
      issuer: server.url,
      clientId: 'wharf',
      clientSecret,
      scope: 'mcp',
      resource: 'https://hr.example',
    });
    const servers = (secret: string) => ({
      hr: { url: guarded.url, transport: 'streamable-http', upstreamAuth: { clientCredentials: grant(secret) } },
    });
    const good = await doctor({ servers: servers('a-secret-of-wharf') }, '--only', 'auth', '--only', 'servers');
    expect(good.of('token for hr')).toMatchObject({
      state: 'ok',
      text: expect.stringMatching(/gives one, which lasts (?:5|4\.9|5\.0) min/),
    });
    expect(good.of('hr')).toMatchObject({ state: 'ok', text: expect.stringContaining('tools') });
    expect(good.out).not.toContain('a-secret-of-wharf');
    const bad = await doctor({ servers: servers('another-secret') }, '--only', 'auth', '--only', 'servers');
    expect(bad.of('token for hr')).toMatchObject({ state: 'failed', todo: 'Check servers.hr.upstreamAuth.' });
    expect(bad.out).not.toContain('another-secret');
  });

  it('finds a server well that refuses a call without a token, where callers log in at it', async () => {
    const guarded = await startFakeUpstream({ transport: 'json' });
    guarded.respond = () => ({ status: 401, headers: { 'www-authenticate': 'Bearer' } });
    ends.push(() => guarded.close());
    const servers = { crm: { url: guarded.url, transport: 'streamable-http' } };
    const passed = { servers, auth: { use: 'passthrough' }, publicUrl: 'http://127.0.0.1:1', secret: SECRET };
    const { of, code } = await doctor(passed, '--only', 'servers');
    expect(of('crm')).toMatchObject({ state: 'ok', text: expect.stringContaining('callers log in there') });
    expect(code).toBe(0);
    guarded.respond = () => ({ status: 500 });
    expect((await doctor(passed, '--only', 'servers')).of('crm').state).toBe('failed');
  });

  it("does not call a server broken that shows its tools to people's own logins alone", async () => {
    const server = await startAuthorizationServer();
    const guarded = await startFakeUpstream({ transport: 'json' });
    guarded.respond = () => ({ status: 401 });
    ends.push(
      () => server.stop(),
      () => guarded.close(),
    );
    const perUser = { issuer: server.url };
    const ask = (publicUrl: string) =>
      doctor(
        {
          servers: { mail: { url: guarded.url, transport: 'streamable-http', upstreamAuth: { perUser } } },
          auth: { use: 'apiKeys', keys: [{ name: 'ann', hash: `sha256:${'0'.repeat(64)}` }] },
          publicUrl,
          secret: SECRET,
        },
        ...['--only', 'auth', '--only', 'servers'],
      );
    const { of } = await ask('https://wharf.example');
    expect(of('logins for mail')).toMatchObject({ state: 'ok', text: expect.stringContaining('a document at') });
    // an authorization server reads documents at https addresses alone
    const plain = await ask('http://127.0.0.1:1');
    expect(plain.of('logins for mail')).toMatchObject({
      state: 'ok',
      text: expect.stringContaining('registers itself'),
    });
    expect(of('mail')).toMatchObject({ state: 'skipped', text: expect.stringContaining('have logged in') });
  });
});

describe('wharf doctor, of stores,', () => {
  it('says what a Redis would lose, and when that is a fault', async () => {
    const redis = await OwnRedis.start();
    ends.push(() => redis.stop());
    const ask = async () =>
      (await doctor({ state: { use: 'redis', url: redis.url }, secret: SECRET }, '--only', 'state')).of('settings');
    expect(await ask()).toMatchObject({
      state: 'warning',
      text: expect.stringMatching(/^(?:Redis|Valkey) \d.*lost when it restarts/),
    });
    await redis.command('config', 'set', 'appendonly', 'yes');
    expect(await ask()).toMatchObject({ state: 'ok', text: expect.stringContaining('appendonly') });
    await redis.command('config', 'set', 'maxmemory-policy', 'volatile-lru');
    expect(await ask()).toMatchObject({ state: 'warning', text: expect.stringContaining('volatile-lru') });
    await redis.command('config', 'set', 'maxmemory', '100mb');
    expect(await ask()).toMatchObject({ state: 'failed', todo: expect.stringContaining('noeviction') });
  });

  it('finds a bucket whose links pages cannot read', async () => {
    const objects = { use: 's3', ...s3Config(freshName('doctor')) };
    const only = ['--only', 'objects'];
    expect((await doctor({ objects }, ...only)).of('links in web pages').state).toBe('skipped');
    const { of } = await doctor({ objects, allowedOrigins: ['https://chat.example.com'] }, ...only);
    expect(of('links in web pages')).toMatchObject({
      state: 'failed',
      text: expect.stringContaining('https://chat.example.com'),
      todo: expect.stringContaining('CORS'),
    });
  });
});

describe('wharf doctor --offline', () => {
  it('asks nothing but this machine', async () => {
    const port = await freePort();
    const { checks, code } = await doctor(
      { servers: { gone: { url: `http://127.0.0.1:${port}/mcp` } }, publicUrl: `http://127.0.0.1:${port}` },
      '--offline',
    );
    const tried = checks.filter(({ state }) => state !== 'skipped').map(({ group }) => group);
    expect(new Set(tried)).toEqual(new Set(['config', 'machine']));
    expect(code).toBe(0);
  });

  it('tells programs what is wrong with a config', async () => {
    const { checks, code } = await doctor({ nosuch: 1 }, '--offline');
    expect(code).toBe(1);
    expect(checks).toEqual([expect.objectContaining({ group: 'config', title: 'nosuch', state: 'failed' })]);
  });
});
