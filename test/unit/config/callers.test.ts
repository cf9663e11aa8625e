import { describe, expect, it } from '@jest/globals';
import { AUTH } from './auth-texts.js';
import { problemsOf } from './load-text.js';

const server = (rest: string) => `servers: { a: { url: "http://127.0.0.1:1/mcp", ${rest} } }\n`;

describe('a rule that can mean no caller', () => {
  const allow = (match: string) => server(`allow: [${match}]`);

  it.each([
    ['apiKeys', '{ principal: bib }', 'principal', /is the name of none of auth.keys/],
    ['apiKeys', '{ principal: "https://idp.example|ada" }', 'principal', /is the name of none of auth.keys/],
    ['apiKeys', '{ key: ci, principal: bob }', 'principal', /never matches beside "key"/],
    ['apiKeys', '{ key: "c*", principal: "b*" }', 'principal', /never matches beside "key"/],
    ['both', '{ key: ci, principal: "https://idp.example|*" }', 'principal', /never matches beside "key"/],
    ['both', '{ key: ci, group: staff }', 'group', /never matches beside "key": callers with API keys have none/],
    ['both', '{ key: "*", claim: { mail: x } }', 'claim', /never matches beside "key"/],
  ] as const)('is refused: with %s, %s', async (use, match, member, message) => {
    const problems = await problemsOf(allow(match) + AUTH[use]);
    expect(problems).toEqual([
      expect.objectContaining({ path: `servers.a.allow[0].${member}`, message: expect.stringMatching(message) }),
    ]);
  });

  it.each([
    ['apiKeys', '{ principal: bob }'],
    ['apiKeys', '{ principal: "*" }'],
    ['apiKeys', '{ principal: "console:ann" }'],
    ['apiKeys', '{ key: "c*", principal: ci }'],
    ['both', '{ key: ci }, { group: staff }'],
    ['both', '{ principal: ci }, { principal: "https://idp.example|ada", group: staff }'],
  ] as const)('is another than one that means some: with %s, %s', async (use, match) => {
    expect(await problemsOf(allow(match) + AUTH[use])).toEqual([]);
  });
});

describe('what a key reaches', () => {
  const withKey = (scope: string) =>
    `servers: { hr: { url: "http://127.0.0.1:1/mcp" }, web: { url: "http://127.0.0.1:2/mcp" } }
auth: { use: apiKeys, keys: [{ name: ci, hash: "sha256:${'1'.repeat(64)}", ${scope} }] }
`;

  it('is not a tool of a server that it does not reach', async () => {
    expect(await problemsOf(withKey('servers: [hr], tools: ["hr.read_*", web.search]'))).toMatchObject([
      { path: 'auth.keys[0].tools[1]', message: 'is of no server that `servers` of this key reaches' },
    ]);
    for (const scope of ['servers: [hr], tools: ["*.search"]', 'servers: ["*", "!web"], tools: ["hr.*", "!web.x"]'])
      expect(await problemsOf(withKey(scope))).toEqual([]);
  });

  it('is some server', async () => {
    expect(await problemsOf(withKey('servers: ["*", "!hr", "!web"]'))).toMatchObject([
      { path: 'auth.keys[0].servers', message: 'leaves the key no server of this file' },
    ]);
    expect(await problemsOf(withKey('servers: ["!hr"]'))).toEqual([]);
  });
});
