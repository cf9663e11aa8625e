import type { Mutant } from './mutant.js';

/** What a caller may not use is neither seen nor reached, and what it may use is counted. */
export const ACCESS: readonly Mutant[] = [
  {
    name: 'key-scope-ignored',
    fault: 'A key reaches the servers and tools that it is kept from.',
    file: 'gateway/policy/access.ts',
    find: '  if (byKey && !byKey.allowed) return byKey;',
    replace: '  if (byKey && !byKey.allowed) return { ...byKey, allowed: true };',
    suites: ['unit/policy/access', 'property/access'],
  },
  {
    name: 'hidden-tool-listed',
    fault: 'A caller sees tools that it may not use.',
    file: 'gateway/relay/tools/tool-list.ts',
    find: '(tool.name === undefined || shown(tool.name) === undefined)',
    replace: 'tool.name === undefined',
    suites: ['e2e/access/unseen'],
  },
  {
    name: 'tools-of-another-kind-listed',
    fault: 'A client sees tools as they were written for another, with the limits of another caller.',
    file: 'gateway/relay/tools/tool-writer.ts',
    find: 'JSON.stringify(all)',
    replace: 'JSON.stringify(names)',
    suites: ['e2e/files/lists-again'],
  },
  {
    name: 'old-name-still-called',
    fault: 'A tool is called by the name that the operator has taken from it.',
    file: 'gateway/policy/tool-names.ts',
    find: '    return this.#settings.get(given)?.name === undefined ? given : undefined;',
    replace: '    return given;',
    suites: ['e2e/access/unseen'],
  },
  {
    name: 'forbidden-server-answers',
    fault: 'A caller reaches a server that it may not use.',
    file: 'gateway/http/gate.ts',
    find: '  if (allowed) return;',
    replace: '  if (allowed || rule !== undefined) return;',
    suites: ['e2e/access/unseen'],
  },
  {
    name: 'viewer-acts',
    fault: 'A viewer of the console tries tools, and ends sessions.',
    file: 'gateway/http/routes/console-access.tsx',
    find: '    if (!mayAct(user)) throw',
    replace: '    if (!mayAct(user) && user.digest.length === 0) throw',
    suites: ['e2e/control/try'],
  },
  {
    name: 'ceiling-ignored',
    fault: 'A key raises its limits above the ceiling.',
    file: 'gateway/policy/allowance.ts',
    find: '    const limit = lowerOf(placeOf(name, rules, caller), ceiling[name], name);',
    replace:
      '    const limit = lowerOf(placeOf(name, rules, caller), rules.keys.size > 0 ? undefined : ceiling[name], name);',
    suites: ['property/allowance'],
  },
  {
    name: 'host-limit-instead-of-the-least',
    fault: 'What a client says it is raises the limits of its caller.',
    file: 'gateway/policy/message-limits.ts',
    find: 'value >= (lower[name] ?? server[name])',
    replace: 'value >= server[name]',
    suites: ['unit/policy/message-limits'],
  },
  {
    name: 'lease-never-counted',
    fault: 'Files that arrive at the same time pass the quota together.',
    file: 'adapters/state/memory-tally.ts',
    find: '    if (limit !== undefined && total > limit && total > before) {',
    replace: '    if (limit !== undefined && before > limit && total > before) {',
    suites: ['contract/state/memory', 'unit/quotas/stored'],
  },
];
