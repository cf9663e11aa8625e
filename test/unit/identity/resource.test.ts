import { describe, expect, it } from '@jest/globals';
import { Resources } from '../../../gateway/identity/resource.js';

const PLACE = '/.well-known/oauth-protected-resource';

const below = new Resources(
  {
    resource: 'perServer',
    scopes: {},
    issuers: ['https://idp.example.com'],
    baseUrl: () => 'https://mcp.example.com/wharf',
  },
  ['a', 'b'],
);

describe('a gateway below a path', () => {
  it('has its metadata at the path after the well-known one (RFC 9728 §3.1)', () => {
    expect(below.of('a')).toMatchObject({
      id: 'https://mcp.example.com/wharf/a/mcp',
      metadataUrl: `https://mcp.example.com${PLACE}/wharf/a/mcp`,
    });
  });

  it.each([`${PLACE}/wharf/a/mcp`, `${PLACE}/a/mcp`])('answers %s, whether or not a proxy removes the path', (path) => {
    expect(below.document(path)).toMatchObject({ resource: 'https://mcp.example.com/wharf/a/mcp' });
  });

  it.each(['', '/wharf', '/wharfa/mcp', '/wharf/wharf/a/mcp', '/wharf/c/mcp'])('answers nothing at %j', (path) => {
    expect(below.document(`${PLACE}${path}`)).toBeUndefined();
  });
});
