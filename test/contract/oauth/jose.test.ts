import { generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { create } from '../../../adapters/oauth/jose.js';
import type { OAuth, TokenRules, TokenVerifier } from '../../../gateway/ports/oauth.js';
import { DEEP, Issuer } from '../../helpers/issuer.js';
import { silentLog } from '../../helpers/silent-log.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let issuer: Issuer;
let oauth: OAuth;
let begun = 0;
let passed = 0;
// it stands still, so that no border of a second falls between a token and its verification
const clock = { now: () => begun + passed };

beforeEach(async () => {
  begun = Date.now();
  passed = 0;
  issuer = await Issuer.start();
  oauth = await create({}, { clock, log: silentLog, timeouts: { state: 500 } });
});

afterEach(async () => {
  await oauth.close();
  await issuer.close();
});

function verifier(rules: Partial<TokenRules> = {}, jwksUri?: string): TokenVerifier {
  const trusted = { issuer: issuer.url, jwksUri, algorithms: ['ES256', 'RS256'] };
  return oauth.verifier({ issuers: [trusted], clockTolerance: MINUTE, typ: 'any', ...rules });
}

/** A token that holds for as long as a test moves its clock. */
const token = (claims: Record<string, unknown> = {}, header: Record<string, unknown> = {}) =>
  issuer.token({ aud: 'here', exp: Math.floor((begun + 10 * DAY) / 1000), ...claims }, header);

const outcome = async (one: TokenVerifier, text: string) => {
  const found = await one.verify(text);
  return 'fault' in found ? found.fault : 'ok';
};

const timesAsked = (path: string) => issuer.asked.filter((one) => one === path).length;

describe('the keys of an issuer', () => {
  it.each([
    ['RFC 8414', '/.well-known/oauth-authorization-server'],
    ['OpenID Connect', '/.well-known/openid-configuration'],
  ])('are found by its metadata: %s', async (_what, path) => {
    issuer.metadataPath = path;
    expect(await outcome(verifier(), await token())).toBe('ok');
  });

  it.each([
    ['another issuer', { issuer: 'https://evil.example' }],
    ['no address of keys', { jwks_uri: undefined }],
    ['an address of keys that is no URL', { jwks_uri: 'file:///etc/passwd' }],
  ])('are not taken from metadata with %s', async (_what, metadata) => {
    issuer.metadata = metadata;
    await expect(verifier().verify(await token())).rejects.toMatchObject({ code: 'keys_unavailable' });
  });

  it('are where the config says, without metadata', async () => {
    expect(await outcome(verifier({}, `${issuer.url}/jwks`), await token())).toBe('ok');
    expect(issuer.asked).toEqual(['/jwks']);
  });

  it('are asked for once by many requests at a time', async () => {
    const one = verifier();
    const text = await token();
    const all = await Promise.all(Array.from({ length: 50 }, () => outcome(one, text)));
    expect([new Set(all), timesAsked('/jwks')]).toEqual([new Set(['ok']), 1]);
  });

  it('may change: a token of the new one is taken, and what was kept of the old one holds no longer', async () => {
    const one = verifier();
    const old = await token();
    const kept = await one.verify(old);
    await issuer.rotate();
    passed += 31_000;
    expect(await outcome(one, await token())).toBe('ok');
    expect('isCurrent' in kept && kept.isCurrent()).toBe(false);
    expect(await outcome(one, old)).toBe('key');
  });

  it('may change under the same name: a token of the new one is taken, and forged ones do not ask more often', async () => {
    const one = verifier();
    const old = await token();
    expect(await outcome(one, old)).toBe('ok');
    const { kid } = issuer.key;
    await issuer.rotate('ES256', kid);
    passed += 31_000;
    expect(await outcome(one, await token())).toBe('ok');
    for (const _ of [1, 2, 3]) expect(await outcome(one, old)).toBe('signature');
    expect(timesAsked('/jwks')).toBe(2);
  });

  it.each([
    ['no names', undefined],
    ['the same name', 'main'],
  ])('may be several with %s: tokens of each are taken, and forged ones are not', async (_what, kid) => {
    const named = { kid };
    await issuer.rotate('ES256', 'main');
    const shown = async () => ({ ...(await issuer.shown()), ...named });
    issuer.showsKey = false;
    issuer.extraKeys = [await shown()];
    const old = await token({}, named);
    const one = verifier();
    expect(await outcome(one, old)).toBe('ok');
    await issuer.rotate('ES256', 'main');
    issuer.extraKeys.push(await shown());
    passed += 31_000;
    expect([await outcome(one, await token({}, named)), await outcome(one, old)]).toEqual(['ok', 'ok']);
    expect(await outcome(one, await token({ exp: Math.floor(begun / 1000) - 100 }, named))).toBe('expired');
    await issuer.rotate('ES256', 'main');
    expect(await outcome(one, await token({}, named))).toBe('signature');
  });

  it.each([
    ['half a key', { x: 'c2hvcnQ' }],
    ['a key without its numbers', { x: undefined }],
  ])(
    'that cannot be used count as unknown: %s does not outlast its repair, nor keep another of its name out',
    async (_what, broken) => {
      issuer.showsKey = false;
      issuer.extraKeys = [{ ...(await issuer.shown()), ...broken }];
      const one = verifier();
      expect(await outcome(one, await token())).toBe('key');
      issuer.extraKeys.push(await issuer.shown());
      passed += 61_000;
      expect(await outcome(one, await token())).toBe('ok');
    },
  );

  it('that are too short for their algorithm keep no other of their name out', async () => {
    await issuer.rotate('RS256', 'main');
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const short = { ...publicKey.export({ format: 'jwk' }), kid: 'main', alg: 'RS256' };
    issuer.showsKey = false;
    issuer.extraKeys = [short];
    const one = verifier();
    expect(await outcome(one, await token())).toBe('key');
    issuer.extraKeys = [short, await issuer.shown()];
    passed += 61_000;
    expect(await outcome(one, await token())).toBe('ok');
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['a number', 1],
    ['a list', [null]],
    ['a key of the same name with a value that is not a text', { kty: 'EC', crv: 'P-256', x: 1, y: 2, kid: 'main' }],
    ['a shared secret', { kty: 'oct', k: 'c2VjcmV0', kid: 'main' }],
  ])('are used beside a member that is not a key that can verify: %s', async (_what, bad) => {
    await issuer.rotate('ES256', 'main');
    issuer.showsKey = false;
    issuer.extraKeys = [bad, await issuer.shown(), bad];
    expect(await outcome(verifier(), await token())).toBe('ok');
  });

  it.each<[string, unknown[]]>([
    ['nothing', []],
    ['a shared secret alone', [{ kty: 'oct', k: 'c2VjcmV0', kid: 'main' }]],
    ['no objects', [null, 1, 'key', []]],
    ['a list in a list, thousands deep', [DEEP]],
  ])('are unavailable, not unknown, while the list of them has %s', async (_what, shown) => {
    const one = verifier();
    const text = await token();
    const kept = await one.verify(text);
    issuer.showsKey = false;
    issuer.extraKeys = shown;
    passed += 31_000;
    await expect(one.verify(await token({}, { kid: 'new' }))).rejects.toMatchObject({ code: 'keys_unavailable' });
    // the issuer may have taken them back
    expect('isCurrent' in kept && kept.isCurrent()).toBe(false);
    await expect(one.verify(text)).rejects.toMatchObject({ code: 'keys_unavailable' });
    issuer.showsKey = true;
    passed += MINUTE;
    expect(await outcome(one, text)).toBe('ok');
  });

  it('are used without what stands beside them, however deep that is', async () => {
    issuer.showsKey = false;
    issuer.extraKeys = [{ ...(await issuer.shown()), note: DEEP, key_ops: ['verify'] }];
    expect(await outcome(verifier(), await token())).toBe('ok');
  });

  it.each([
    ['shows what signs, too', { d: 'c2VjcmV0' }],
    ['is for encryption', { use: 'enc' }],
    ['is for other work', { key_ops: ['encrypt'] }],
    ['says its work in another form', { key_ops: 'verify' }],
  ])('are not used where one %s', async (_what, members) => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    issuer.showsKey = false;
    issuer.extraKeys = [
      { ...(await issuer.shown()), ...members },
      { ...publicKey.export({ format: 'jwk' }), kid: 'other' },
    ];
    expect(await outcome(verifier(), await token())).toBe('key');
  });

  it('are tried up to eight at a time, where more have one name', async () => {
    const made: string[] = [];
    issuer.showsKey = false;
    for (let n = 0; n < 9; n += 1) {
      await issuer.rotate('ES256', 'main');
      issuer.extraKeys.push(await issuer.shown());
      made.push(await token());
    }
    const one = verifier();
    const found = await Promise.all(made.map((text) => outcome(one, text)));
    expect(found).toEqual([...Array(8).fill('ok'), 'key']);
  });

  it('may change a moment after they were asked for: a token of the new one is taken', async () => {
    const one = verifier();
    await one.prepare();
    await issuer.rotate();
    passed += 1000;
    expect(await outcome(one, await token())).toBe('ok');
    expect(timesAsked('/jwks')).toBe(2);
  });

  it('are asked for at most twice in a minute, for whatever reasons (SEC-13)', async () => {
    const one = verifier();
    await one.prepare();
    const asked = [passed];
    for (const end = 10 * MINUTE; passed < end; passed += 5000) {
      const before = timesAsked('/jwks');
      expect(await outcome(one, await token({}, { kid: `made-up-${passed}` }))).toBe('key');
      if (timesAsked('/jwks') > before) asked.push(passed);
    }
    for (const at of asked) expect(asked.filter((other) => other > at - MINUTE && other <= at).length).toBeLessThan(3);
    // a new key is noticed all the same
    const waits = asked.slice(1).map((at, index) => at - Number(asked[index]));
    expect(Math.max(...waits)).toBeLessThanOrEqual(MINUTE);
  });

  it('are asked for at most once in 30 s, whatever keys tokens name (SEC-13)', async () => {
    const one = verifier();
    expect(await outcome(one, await token())).toBe('ok');
    passed += 31_000;
    const made = await Promise.all(Array.from({ length: 100 }, (_, at) => token({}, { kid: `made-up-${at}` })));
    for (const text of made) expect(await outcome(one, text)).toBe('key');
    expect(timesAsked('/jwks')).toBe(2);
  });

  it('are asked for all the same after the clock, which was ahead, has been set right', async () => {
    const one = verifier();
    passed = 60 * MINUTE;
    expect(await outcome(one, await token())).toBe('ok');
    await issuer.rotate();
    passed += 31_000;
    expect(await outcome(one, await token())).toBe('ok');
    await issuer.rotate();
    passed = 0;
    expect(await outcome(one, await token())).toBe('ok');
  });

  it('are a hundred at the most', async () => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const other = publicKey.export({ format: 'jwk' });
    const others = (count: number) => Array.from({ length: count }, (_, at) => ({ ...other, kid: `other-${at}` }));
    issuer.extraKeys = others(100);
    const one = verifier();
    await expect(one.verify(await token())).rejects.toMatchObject({ code: 'keys_unavailable' });
    issuer.extraKeys = others(99);
    passed += 31_000;
    expect(await outcome(one, await token())).toBe('ok');
  });

  it('are used for a day when the issuer does not answer, and never longer (SEC-12)', async () => {
    const one = verifier();
    const text = await token();
    const kept = await one.verify(text);
    issuer.down = 503;
    passed += DAY - MINUTE;
    expect(await outcome(one, text)).toBe('ok');
    expect('isCurrent' in kept && kept.isCurrent()).toBe(true);
    passed += 2 * MINUTE;
    expect('isCurrent' in kept && kept.isCurrent()).toBe(false);
    await expect(one.verify(text)).rejects.toMatchObject({ code: 'keys_unavailable' });
    issuer.down = undefined;
    passed += MINUTE;
    expect(await outcome(one, text)).toBe('ok');
  });

  it('are asked for later when the issuer was down at the start', async () => {
    issuer.down = 500;
    const one = verifier();
    await one.prepare();
    await expect(one.verify(await token())).rejects.toMatchObject({ code: 'keys_unavailable' });
    issuer.down = undefined;
    passed += 31_000;
    expect(await outcome(one, await token())).toBe('ok');
  });
});

