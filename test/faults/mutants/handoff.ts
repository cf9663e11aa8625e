import type { Mutant } from './mutant.js';

const LIBRARY = 'gateway/files/library.ts';
const INCOMING = 'gateway/relay/arguments/incoming-files.ts';
const RULES = 'gateway/policy/handoff.ts';
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
    name: 'lazy-file-judged-once',
    fault: 'A file read on first use is judged by who linked to it, not by whose it is.',
    file: INCOMING,
    find: '        this.#allow(record.server, rules);\n        return record;',
    replace: '        return record;',
    suites: ['unit/relay/arguments/incoming-files'],
  },
  {
    name: 'file-not-judged',
    fault: 'A file goes where a rule forbids it.',
    file: INCOMING,
    find: '        this.#allow(found.record.server, rules);\n',
    replace: '',
    suites: ['unit/relay/arguments/incoming-files'],
  },
  {
    name: 'rule-without-its-target',
    fault: 'A rule for one server holds for all.',
    file: RULES,
    find: "(candidate.to === '*' || candidate.to === to)",
    replace: "(candidate.to === '*' || candidate.to !== '')",
    suites: ['unit/policy/handoff'],
  },
  {
    name: 'last-rule-decides',
    fault: 'An exception that stands before a general rule is none.',
    file: RULES,
    find: 'rules.find(',
    replace: 'rules.findLast(',
    suites: ['unit/policy/handoff'],
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
