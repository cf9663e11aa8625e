import { describe, expect, it } from '@jest/globals';
import { AUTH } from './auth-texts.js';
import { configOf } from './load-text.js';

type Use = keyof typeof AUTH;

const warningsOf = async (use: Use, upstreamAuth: string, rest = '') => {
  const server = `servers: { a: { url: "http://127.0.0.1:1/mcp"${upstreamAuth && `, upstreamAuth: ${upstreamAuth}`} } }\n`;
  const { warnings } = await configOf(server + AUTH[use] + rest);
  return warnings.map(({ path, message }) => `${path} ${message}`);
};

describe('a header with a fact that no caller has', () => {
  const AT = 'servers.a.upstreamAuth.identityHeaders.X';

  it.each([
    ['none', 'key', 'is never sent with auth none, whose only caller has no key'],
    ['none', 'groups', 'is always empty with auth none, whose only caller has no groups'],
    ['apiKeys', 'groups', 'is always empty for callers with API keys, which have no groups'],
    ['apiKeys', 'scopes', 'is always empty for callers with API keys, which have no scopes'],
    ['apiKeys', 'claims.email', 'is never sent for callers with API keys, which have no claims'],
    ['jwt', 'key', 'is never sent for callers with tokens, which have no key'],
  ] as const)('is told, and starts: with %s, %s', async (use, fact, message) => {
    expect(await warningsOf(use, `{ identityHeaders: { X: ${fact} } }`)).toEqual([
      `${AT} ${message}: remove it, or send another fact`,
    ]);
  });

  it.each([
    ['none', 'principal'],
    ['apiKeys', 'key'],
    ['jwt', 'groups'],
    ['jwt', 'claims.email'],
    ['both', 'key'],
    ['both', 'scopes'],
  ] as const)('is not told where some have it: with %s, %s', async (use, fact) => {
    expect(await warningsOf(use, `{ identityHeaders: { X: ${fact} } }`)).toEqual([]);
  });
});

describe("credentials of Wharf's own without a proof", () => {
  const credentials = (rest: string) =>
    `{ clientCredentials: { tokenUrl: "https://idp.example/token", clientId: wharf${rest} } }`;

  it('are told, and start, because a few servers want none', async () => {
    expect(await warningsOf('none', credentials(''))).toEqual([
      expect.stringMatching(/^servers\.a\.upstreamAuth\.clientCredentials has neither clientSecret nor privateKey/),
    ]);
    expect(await warningsOf('none', credentials(', clientSecret: abc'))).toEqual([]);
  });
});

describe('limits of callers that others come before', () => {
  const told = (entries: string, use: Use = 'both') => warningsOf(use, '', `callers: [${entries}]\n`);
  const never = (first: number, own: number) =>
    `never counts: callers[${first}] comes first, means all of these callers and sets the same. Put callers[${own}] before it`;

  it.each([
    ['every caller', '{ limits: { file: 1MB } }, { key: ci, limits: { file: 2MB } }'],
    ['every principal', '{ principal: "*", limits: { file: 1MB } }, { group: staff, limits: { file: 2MB } }'],
    ['a pattern', '{ key: "*", limits: { file: 1MB } }, { key: "c*", limits: { file: 2MB } }'],
    ['the same callers', '{ group: staff, limits: { file: 1MB } }, { group: staff, limits: { file: 2MB } }'],
    [
      'more callers by their claims',
      '{ claim: { org: x }, limits: { file: 1MB } }, { claim: { org: x, unit: y }, limits: { file: 2MB } }',
    ],
  ])('are told where the first means %s', async (_, entries) => {
    expect(await told(entries)).toEqual([`callers[1] ${never(0, 1)}`]);
  });

  it('are told one by one where others of the entry count', async () => {
    expect(await told('{ limits: { file: 1MB } }, { key: ci, limits: { file: 2MB, storedBytes: 1GB } }')).toEqual([
      `callers[1].limits.file ${never(0, 1)}`,
    ]);
  });

  it.each([
    ['the first means fewer', '{ key: ci, limits: { file: 1MB } }, { key: "c*", limits: { file: 2MB } }'],
    ['it means others', '{ key: ci, limits: { file: 1MB } }, { group: staff, limits: { file: 2MB } }'],
    ['the first sets another limit', '{ limits: { storedBytes: 1GB } }, { key: ci, limits: { file: 2MB } }'],
    [
      'a claim has another value',
      '{ claim: { org: x }, limits: { file: 1MB } }, { claim: { org: y }, limits: { file: 2MB } }',
    ],
  ])('are not told where %s', async (_, entries) => {
    expect(await told(entries)).toEqual([]);
  });
});

describe('limits of callers for a key that sets them itself', () => {
  const told = async (entry: string) => {
    const key = `{ name: ci, hash: "sha256:${'ab'.repeat(32)}", limits: { file: 5MB, requestsPerMinute: 600, accept: [image/*] } }`;
    const other = `{ name: ada, hash: "sha256:${'cd'.repeat(32)}" }`;
    const text = `servers: { a: { url: "http://127.0.0.1:1/mcp" } }\nauth: { use: apiKeys, keys: [${other}, ${key}] }\n`;
    const { warnings } = await configOf(`${text}callers: [${entry}]\n`);
    return warnings.map(({ path, message }) => `${path} ${message}`);
  };

  it('are told one by one, with the place that goes before them', async () => {
    expect(await told('{ key: ci, limits: { file: 1MB, files: 3, accept: [image/png] } }')).toEqual([
      'callers[0].limits.file never counts: auth.keys[1].limits.file goes before it. Remove one of them',
      'callers[0].limits.accept never counts: auth.keys[1].limits.accept goes before it. Remove one of them',
    ]);
  });

  it.each([
    ['means another key', '{ key: ada, limits: { file: 1MB } }'],
    ['means more than this key', '{ principal: "*", limits: { file: 1MB } }'],
    ['means keys by a pattern', '{ key: "c*", limits: { file: 1MB } }'],
    ['sets what the key does not set', '{ key: ci, limits: { files: 3 } }'],
  ])('are not told where the entry %s', async (_, entry) => {
    expect(await told(entry)).toEqual([]);
  });
});
