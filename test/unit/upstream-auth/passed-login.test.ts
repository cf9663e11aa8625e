import { Readable } from 'node:stream';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../../gateway/errors.js';
import { METADATA_PREFIX } from '../../../gateway/identity/resource.js';
import type { ExchangeUpstream, UpstreamRequest } from '../../../gateway/ports/upstream.js';
import { PassedLogin } from '../../../gateway/upstream-auth/passed-login.js';
import { ServerChallenge } from '../../../gateway/upstream-auth/server-challenge.js';

const SERVER = 'https://crm.example/api/mcp';
const BASE = 'https://gw.example/tools';
const caller = { principal: 'token:x', use: 'passthrough', groups: [], scopes: [] } as const;

let documents: Record<string, unknown>;
let asked: UpstreamRequest[];
let now: number;

beforeEach(() => {
  documents = {};
  asked = [];
  now = 1_000_000;
});

function loginOf(resource: 'rewrite' | 'verbatim' = 'rewrite'): PassedLogin {
  const login = new PassedLogin({
    resource,
    server: 'crm',
    url: SERVER,
    baseUrl: () => BASE,
    clock: { now: () => now },
  });
  const upstream: ExchangeUpstream = {
    channel: 'exchange',
    transport: 'test',
    open: async (request) => {
      asked.push(request);
      const found = documents[request.path ?? ''];
      const text = typeof found === 'string' ? found : JSON.stringify(found ?? {});
      return {
        status: found === undefined ? 404 : 200,
        headers: {},
        kind: 'json',
        body: Readable.from([Buffer.from(text)]),
      };
    },
    check: async () => undefined,
    close: async () => undefined,
  };
  login.serve(upstream);
  return login;
}

const refusal = (header: string) => new GatewayError('login_needed', { server: 'crm' }, new ServerChallenge(header));
const shown = (login: PassedLogin, header: string) => login.shown(refusal(header), '/crm/mcp').facts.challenge;
const OWN = `${METADATA_PREFIX}/api/mcp`;
const OURS = `${METADATA_PREFIX}/tools/crm/mcp`;
const paths = () => asked.map(({ path }) => path);

