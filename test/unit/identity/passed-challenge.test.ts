import { describe, expect, it } from '@jest/globals';
import { bearerChallenge, unchangedChallenge, writtenChallenge } from '../../../gateway/identity/passed-challenge.js';

const read = (header: string) => Object.fromEntries(bearerChallenge(header) ?? [['none', '']]);

describe("a server's challenge", () => {
  it.each([
    ['Bearer', {}],
    ['bearer realm="a b", error=invalid_token', { realm: 'a b', error: 'invalid_token' }],
    ['Bearer scope = "a b" , error="x"', { scope: 'a b', error: 'x' }],
    ['Basic realm="no", Bearer realm="yes", DPoP algs="ES256"', { realm: 'yes' }],
    ['DPoP algs="ES256"', { none: '' }],
    ['Negotiate abc==, Bearer error="x"', { error: 'x' }],
    ['Bearer error="first", Bearer error="second"', { error: 'first' }],
    ['Bearer error="first", error="second"', { error: 'first' }],
    // a quote with escapes is read in two ways
    ['Bearer error_description="a \\" b", error="x"', { error: 'x' }],
    ['Bearer error="a, Bearer b=\\"c"', {}],
    ['', { none: '' }],
    [`Bearer error="${'x'.repeat(5000)}"`, { none: '' }],
  ])('is read as clients read it: %j', (header, expected) => {
    expect(read(header)).toEqual(expected);
  });

  it('is written again from its known parts alone', () => {
    const params = new Map([
      ['error', 'x'],
      ['scope', 'a b'],
      ['other', 'y'],
      ['resource_metadata', 'https://elsewhere.example'],
    ]);
    expect(writtenChallenge(params, 'https://gw.example/m')).toBe(
      'Bearer error="x", scope="a b", resource_metadata="https://gw.example/m"',
    );
    expect(writtenChallenge(new Map(), undefined)).toBe('Bearer');
  });

  it.each(['Bearer x="\r\nSet-Cookie: a"', 'Bearer x="\u00e9"', 'Bearer '.repeat(1000)])(
    'is not passed on where no header may hold it: %j',
    (header) => {
      expect(unchangedChallenge(header)).toBeUndefined();
    },
  );
});
