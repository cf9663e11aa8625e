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