describe('the times of a token', () => {
  it.each([
    [-59, 'ok'],
    [-60, 'expired'],
  ])('may be off by the tolerance: an end %i s ago is %s', async (seconds, expected) => {
    expect(await outcome(verifier(), await token({ exp: Math.floor(begun / 1000) + seconds }))).toBe(expected);
  });

  it('may be off by the tolerance: a beginning in 50 s is taken, one in 90 s is not', async () => {
    const nbf = (seconds: number) => token({ nbf: Math.floor(begun / 1000) + seconds });
    expect(await outcome(verifier(), await nbf(50))).toBe('ok');
    expect(await outcome(verifier(), await nbf(90))).toBe('early');
  });
});

describe('the type of a token', () => {
  it.each([
    ['any', 'at+jwt', 'ok'],
    ['any', 'application/at+jwt', 'ok'],
    ['any', 'JWT', 'ok'],
    ['any', undefined, 'ok'],
    ['at+jwt', 'at+jwt', 'ok'],
    ['at+jwt', 'JWT', 'type'],
    ['at+jwt', undefined, 'type'],
  ] as const)('with typ: %s, %s is %s', async (typ, written, expected) => {
    expect(await outcome(verifier({ typ }), await token({}, { typ: written }))).toBe(expected);
  });
});