describe('the metadata of a server whose login is passed through', () => {
  it.each([SERVER, 'https://crm.example', 'https://crm.example/', 'https://crm.example/api'])(
    "is for Wharf's URL where it is about the server: %s",
    async (resource) => {
      documents[OWN] = { resource, authorization_servers: ['https://idp.example'], signed_metadata: 'eyJ…' };
      expect(await loginOf().document(OURS)).toEqual({
        resource: `${BASE}/crm/mcp`,
        authorization_servers: ['https://idp.example'],
      });
    },
  );

  it.each(['https://evil.example/mcp', 'https://crm.example.evil.example/', 'https://crm.example/ap', 'not a URL', 7])(
    'is left as it is where it is about anything else, so that clients refuse it: %s (SEC-22)',
    async (resource) => {
      documents[OWN] = { resource, signed_metadata: 'eyJ…' };
      expect(await loginOf().document(OURS)).toEqual({ resource, signed_metadata: 'eyJ…' });
    },
  );

  it('is left as it is where Wharf has the name of the server', async () => {
    documents[OWN] = { resource: SERVER, signed_metadata: 'eyJ…' };
    expect(await loginOf('verbatim').document(OURS)).toEqual(documents[OWN]);
  });

  it('is asked for where the server has said, else at its two usual places', async () => {
    const login = loginOf();
    expect(await login.document(OURS)).toBeUndefined();
    expect(paths()).toEqual([OWN, METADATA_PREFIX]);
    expect(shown(login, 'Bearer resource_metadata="https://crm.example/odd?x=1"')).toBe(
      `Bearer resource_metadata="https://gw.example${OURS}"`,
    );
    documents['/odd?x=1'] = { resource: SERVER };
    expect(await login.document(OURS)).toEqual({ resource: `${BASE}/crm/mcp` });
  });

  it('is asked for once a minute, however many ask, and sooner where there was none', async () => {
    const login = loginOf();
    documents[OWN] = { resource: SERVER };
    for (let count = 0; count < 5; count++) await login.document(OURS);
    now += 59_000;
    await login.document(OURS);
    expect(asked.length).toBe(1);
    now += 1001;
    await login.document(OURS);
    expect(asked.length).toBe(2);
    await login.document('/.well-known/openid-configuration');
    await login.document('/.well-known/openid-configuration');
    expect(asked.length).toBe(3);
    now += 5001;
    await login.document('/.well-known/openid-configuration');
    expect(asked.length).toBe(4);
  });

  it('is asked for anew once the server has refused a caller, who may have to log in elsewhere', async () => {
    const login = loginOf();
    documents[OWN] = { resource: SERVER, authorization_servers: ['https://one.example'] };
    await login.document(OURS);
    documents[OWN] = { resource: SERVER, authorization_servers: ['https://two.example'] };
    shown(login, 'Bearer');
    expect(await login.document(OURS)).toMatchObject({ authorization_servers: ['https://two.example'] });
  });

  it('is asked for without credentials, and redirects are not followed', async () => {
    await loginOf().document(OURS);
    expect(asked[0]).toMatchObject({ method: 'GET', headers: { accept: 'application/json' }, redirects: 'answer' });
    expect(asked[0]?.identity).toBeUndefined();
  });

  it.each(['{', '[1]', '"x"', ' '.repeat(70_000), `{"x":${'['.repeat(30_000)}${']'.repeat(30_000)}}`])(
    'is none where the server shows something else: %#',
    async (text) => {
      documents[OWN] = text;
      expect(await loginOf().document(OURS)).toBeUndefined();
    },
  );
});

describe('the refusal of a server whose login is passed through', () => {
  it('keeps the address of a foreign host, which Wharf does not ask (SEC-06)', async () => {
    const login = loginOf();
    const header = 'Bearer resource_metadata="https://169.254.169.254/latest"';
    expect(shown(login, header)).toBe(header);
    await login.document(OURS);
    expect(paths()).toEqual([OWN, METADATA_PREFIX]);
  });

  it('does not lead Wharf to an address longer than any that a server needs', async () => {
    const login = loginOf();
    const header = (length: number) => `Bearer resource_metadata="https://crm.example/${'x'.repeat(length)}"`;
    expect(shown(login, header(999))).toBe(`Bearer resource_metadata="https://gw.example${OURS}"`);
    expect(shown(login, header(1000))).toBe(header(1000));
  });

  it('has no challenge where the server has none', () => {
    expect(shown(loginOf(), '')).toBeUndefined();
    expect(shown(loginOf(), 'DPoP algs="ES256"')).toBeUndefined();
  });

  it.each(['/mcp', '/mcp?x=1'])('names the path by which it was asked: %s', (url) => {
    const { facts } = loginOf().shown(refusal(`Bearer resource_metadata="https://crm.example/x"`), url);
    expect(facts.resourceMetadata).toBe(`https://gw.example${METADATA_PREFIX}/tools/mcp`);
  });

  it('is the only error that is changed', () => {
    const error = new GatewayError('upstream_timeout', { server: 'crm' });
    expect(loginOf().shown(error, '/mcp')).toBe(error);
  });
});

describe('a caller whom the server has taken', () => {
  it('is known for five minutes', () => {
    const login = loginOf();
    expect(login.knows(caller)).toBe(false);
    login.accepted(caller);
    expect(login.knows(caller)).toBe(true);
    expect(login.knows({ ...caller, principal: 'token:y' })).toBe(false);
    now += 5 * 60_000 - 1;
    expect(login.knows(caller)).toBe(true);
    now += 2;
    expect(login.knows(caller)).toBe(false);
  });
});
