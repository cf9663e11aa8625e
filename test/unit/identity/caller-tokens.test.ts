import { describe, expect, it } from '@jest/globals';
import { CallerTokens } from '../../../gateway/identity/caller-tokens.js';

const ISSUER = 'https://idp.example';

/** Who a token with these claims makes its caller. */
async function identityOf(claims: Record<string, unknown>) {
  const found = { issuer: ISSUER, claims, audiences: [], until: 1_000, isCurrent: () => true };
  const settings = { audiences: new Map(), principal: 'email', groups: 'groups', implies: {}, maxTokenBytes: 1024 };
  const verifier = { verify: async () => found, prepare: async () => {}, issuers: [] };
  return (await new CallerTokens(verifier, settings, { now: () => 0 }).read('a token')).identity;
}

describe('a valid token', () => {
  /** Tokens of a verifier that counts, of which each is valid until 1000. */
  function lab() {
    const seen = { now: 0, verified: 0, isCurrent: true };
    const settings = { audiences: new Map(), principal: 'email', groups: 'groups', implies: {}, maxTokenBytes: 1024 };
    const verify = async () => {
      seen.verified += 1;
      const claims = { email: `ada${seen.verified}@example.com` };
      return { issuer: ISSUER, claims, audiences: [], until: 1000, isCurrent: () => seen.isCurrent };
    };
    const verifier = { verify, prepare: async () => {}, issuers: [] };
    return { seen, tokens: new CallerTokens(verifier, settings, { now: () => seen.now }) };
  }

  it('is verified once, until the moment at which it ends', async () => {
    const { seen, tokens } = lab();
    const known = await tokens.read('a token');
    seen.now = 999;
    expect(tokens.read('a token')).toBe(known);
    await tokens.read('another token');
    expect(seen.verified).toBe(2);
    seen.now = 1000;
    await tokens.read('a token');
    expect(seen.verified).toBe(3);
  });

  it('is verified again once its issuer has other keys', async () => {
    const { seen, tokens } = lab();
    await tokens.read('a token');
    seen.isCurrent = false;
    expect((await tokens.read('a token')).identity.principal).toBe(`${ISSUER}|ada2@example.com`);
    expect(seen.verified).toBe(2);
  });

  it('is for the resources that its audiences name, and for those of an issuer that can name no other', async () => {
    const found = (audiences: readonly string[], issuer = ISSUER) => ({
      verified: { issuer, claims: {}, audiences, until: 1000, isCurrent: () => true },
      identity: { principal: 'ada', use: 'jwt' as const, groups: [], scopes: [] },
    });
    const settings = {
      ...{ principal: 'email', groups: 'groups', implies: {}, maxTokenBytes: 1024 },
      audiences: new Map([[ISSUER, ['its only one']]]),
    };
    const verifier = { verify: async () => found([]).verified, prepare: async () => {}, issuers: [] };
    const tokens = new CallerTokens(verifier, settings, { now: () => 0 });
    const resources = ['https://gw.example/mcp/hr', 'https://gw.example'];
    const isFor = (known: ReturnType<typeof found>) => {
      try {
        tokens.checkAudience(known, resources);
        return true;
      } catch (error) {
        expect(error).toMatchObject({ code: 'unauthorized', facts: { reason: 'the token is for another resource' } });
        return false;
      }
    };
    expect(
      [['https://gw.example'], ['x', 'https://gw.example/mcp/hr'], ['its only one']].map((one) => isFor(found(one))),
    ).toEqual([...[true, true, true]]);
    expect([[], ['https://gw.example/mcp'], ['https://gw.example/']].map((one) => isFor(found(one)))).toEqual([
      ...[false, false, false],
    ]);
    expect(isFor(found(['its only one'], 'https://other.example'))).toBe(false);
  });
});

describe('the groups of a token', () => {
  it('are a thousand at the most', async () => {
    const groups = Array.from({ length: 1001 }, (_, index) => `g${index}`);
    expect((await identityOf({ email: 'ada@example.com', groups })).groups).toEqual(groups.slice(0, 1000));
  });

  it('are its own, however many names were seen before, and its claims stay as they are', async () => {
    const listed = (token: string) => Array.from({ length: 3 }, (_, index) => `${token} ${index}`);
    const found = (token: string) => ({
      ...{ issuer: ISSUER, audiences: [], until: 1_000, isCurrent: () => true },
      claims: { email: `${token}@example.com`, groups: ['staff', 7, ...listed(token)] },
    });
    const settings = { audiences: new Map(), principal: 'email', groups: 'groups', implies: {}, maxTokenBytes: 1024 };
    const verifier = { verify: async (token: string) => found(token), prepare: async () => {}, issuers: [] };
    const tokens = new CallerTokens(verifier, settings, { now: () => 0 });
    for (let index = 0; index < 4000; index++) {
      const { identity } = await tokens.read(`t${index}`);
      if (index % 333 > 0) continue;
      expect(identity.groups).toEqual(['staff', ...listed(`t${index}`)]);
      expect(identity.claims?.groups).toEqual(['staff', 7, ...listed(`t${index}`)]);
    }
  });
});

describe('who a token names', () => {
  it.each([undefined, true, 'true'])(
    'by an address that is verified, or of which nothing is said: %s',
    async (email_verified) => {
      const { principal, claims } = await identityOf({ email: 'ada@example.com', email_verified });
      expect([principal, claims?.email]).toEqual([`${ISSUER}|ada@example.com`, 'ada@example.com']);
    },
  );

  it.each([false, 'false'])('does not count by an address that is not verified: %s', async (email_verified) => {
    await expect(identityOf({ email: 'ada@example.com', email_verified })).rejects.toMatchObject({
      code: 'unauthorized',
      facts: { reason: 'the token does not name its caller' },
    });
  });
});
