import { createServer, type Server, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { create } from '../../../adapters/oauth/jose.js';
import type { OAuth, Registered } from '../../../gateway/ports/oauth.js';
import { close, listen } from '../../helpers/loopback.js';
import { silentLog } from '../../helpers/silent-log.js';

type Answer = (response: ServerResponse) => void;

const NOW = Date.UTC(2026, 0, 1);
const HALF_MIB = 512 * 1024;

let server: Server;
let issuer: string;
let oauth: OAuth;
/** What it answers, by path; everything else is as it should be. */
let answers: Record<string, Answer>;
/** Members of its metadata besides the usual ones. */
let metadata: Record<string, unknown>;
let asked: string[];

const json =
  (value: unknown, status = 200): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume();
    const path = request.url ?? '';
    asked.push(path);
    const usual = path.startsWith('/.well-known/oauth')
      ? json({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          registration_endpoint: `${issuer}/register`,
          ...metadata,
        })
      : json({}, 404);
    (answers[path] ?? usual)(response);
  });
  issuer = `http://127.0.0.1:${await listen(server)}`;
  oauth = await create({}, { clock: { now: () => NOW }, log: silentLog, timeouts: { state: 500 } });
});

beforeEach(() => {
  answers = {};
  metadata = {};
  asked = [];
});

afterAll(async () => {
  await oauth?.close();
  await close(server);
});

const reasonOf = (run: Promise<unknown>) =>
  run.then(
    () => 'none',
    ({ facts }) => facts.reason,
  );

const known = () => oauth.client({ issuer, clientId: 'wharf' }, 'crm');

/** A client that the authorization server has to register first. */
const unknown = () => {
  const registrations = { get: (make: () => Promise<Registered>) => make(), forget: async () => undefined };
  const document = { client_id: 'http://127.0.0.1/client.json', redirect_uris: ['http://127.0.0.1/oauth/callback'] };
  return oauth.client({ issuer }, 'crm', { document, registrations });
};

describe('what is said of an authorization server that', () => {
  it.each<[string, Answer, string]>([
    ['gives no token', json({ hello: 1 }), 'its authorization server answers without a token'],
    ['shows a page', (to) => to.end('<html>'), 'its authorization server answers with something that is not JSON'],
    ['refuses with status 200', json({ error: 'bad_code' }), 'its authorization server says bad_code'],
    ['answers at length', json('x'.repeat(HALF_MIB)), 'the answer of its authorization server cannot be read'],
    [
      'breaks off its answer',
      (to) => {
        to.writeHead(200, { 'content-length': '500' }).write('{"a');
        setImmediate(() => to.destroy());
      },
      'the answer of its authorization server cannot be read',
    ],
    [
      'does not speak HTTP',
      (to) => to.socket?.end('SSH-2.0-x\r\n'),
      'the answer of its authorization server cannot be read',
    ],
    ['gives no answer', (to) => to.socket?.destroy(), 'its authorization server cannot be reached'],
  ])('%s', async (_what, answer, reason) => {
    answers['/token'] = answer;
    expect(await reasonOf(known().request({ grant_type: 'client_credentials' }))).toBe(reason);
  });

  it.each<[string, Answer, string]>([
    [
      'refuses it with a code',
      json({ error: 'invalid_redirect_uri' }, 400),
      'does not register Wharf: invalid_redirect_uri',
    ],
    ['refuses it with a page', (to) => to.writeHead(403).end('<html>'), 'does not register Wharf: HTTP 403'],
    ['names no client', json({}, 201), 'registers Wharf without a client_id that can be sent'],
    [
      'gives too long a secret',
      json({ client_id: 'a', client_secret: 's'.repeat(5000) }, 201),
      'registers Wharf with a client_secret that cannot be sent',
    ],
    [
      'gives a secret that has ended',
      json({ client_id: 'a', client_secret: 's', client_secret_expires_at: 5 }, 201),
      'registers Wharf with a client_secret that has ended',
    ],
  ])('is to register Wharf, and %s', async (_what, answer, reason) => {
    answers['/register'] = answer;
    expect(await reasonOf(unknown().authorizationUrl({}))).toBe(`its authorization server ${reason}`);
  });

  it('takes no secret of a client without one to have ended', async () => {
    answers['/register'] = json({ client_id: 'a', client_secret: null, client_secret_expires_at: 5 }, 201);
    expect(await unknown().authorizationUrl({})).toContain('client_id=a');
  });
});

describe('an address to log in at', () => {
  it.each([
    ['of some hundred kilobytes', (base: string) => `${base}/authorize?${'x'.repeat(300_000)}`],
    ['with a name before its host', () => 'http://accounts.good.example@evil.example/authorize'],
    ['with a fragment', (base: string) => `${base}/authorize#x`],
    ['of another scheme', () => 'javascript:alert(1)'],
  ])('is not used %s', async (_what, address) => {
    metadata = { authorization_endpoint: address(issuer) };
    expect(await reasonOf(known().authorizationUrl({}))).toBe(
      'the metadata of its authorization server cannot be used',
    );
  });
});
