import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { keyHash } from '../../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { Issuer } from '../../helpers/issuer.js';
import { RawClient } from '../../helpers/raw-client.js';
import { until } from '../../helpers/wait.js';
import { ROOT } from '../cli-process.js';
import { DONE, heard, Reloading } from '../reloading.js';

const STDIO = { command: [process.execPath, `${ROOT}dist/test/helpers/fake-stdio-server.js`] };
const AUDIENCE = 'https://wharf.example';
const KEY = 'ci-0123456789';

let folder: string;
let one: Issuer;
let other: Issuer;
let upstream: FakeUpstream;
let gateway: Reloading;

beforeAll(async () => {
  [one, other, upstream] = await Promise.all([
    Issuer.start(),
    Issuer.start(),
    startFakeUpstream({ transport: 'json', session: true }),
  ]);
});

afterAll(async () => {
  await Promise.all([one?.close(), other?.close(), upstream?.close()]);
});

beforeEach(async () => {
  upstream.respond = ({ method }) =>
    method === 'GET'
      ? { contentType: 'text/event-stream', body: ': here\n\n', framing: 'chunked', cutAfter: 8, cut: 'stall' }
      : undefined;
  one.down = undefined;
  other.down = undefined;
  folder = await mkdtemp(join(tmpdir(), 'wharf-reloaded-tokens-'));
});

afterEach(async () => {
  await gateway?.stop();
  await rm(folder, { recursive: true });
});

const configOf = (auth: object, more: object = {}) => ({
  listen: '127.0.0.1:0',
  objects: { use: 'filesystem', path: join(folder, 'data') },
  auth,
  servers: { hr: { url: upstream.url }, local: STDIO },
  ...more,
});
const issuersOf = (...issuers: Issuer[]) => issuers.map(({ url }) => ({ issuer: url, audiences: [AUDIENCE] }));
const jwt = (...issuers: Issuer[]) => ({ use: 'jwt', jwt: { issuers: issuersOf(...issuers) } });
const tokenOf = (issuer: Issuer, claims: Record<string, unknown> = {}) => issuer.token({ aud: AUDIENCE, ...claims });

const connect = (credential: string, server = 'hr') =>
  RawClient.connect(`${gateway.url}/${server}/mcp`, '2025-06-18', {
    headers: { authorization: `Bearer ${credential}` },
  });
const echo = async (client: RawClient) => (await client.call('echo', { text: 'hello' })).answer.status;
const statusOf = (credential: string) =>
  fetch(`${gateway.url}/hr/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${credential}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-06-18',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
    }),
  }).then(({ status }) => status);

/** The stream of a server that says nothing. */
const streamOf = (credential: string): Promise<Response> =>
  fetch(`${gateway.url}/hr/mcp`, {
    headers: { authorization: `Bearer ${credential}`, accept: 'text/event-stream' },
  });

async function openStream(credential: string): Promise<{ readonly isOver: boolean }> {
  const answer = await streamOf(credential);
  expect(answer.status).toBe(200);
  return heard(answer);
}

/** A stream whose token ends soon after it was opened. */
async function openBriefly(issuer: Issuer): Promise<{ token: string; open: { readonly isOver: boolean } }> {
  for (let seconds = 3; ; seconds *= 2) {
    const exp = Math.floor(Date.now() / 1000) + seconds;
    const token = await tokenOf(issuer, { exp });
    const answer = await streamOf(token);
    if (answer.status === 200) return { token, open: heard(answer) };
    // a busy machine has come too late, and nothing else may be the reason
    expect([answer.status, Date.now() >= exp * 1000]).toEqual([401, true]);
    await answer.text();
  }
}

describe('a config whose rules about tokens are replaced', () => {
  it('lets a new issuer in, refuses one that is gone at once, and tells clients of the new one', async () => {
    const first = await tokenOf(one);
    const second = await tokenOf(other);
    gateway = await Reloading.start(folder, configOf(jwt(one)));
    const client = await connect(first);
    expect([await echo(client), await statusOf(second)]).toEqual([200, 401]);
    await gateway.reload(configOf(jwt(one, other)), DONE);
    expect([await echo(client), await statusOf(second)]).toEqual([200, 200]);
    await gateway.reload(configOf(jwt(other)), DONE);
    expect([await statusOf(first), await statusOf(second)]).toEqual([401, 200]);
    const metadata = await fetch(`${gateway.url}/.well-known/oauth-protected-resource/hr/mcp`);
    expect(await metadata.json()).toMatchObject({ authorization_servers: [other.url] });
  });

  it('keeps the keys of an issuer that stays, also while it is down, and sessions of processes', async () => {
    gateway = await Reloading.start(folder, configOf(jwt(one)));
    const client = await connect(await tokenOf(one), 'local');
    one.down = 503;
    const told = await gateway.reload(configOf(jwt(one, other)), DONE);
    expect(told).toMatch(/"changed":\[\]/);
    expect(await echo(client)).toBe(200);
    // a token that it has not seen before
    expect(await statusOf(await tokenOf(one, { jti: 'new' }))).toBe(200);
  });

  it('judges tokens that were let in before by the new audiences and scopes', async () => {
    gateway = await Reloading.start(folder, configOf(jwt(one)));
    const client = await connect(await tokenOf(one));
    expect(await echo(client)).toBe(200);
    const scoped = { use: 'jwt', jwt: { issuers: issuersOf(one), scopes: { 'hr.echo': ['hr:write'] } } };
    await gateway.reload(configOf(scoped), DONE);
    expect(await echo(client)).toBe(403);
    const both = { ...jwt(one), use: ['apiKeys', 'jwt'], keys: [{ name: 'ci', hash: keyHash(KEY) }] };
    await gateway.reload(configOf(both), DONE);
    expect([await echo(client), await statusOf(KEY)]).toEqual([200, 200]);
    const elsewhere = { use: 'jwt', jwt: { issuers: [{ issuer: one.url, audiences: ['https://other.example'] }] } };
    await gateway.reload(configOf(elsewhere), DONE);
    expect([await statusOf(await tokenOf(one)), await statusOf(KEY)]).toEqual([401, 401]);
  });

  it('lets the stream of a token that has ended go on, unless its caller is refused', async () => {
    const of = (...issuers: Issuer[]) =>
      configOf({ use: 'jwt', jwt: { ...jwt(...issuers).jwt, clockTolerance: '0s' } });
    gateway = await Reloading.start(folder, of(one, other));
    const { token, open } = await openBriefly(one);
    const stranger = await openStream(await tokenOf(other));
    await until(async () => (await statusOf(token)) === 401);
    await gateway.reload(of(one), DONE);
    await until(() => stranger.isOver);
    expect(open.isOver).toBe(false);
    await gateway.reload(of(other), DONE);
    await until(() => open.isOver);
  });

  it('changes nothing with a file that has a problem, or asks for another way in', async () => {
    gateway = await Reloading.start(folder, configOf(jwt(one)));
    const token = await tokenOf(one);
    expect(await statusOf(token)).toBe(200);
    await gateway.reload(configOf({ use: 'jwt', jwt: { issuers: [] } }), /auth\.jwt\.issuers/);
    const keys = { use: 'apiKeys', keys: [{ name: 'ci', hash: keyHash(KEY) }] };
    expect(await gateway.reload(configOf(keys), /restart/)).toMatch(/auth/);
    expect([await statusOf(token), await statusOf(KEY)]).toEqual([200, 401]);
  });
});
