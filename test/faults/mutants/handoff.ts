import type { Mutant } from './mutant.js';

const LIBRARY = 'gateway/files/library.ts';
const INCOMING = 'gateway/relay/arguments/incoming-files.ts';
const RULES = 'gateway/policy/flow.ts';
const WORDS = 'gateway/relay/upstream/own-words.ts';

/** A file goes to nobody but its owner's servers, and to no server that a rule keeps it from. */
export const HANDOFF: readonly Mutant[] = [
  {
    name: 'handle-of-anybody',
    fault: 'Who knows the handle of another caller’s file can use it.',
    file: LIBRARY,
    find: "if (record) return record.principal === principal ? { kind: 'ready', record } : { kind: 'unknown' };",
    replace: "if (record) return { kind: 'ready', record };",
    suites: ['unit/files/resolve'],
  },
  {
    name: 'lazy-handle-of-anybody',
    fault: 'Who knows the handle of a resource that another caller was shown has it read for himself.',
    file: LIBRARY,
    find: "if (lazy) return lazy.principal === principal ? this.#resolveLazy(id, lazy) : { kind: 'unknown' };",
    replace: 'if (lazy) return this.#resolveLazy(id, lazy);',
    suites: ['unit/files/lazy'],
    tests: 'nobody else',
  },
  {
    name: 'pending-handle-of-anybody',
    fault: 'Another caller is told that a handle exists, and whether it has been uploaded.',
    file: LIBRARY,
    find: "if (known?.principal !== principal) return { kind: 'unknown' };",
    replace: "if (known === undefined) return { kind: 'unknown' };",
    suites: ['unit/files/resolve'],
  },
  {
    name: 'lazy-file-of-another-server',
    fault: 'What a server linked to becomes a handle of another server’s file, which no rule knows.',
    file: LIBRARY,
    find: '    if (!isOf(lazy, fresh))\n      throw new',
    replace: '    if (fresh.id.length === 0)\n      throw new',
    suites: ['unit/files/lazy'],
    tests: 'another server',
  },
  {
    name: 'lazy-read-before-the-rules',
    fault: 'A server is made to give a file that may not be handed on.',
    file: INCOMING,
    find: '        this.#allow(found.server, rules);\n',
    replace: '',
    suites: ['unit/relay/arguments/incoming-files'],
  },
  {
    name: 'file-not-judged',
    fault: 'A file goes where a rule forbids it.',
    file: INCOMING,
    find: '    await this.#judge(file, rules);\n',
    replace: '',
    suites: ['unit/relay/arguments/incoming-files'],
  },
  {
    name: 'bytes-without-a-past',
    fault: 'A server’s file may go anywhere once it comes back inside a call or by an upload.',
    file: 'gateway/files/flow/flow.ts',
    find: 'const known = await this.origins.of(principal, digest);',
    replace: 'const known: readonly string[] = [];',
    suites: ['e2e/flow/rules'],
  },
  {
    name: 'short-files-without-a-past',
    fault: 'A file that is short enough to stay in its message is not known when it comes back.',
    file: 'gateway/relay/results/look-inside.ts',
    find: '    await origins.note(owner, found.digest);\n',
    replace: '',
    suites: ['e2e/flow/rules'],
  },
  {
    name: 'rule-without-its-target',
    fault: 'A rule for one server holds for all.',
    file: RULES,
    find: 'rule.to === undefined || fits(rule.to, to)',
    replace: "rule.to === undefined || to !== ''",
    suites: ['unit/policy/flow'],
  },
  {
    name: 'last-rule-decides',
    fault: 'An exception that stands before a general rule is none.',
    file: RULES,
    find: 'for (const rule of rules)',
    replace: 'for (const rule of rules.toReversed())',
    suites: ['unit/policy/flow'],
  },
  {
    name: 'list-of-files-believed',
    fault: 'A server that lists another’s file in its result is believed.',
    file: WORDS,
    find: 'const OWN = /^dev\\.wharf\\//i;',
    replace: 'const OWN = /^dev\\.wharf\\/(?!files)/i;',
    suites: ['e2e/files/forged-words'],
  },
  {
    name: 'bytes-of-two-servers-one-file',
    fault: 'The same bytes from two servers are a file of the first, and go by the rules for that.',
    file: LIBRARY,
    find: "{about.server ?? ''}:",
    replace: "{''}:",
    suites: ['unit/files/ingest', 'unit/files/lazy'],
    tests: 'two servers',
  },
];
