import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createAuthenticator } from '../../../gateway/identity/authenticator.js';
import type { CredentialRequest } from '../../../gateway/ports/identity.js';

const [ANNS, BOBS] = ["ann's key", "bob's key"].map((text) => text.replaceAll(/\W/g, '-')) as [string, string];

const digest = (key: string) => createHash('sha256').update(key).digest();
const authenticate = createAuthenticator({
  keys: [
    { name: 'ann', digest: digest(ANNS) },
    { name: 'bob', digest: digest(BOBS) },
  ],
});

/** A request with these headers, each of which may stand in it more than once: Node keeps the first `Authorization`. */
function request(headers: readonly (readonly [name: string, value: string])[], url = '/mcp'): CredentialRequest {
  const first = new Map(headers.toReversed().map(([name, value]) => [name.toLowerCase(), value]));
  return { headers: Object.fromEntries(first), rawHeaders: headers.flat(), url };
}

const ask = (...headers: [string, string][]) => authenticate(request(headers), undefined);

describe('a caller with a key', () => {
  it.each(['Bearer', 'bearer', 'BEARER'])('is known by it as %s, and by its own header', async (scheme) => {
    expect(await ask(['Authorization', `${scheme} ${ANNS}`])).toMatchObject({ principal: 'ann' });
    expect(await ask(['X-Wharf-Key', BOBS])).toMatchObject({ principal: 'bob' });
  });

  it.each([
    ['no header', []],
    ['an unknown key', [['Authorization', 'Bearer unknown']]],
    ['a key of another scheme', [['Authorization', `Basic ${ANNS}`]]],
    [
      'an unknown key of its own header beside a known one',
      [
        ['X-Wharf-Key', 'unknown'],
        ['Authorization', `Bearer ${ANNS}`],
      ],
    ],
    ['a scheme that proves more', [['Authorization', `DPoP ${ANNS}`]]],
  ] satisfies [string, [string, string][]][])('is refused with %s', (_what, headers) => {
    expect(() => ask(...headers)).toThrow(expect.objectContaining({ code: 'unauthorized' }));
  });

  it('is refused where two programs could read two callers, and where every log would hold its key', () => {
    const [ann, bob] = [ANNS, BOBS].map((key): [string, string] => ['Authorization', `Bearer ${key}`]);
    for (const twice of [
      [ann, bob],
      [ann, ann],
      [ann, ['authorization', `Bearer ${BOBS}`]],
    ] as [string, string][][])
      expect(() => ask(...twice)).toThrow(expect.objectContaining({ code: 'credentials_invalid' }));
    for (const url of [`/mcp?access_token=${ANNS}`, `/mcp?a=1&ACCESS_TOKEN=${ANNS}`])
      expect(() => authenticate(request([ann ?? ['', '']], url), undefined)).toThrow(
        expect.objectContaining({ code: 'credentials_invalid' }),
      );
  });

  it('has its server told what stands beside the key, unless that is a key too, of any caller', async () => {
    const own: [string, string] = ['X-Wharf-Key', ANNS];
    expect(await ask(own, ['Authorization', 'Bearer for-the-server'])).toMatchObject({
      principal: 'ann',
      authorization: 'Bearer for-the-server',
    });
    expect(await ask(own, ['Authorization', 'Basic YTpi'])).toMatchObject({ authorization: 'Basic YTpi' });
    for (const key of [ANNS, BOBS])
      expect(await ask(own, ['Authorization', `Bearer ${key}`])).not.toHaveProperty('authorization');
  });
});
