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

describe('the groups of a token', () => {
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
