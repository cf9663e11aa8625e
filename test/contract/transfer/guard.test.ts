import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../../gateway/errors.js';
import type { Transfer, TransferRules } from '../../../gateway/ports/transfer.js';
import { bytesOf, calm, failureOf, fileOf, type Peer, rules, startPeer, transferTo } from './peer.js';

let peer: Peer;
const open: Transfer[] = [];

/** A transfer whose resolver gives these answers in turn, the last one for ever, and tells what it was asked. */
function resolving(...answers: string[][]): { transfer: Transfer; asked: string[] } {
  const asked: string[] = [];
  const transfer = transferTo(peer, {
    resolve: async (host) => {
      asked.push(host);
      return answers[Math.min(asked.length, answers.length) - 1] ?? [];
    },
  });
  open.push(transfer);
  return { transfer, asked };
}

beforeAll(async () => {
  peer = await startPeer();
});
beforeEach(() => peer.answer((_request, response) => response.end('secret of the inside')));
afterEach(async () => {
  for (const transfer of open.splice(0)) await transfer.close();
});
afterAll(() => peer.close());

/** Rules of a peer without a host of its own, such as a client. */
const stranger = (overrides: Partial<TransferRules> = {}) => rules(peer, { ownOrigin: undefined, ...overrides });

describe('what Wharf never connects to (OAI-10, 2631-59, G11)', () => {
  it.each([
    'https://127.0.0.1:PORT/x',
    'https://127.1:PORT/x',
    'https://2130706433:PORT/x',
    'https://0x7f.1:PORT/x',
    'https://[::ffff:127.0.0.1]:PORT/x',
    'https://0.0.0.0:PORT/x',
    'https://localhost:PORT/x',
    'https://localhost.:PORT/x',
    'https://files.example:PORT/x',
    'http://files.example:PORT/x',
    'https://user:pass@files.example:PORT/x',
  ])('%s', async (url) => {
    const { transfer } = resolving(['127.0.0.1']);
    const { port } = new URL(peer.https);
    const { port: plainPort } = new URL(peer.http);
    for (const real of [port, plainPort]) {
      const asked = url.replace('PORT', real);
      const download = transfer.download({ url: asked, rules: stranger() }, calm());
      expect((await failureOf(download)).code).toBe('fetch_forbidden');
      const upload = { url: asked, method: 'PUT' as const, file: fileOf('x'), rules: stranger() };
      expect((await failureOf(transfer.upload(upload, calm()))).code).toBe('fetch_forbidden');
    }
    expect(peer.connections()).toBe(0);
  });

  it('the same server is reached by the upstream whose host it is', async () => {
    const { transfer } = resolving(['127.0.0.1']);
    expect((await bytesOf(transfer, peer.https, rules(peer))).toString()).toBe('secret of the inside');
    expect((await bytesOf(transfer, peer.http, rules(peer, { ownOrigin: peer.http }))).toString()).toBe(
      'secret of the inside',
    );
    expect(peer.connections()).toBe(2);
  });

  it('a host outside the allowed ones, before its name is looked up (OAI-18)', async () => {
    const { transfer, asked } = resolving(['93.184.216.34']);
    const limits = stranger({ allowedHosts: ['other.example'] });
    const failure = await failureOf(transfer.download({ url: peer.https, rules: limits }, calm()));
    expect(failure).toMatchObject({ code: 'fetch_forbidden', facts: { host: new URL(peer.https).host } });
    expect(asked).toEqual([]);
  });
});

