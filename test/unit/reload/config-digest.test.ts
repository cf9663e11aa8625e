import { describe, expect, it } from '@jest/globals';
import { digestOfConfig } from '../../../gateway/reload/config-digest.js';
import { configOf } from '../config/load-text.js';

const of = async (more: string, header = 'one') =>
  digestOfConfig(
    await configOf(`
servers: { a: { url: "http://127.0.0.1:1/mcp", headers: { x-key: ${header} } } }
secret: ${'s'.repeat(40)}
${more}`),
  );

describe('the digest of a config', () => {
  it('changes with every setting, and is that of equal settings', async () => {
    expect(await of('')).toMatch(/^[\w-]{43}$/);
    expect(await of('retention: 7h')).toBe(await of('retention: 7h'));
    expect(await of('retention: 7h')).not.toBe(await of('retention: 8h'));
    expect(await of('callers: [{ limits: { exchanges: 1 } }]')).not.toBe(await of(''));
  });

  it('changes with the callers that a rule means', async () => {
    const naming = (name: string) =>
      of(`publicUrl: https://mcp.example.com
auth: { use: jwt, jwt: { issuers: [{ issuer: "https://idp.example" }] } }
callers: [{ principal: "https://idp.example|${name}", limits: { files: 1 } }]`);
    expect(await naming('ada@example.com')).not.toBe(await naming('bob@example.com'));
  });

  it('changes with the address that Wharf sends its secret to', async () => {
    const asking = async (url: string) => {
      const upstreamAuth = { clientCredentials: { tokenUrl: url, clientId: 'wharf', clientSecret: 'x' } };
      return digestOfConfig(
        await configOf(JSON.stringify({ servers: { a: { url: 'http://127.0.0.1:1/mcp', upstreamAuth } } })),
      );
    };
    expect(await asking('https://idp.example/token')).not.toBe(await asking('https://evil.example/token'));
  });

  it('does not depend on secrets, by which they could be guessed', async () => {
    expect(await of('', 'two')).toBe(await of('', 'one'));
  });
});
