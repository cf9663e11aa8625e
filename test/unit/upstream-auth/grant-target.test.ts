import { describe, expect, it } from '@jest/globals';
import { grantTarget } from '../../../gateway/upstream-auth/grant-target.js';

const OWN = {
  issuer: 'https://idp.example',
  clientId: 'wharf',
  clientSecret: 'one',
  scope: 'read write',
  resource: 'https://crm.example/mcp',
};
const of = (more: object, introducedAs?: string) =>
  grantTarget('perUser', 'crm', { ...OWN, ...more }, introducedAs).settings;
const own = of({});

describe('the settings under which tokens are kept', () => {
  it.each<[string, object]>([
    ['issuer', { issuer: 'https://other.example' }],
    ['token endpoint', { tokenUrl: 'https://idp.example/token' }],
    ['client', { clientId: 'other' }],
    ['client, which Wharf then introduces itself as', { clientId: undefined }],
    ['scopes', { scope: 'read' }],
    ['scopes, which are the usual ones then', { scope: undefined }],
    ['resource', { resource: 'https://crm.example/' }],
    ['resource, which is then left open', { resource: undefined }],
    ['audience', { audience: 'https://crm.example/mcp' }],
    ['audience in the place of a resource', { resource: undefined, audience: OWN.resource }],
  ])('are others with another %s', (_, more) => {
    expect(of(more)).not.toBe(own);
  });

  it('are others for each kind of grant, and wherever Wharf is known by another address', () => {
    const kinds = (['clientCredentials', 'tokenExchange', 'perUser'] as const).map(
      (kind) => grantTarget(kind, 'crm', OWN).settings,
    );
    expect(new Set(kinds).size).toBe(3);
    const none = { clientId: undefined };
    expect(of(none, 'https://a.example')).not.toBe(of(none, 'https://b.example'));
    expect(of({ clientId: 'https://a.example' })).not.toBe(of(none, 'https://a.example'));
  });

  it.each<[string, object]>([
    ['secret', { clientSecret: 'two' }],
    ['way to send it', { secretBy: 'body' }],
    ['key instead of it', { clientSecret: undefined, privateKey: 'x', algorithm: 'RS256' }],
    ['order of scopes', { scope: 'write  read write' }],
  ])('are the same with another %s', (_, more) => {
    expect(of(more)).toBe(own);
  });

  it('do not tell what they are', () => {
    expect(own).toMatch(/^[\w-]{43}$/);
  });
});
