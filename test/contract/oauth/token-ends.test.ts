import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { create } from '../../../adapters/oauth/jose.js';
import type { OAuth } from '../../../gateway/ports/oauth.js';
import { close, listen } from '../../helpers/loopback.js';
import { silentLog } from '../../helpers/silent-log.js';

const NOW = 1_000_000;

let life = '';
let server: Server;
let tokenUrl: string;
let oauth: OAuth;

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(`{"access_token":"a","token_type":"bearer"${life === '' ? '' : `,"expires_in":${life}`}}`);
  });
  tokenUrl = `http://127.0.0.1:${await listen(server)}/token`;
  const clock = { now: () => NOW };
  oauth = await create({}, { clock, log: silentLog, timeouts: { state: 500 } });
});

afterAll(async () => {
  await oauth?.close();
  await close(server);
});

describe('an authorization server that gives no token', () => {
  it('is told apart from one that is not there where its metadata is wrong', async () => {
    const issuer = new URL(tokenUrl).origin;
    const { port } = server.address() as AddressInfo;
    const reasonOf = (url: string) =>
      oauth
        .client({ issuer: url, clientId: 'wharf' }, 'crm')
        .request({ grant_type: 'client_credentials' })
        .catch(({ facts }) => facts.reason);
    expect(await reasonOf(issuer)).toBe('the metadata of its authorization server cannot be used');
    expect(await reasonOf(issuer.replace(String(port), '1'))).toBe('its authorization server cannot be reached');
  });
});

describe('the end of a token that an authorization server gives', () => {
  it.each([
    ['300', 300],
    // as some write it
    ['"300"', 300],
    ['0.5', 0.5],
    ['', undefined],
    ['null', undefined],
    ['0', undefined],
    ['-5', undefined],
    ['"soon"', undefined],
    ['1e999', undefined],
    ['1e300', undefined],
  ])('is, with expires_in %s, in %p seconds', async (written, seconds) => {
    life = written;
    const client = oauth.client({ tokenUrl, clientId: 'wharf' }, 'crm');
    const { expiresAt } = await client.request({ grant_type: 'client_credentials' });
    expect(expiresAt).toBe(seconds === undefined ? undefined : NOW + seconds * 1000);
  });
});