describe('names', () => {
  it.each([
    [['93.184.216.34', '127.0.0.1']],
    [['127.0.0.1', '93.184.216.34']],
    [['2606:4700::1111', '::1']],
    [['::ffff:127.0.0.1']],
    [['169.254.169.254']],
    [['0.0.0.0']],
    [['what is this']],
  ])('%j: one address that is not public is enough', async (answer) => {
    const { transfer } = resolving(answer);
    const failure = await failureOf(transfer.download({ url: peer.https, rules: stranger() }, calm()));
    expect(failure.code).toBe('fetch_forbidden');
    // inside names are not to be explored from outside
    for (const address of answer) expect(JSON.stringify(failure.toJsonRpc())).not.toContain(address);
    expect(failure.cause).toBeInstanceOf(Error);
    expect(peer.connections()).toBe(0);
  });

  it('are looked up once: what they stand for a moment later is not connected to', async () => {
    const other = createServer((_request, response) => response.end('rebound'));
    other.listen(Number(new URL(peer.http).port), '127.0.0.2');
    await once(other, 'listening');
    expect((other.address() as AddressInfo).port).toBe(Number(new URL(peer.http).port));
    const { transfer, asked } = resolving(['127.0.0.1'], ['127.0.0.2']);
    const url = peer.http.replace('127.0.0.1', 'mcp.example');
    peer.answer((request, response) => {
      if (request.url === '/end') response.end('first');
      else response.writeHead(302, { Location: request.url === '/' ? '/again' : '/end' }).end();
    });
    expect((await bytesOf(transfer, url, rules(peer, { ownOrigin: url }))).toString()).toBe('first');
    expect(asked).toEqual(['mcp.example']);
    expect(peer.connections()).toBe(3);
    // a new transfer asks anew, so the second answer was really there
    expect((await bytesOf(transfer, url, rules(peer, { ownOrigin: url }))).toString()).toBe('rebound');
    other.closeAllConnections();
    other.close();
  });

  it('of a loopback upstream may not lead away from loopback', async () => {
    const { transfer } = resolving(['93.184.216.34']);
    const url = peer.http.replace('127.0.0.1', 'localhost');
    const failure = await failureOf(transfer.download({ url, rules: rules(peer, { ownOrigin: url }) }, calm()));
    expect(failure.code).toBe('fetch_forbidden');
  });

  it('that do not exist are a failure, not a refusal', async () => {
    for (const resolve of [async () => [], () => Promise.reject(new Error('ENOTFOUND'))]) {
      const transfer = transferTo(peer, { resolve });
      const failure = await failureOf(transfer.download({ url: `${peer.https}/p?s3cret`, rules: stranger() }, calm()));
      expect(failure).toMatchObject({ code: 'fetch_failed', facts: { reason: 'its name cannot be resolved' } });
      expect(failure.message).not.toContain('s3cret');
      await transfer.close();
    }
  });

  it('without a resolver of the test, localhost is found by the system', async () => {
    const transfer = transferTo(peer, { resolve: undefined });
    const url = peer.http.replace('127.0.0.1', 'localhost');
    const bytes = await bytesOf(transfer, url, rules(peer, { ownOrigin: peer.http }));
    expect(bytes.toString()).toBe('secret of the inside');
    await transfer.close();
  });
});

describe('certificates (2532-57)', () => {
  it.each([
    ['an authority that is not trusted', { ca: undefined }, (url: string) => url],
    ['another name', {}, (url: string) => url.replace('files.example', 'other.example')],
    ['an address', {}, (url: string) => url.replace('files.example', '127.0.0.1')],
  ])('of %s are refused', async (_name, overrides, change) => {
    const transfer = transferTo(peer, overrides);
    const url = `${change(peer.https)}/p?s3cret`;
    const failure = await failureOf(transfer.download({ url, rules: rules(peer, { ownOrigin: url }) }, calm()));
    expect(failure).toMatchObject({ code: 'fetch_failed', facts: { reason: 'its certificate is not trusted' } });
    expect(failure.message).not.toContain('s3cret');
    expect(peer.seen).toEqual([]);
    await transfer.close();
  });
});

describe('headers that a descriptor may not set (2631-33)', () => {
  it.each([
    'Host',
    'host',
    'Content-Length',
    'Transfer-Encoding',
    'Connection',
    'Keep-Alive',
    'Proxy-Authorization',
    'Proxy-Connection',
    'TE',
    'Trailer',
    'Upgrade',
    'Expect',
    'Cookie',
    'Forwarded',
    'X-Forwarded-For',
    'bad name',
    'bad\r\nX',
    ':authority',
    '',
  ])('%j', async (name) => {
    const { transfer } = resolving(['127.0.0.1']);
    const headers = { 'X-Fine': 'yes', [name]: 'x' };
    const failure = await failureOf(transfer.download({ url: peer.https, headers, rules: rules(peer) }, calm()));
    expect(failure.code).toBe('fetch_forbidden');
    expect(failure.message).not.toMatch(/[\r\n]/);
    const upload = { url: peer.https, method: 'PUT' as const, headers, file: fileOf('x'), rules: rules(peer) };
    expect((await failureOf(transfer.upload(upload, calm()))).code).toBe('fetch_forbidden');
    expect(peer.connections()).toBe(0);
  });

  it.each<[string, Record<string, string>]>([
    ['a line break in a value', { 'X-A': 'a\r\nHost: evil' }],
    ['a NUL in a value', { 'X-A': 'a\0' }],
    ['what is not latin1', { 'X-A': '文档' }],
    ['one name in two spellings', { Authorization: 'a', authorization: 'b' }],
    ['too many', Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`X-${index}`, 'x']))],
    ['too long', { 'X-A': 'x'.repeat(9000) }],
  ])('%s', async (_name, headers) => {
    const { transfer } = resolving(['127.0.0.1']);
    const failure = await failureOf(transfer.download({ url: peer.https, headers, rules: rules(peer) }, calm()));
    expect(failure).toBeInstanceOf(GatewayError);
    expect(failure.code).toBe('fetch_forbidden');
    expect(peer.connections()).toBe(0);
  });
});
