import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { problemsOf } from './load-text.js';

const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey;
const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength }).privateKey;
const ed25519 = () => generateKeyPairSync('ed25519').privateKey;
const x25519 = () => generateKeyPairSync('x25519').privateKey;

const PERSON = { auth: { use: 'apiKeys', keys: [{ name: 'ada', hash: `sha256:${'ab'.repeat(32)}` }] } };

/** The problems of a config with this key for the server `a`. */
const problems = (key: KeyObject, algorithm: string | undefined, kind = 'clientCredentials', rest = {}) => {
  const privateKey = key.export({ type: 'pkcs8', format: 'pem' });
  const own = { issuer: 'https://idp.example', clientId: 'wharf', privateKey, ...(algorithm && { algorithm }) };
  const servers = { a: { url: 'https://a.example/mcp', upstreamAuth: { [kind]: own } } };
  return problemsOf(JSON.stringify({ servers, ...rest }));
};

describe('a private key by which Wharf is known to an authorization server', () => {
  it.each<[string, () => KeyObject, string | undefined]>([
    ['P-256', () => ec('P-256'), undefined],
    ['P-256', () => ec('P-256'), 'ES256'],
    ['Ed25519', ed25519, 'EdDSA'],
    ['RSA of 2048 bits', () => rsa(2048), 'RS256'],
    ['RSA of 2048 bits', () => rsa(2048), 'PS256'],
  ])('may be %s', async (_what, key, algorithm) => {
    expect(await problems(key(), algorithm)).toEqual([]);
  });

  it.each<[string, () => KeyObject, string | undefined]>([
    ['RSA without `algorithm`', () => rsa(2048), undefined],
    ['P-384', () => ec('P-384'), 'ES256'],
    ['RSA of 1024 bits', () => rsa(1024), 'RS256'],
    ['P-256', () => ec('P-256'), 'PS256'],
    ['X25519', x25519, 'EdDSA'],
    ['Ed25519', ed25519, 'ES256'],
  ])('must be one that can sign: %s', async (_what, key, algorithm) => {
    const [problem, ...more] = await problems(key(), algorithm);
    expect([problem?.path, problem?.message, more]).toEqual([
      'servers.a.upstreamAuth.clientCredentials.privateKey',
      expect.stringContaining('must be a key for `algorithm`: P-256 for ES256, which is the default'),
      [],
    ]);
  });

  it('must be one that can sign for logins of people too', async () => {
    const [problem] = await problems(rsa(2048), undefined, 'perUser', PERSON);
    expect(problem?.path).toBe('servers.a.upstreamAuth.perUser.privateKey');
  });
});
