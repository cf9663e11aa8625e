import type { Mutant } from './mutant.js';

const FORGED = { suites: ['e2e/identity/forged-tokens'] };
const KEYS = { suites: ['contract/oauth/jose'] };
const LOGGING_IN = { suites: ['e2e/identity/logging-in'] };
const UPSTREAM = { suites: ['e2e/identity/upstream-auth'] };
const OWN = { suites: ['e2e/identity/own-logins'] };

/** No caller is taken for another one, and no token goes where it is not meant to. */
export const IDENTITY: readonly Mutant[] = [
  {
    name: 'audience-not-compared',
    fault: 'A token for one server opens every other one.',
    file: 'gateway/identity/caller-tokens.ts',
    find: "    if (!isMeant) throw refused('the token is for another resource');",
    replace: "    if (!isMeant && resources.length === 0) throw refused('the token is for another resource');",
    ...FORGED,
  },
  {
    name: 'any-type-of-token',
    fault: 'An ID token, or the proof of another token, is taken for an access token.',
    file: 'adapters/oauth/jose/verifier.ts',
    find: "    if (!isType) return { fault: 'type' };",
    replace: "    if (!isType && type === '') return { fault: 'type' };",
    ...FORGED,
  },
  {
    name: 'bound-tokens-taken',
    fault: 'A token that is bound to a key works for a thief.',
    file: 'adapters/oauth/jose/verifier.ts',
    find: "      if (cnf !== undefined) return { fault: 'bound' };",
    replace: "      if (cnf === null) return { fault: 'bound' };",
    ...FORGED,
  },
  {
    name: 'keys-asked-without-end',
    fault: 'Tokens with made-up keys make Wharf flood the issuer.',
    file: 'adapters/oauth/jose/issuer-keys.ts',
    find: '    if (Math.abs(now - this.#triedAt) < LEAST_BETWEEN_MS) return;',
    replace: '    if (Math.abs(now - this.#triedAt) < 0) return;',
    ...KEYS,
  },
  {
    name: 'keys-for-ever',
    fault: 'The keys of an issuer that has not answered for days still open the gateway.',
    file: 'adapters/oauth/jose/issuer-keys.ts',
    find: '    return age > LONGEST_MS ? undefined : this.#set;',
    replace: '    return age > 100 * LONGEST_MS ? undefined : this.#set;',
    ...KEYS,
  },
  {
    name: 'kept-tokens-outlive-keys',
    fault: 'A token that was verified once holds after its key was taken back.',
    file: 'adapters/oauth/jose/verifier.ts',
    find: 'isCurrent: () => keys.current === set',
    replace: 'isCurrent: () => keys.current !== undefined',
    ...KEYS,
  },
  {
    name: 'tools-without-scopes',
    fault: 'A call reaches its server although the token lacks a scope of the tool.',
    file: 'gateway/relay/check-scopes.ts',
    find: "if (method !== 'tools/call' || subject === undefined) continue;",
    replace: "if (method !== 'tools/list' || subject === undefined) continue;",
    ...LOGGING_IN,
  },
  {
    name: 'key-beside-goes-on-alone',
    fault: "A key of Wharf's, which is the only credential of a request, is sent to a server.",
    file: 'gateway/identity/authenticator.ts',
    find: '    return byKey(bearer, request, server);',
    replace: "    return { ...byKey(bearer, request, server), authorization: 'Bearer ' + bearer };",
    ...UPSTREAM,
  },
  {
    name: 'login-from-any-browser',
    fault: "An attacker's link puts another person's login to the attacker's name.",
    file: 'gateway/upstream-auth/logins.ts',
    find: '    if (cookie === undefined || !isSame(hashOf(cookie), begun.browser)) {',
    replace: "    if (isSame(hashOf(cookie ?? ''), '')) {",
    ...OWN,
  },
  {
    name: 'one-login-for-all',
    fault: "One person's login is used for all others.",
    file: 'gateway/upstream-auth/kept-tokens.ts',
    find: 'principal}`, owner: { server, principal }, keptMs: PERSON_MS',
    replace: 'server}`, owner: { server, principal }, keptMs: PERSON_MS',
    ...OWN,
  },
  {
    name: 'tokens-of-other-settings',
    fault: 'A token that one issuer has given is sent after the config names another one.',
    file: 'gateway/upstream-auth/kept-tokens.ts',
    find: '{settings}\\n`;',
    replace: '{settings.length}\\n`;',
    suites: ['unit/upstream-auth/kept-tokens'],
  },
  {
    name: 'login-ends-under-other-settings',
    fault: 'A code of one issuer is sent to another one, which a reload has put in its place.',
    file: 'gateway/upstream-auth/logins.ts',
    find: '    if (target?.settings !== settings) {',
    replace: "    if (!target || settings === '') {",
    suites: ['e2e/identity/rolling-logins'],
  },
  {
    name: 'own-work-for-made-up-tokens',
    fault: 'With passthrough, Wharf does what it does by itself for callers that the server has not taken.',
    file: 'gateway/relay/local/accepted.ts',
    find: 'if (!isAccepted || !opener || isAccepted(identity)) return;',
    replace: "if (!isAccepted || !opener || isAccepted(identity) || identity.token !== '') return;",
    suites: ['e2e/identity/passthrough'],
  },
  {
    name: 'foreign-metadata-rewritten',
    fault: 'Metadata that is about another server is given to clients as if it were about Wharf.',
    file: 'gateway/upstream-auth/passed-login.ts',
    find: "if (typeof found.resource !== 'string' || !isAbout(found.resource, url)) return found;",
    replace: "if (typeof found.resource !== 'string') return found;",
    suites: ['unit/upstream-auth/passed-login'],
  },
  {
    name: 'missing-issuer-taken',
    fault: 'A login without a name is taken from an authorization server that always names itself.',
    file: 'gateway/upstream-auth/logins.ts',
    find: 'issuer === null ? await target.client.namesItself() : issuer !== target.issuer',
    replace: 'issuer !== null && issuer !== target.issuer',
    suites: ['e2e/identity/kept-logins'],
  },
];
