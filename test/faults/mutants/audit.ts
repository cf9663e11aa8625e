import type { Mutant } from './mutant.js';

/** What the audit log says is what was done, and no stranger can fill it. */
export const AUDIT: readonly Mutant[] = [
  {
    name: 'token-without-a-line',
    fault: 'Nothing says who has logged in with which token.',
    file: 'gateway/audit/caller-logins.ts',
    find: '  if (!token) return identity;\n',
    replace: '  if (!token || principal) return identity;\n',
    suites: ['e2e/audit/logins'],
  },
  {
    name: 'a-line-for-each-call-of-a-token',
    fault: 'The log repeats the login with every call.',
    file: 'gateway/audit/journal.ts',
    find: '    if (before !== undefined) return before === true ? undefined : before;\n',
    replace: '',
    suites: ['unit/audit/journal'],
  },
  {
    name: 'a-line-for-each-guess',
    fault: 'A stranger fills the disk with refused logins.',
    file: 'gateway/audit/repeated-refusals.ts',
    find: '    if (known) known.more += 1;\n',
    replace: '    if (known && known.more === 0 && key === undefined) known.more += 1;\n',
    suites: ['unit/audit/journal'],
  },
  {
    name: 'claims-believed',
    fault: 'What a forged token says of itself looks as if its issuer had said it.',
    file: 'gateway/identity/token-login.ts',
    find: 'client: clientIn(claims as Claims), claimed: true }',
    replace: 'client: clientIn(claims as Claims) }',
    suites: ['e2e/audit/logins'],
  },
  {
    name: 'half-a-stream-is-whole',
    fault: 'A stream that broke off looks as if all of it had been given out.',
    file: 'gateway/relay/client/byte-answer.ts',
    find: "    this.#watch?.over('broken off', this.#bytes);\n",
    replace: "    this.#watch?.over('whole', this.#bytes);\n",
    suites: ['e2e/audit/streams'],
  },
  {
    name: 'scan-without-its-file',
    fault: 'A line about a scan does not say which bytes it was about.',
    file: 'gateway/files/ingest/ingest.ts',
    find: 'path: limit.path, signal, digest });',
    replace: 'path: limit.path, signal });',
    suites: ['e2e/audit/scans'],
    tests: 'names the file',
  },
];
