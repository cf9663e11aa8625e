import type { Mutant } from './mutant.js';

/** No file that is infected, revoked or held away is given out, and nothing but a verdict counts as one. */
export const FILES_WATCHED: readonly Mutant[] = [
  {
    name: 'ok-somewhere',
    fault: 'A reply of clamd that merely contains OK is a clean file.',
    file: 'adapters/antivirus/clamd/reply.ts',
    find: "if (text === 'stream: OK')",
    replace: "if (text.includes('OK'))",
    suites: ['unit/antivirus/reply'],
  },
  {
    name: 'ok-before-the-end',
    fault: 'clamd says OK before it has seen the whole file, and is believed.',
    file: 'adapters/antivirus/clamd/connection.ts',
    find: "if (!hasEnd && verdict.kind === 'clean')",
    replace: "if (!hasEnd && verdict.kind === 'infected')",
    suites: ['unit/antivirus/scans'],
  },
  {
    name: 'short-files-unscanned',
    fault: 'What is short enough to stay in its message is not scanned.',
    file: 'gateway/relay/results/to-client.ts',
    find: '  lookInside,\n',
    replace: '',
    suites: ['e2e/antivirus/results'],
  },
  {
    name: 'silent-limit',
    fault: 'A clamd that passes large files unscanned is trusted.',
    file: 'adapters/antivirus/clamd/proof.ts',
    find: "if (large.kind !== 'clean') return;",
    replace: "if (large.kind !== 'infected' || small.kind === 'infected') return;",
    suites: ['e2e/antivirus/away'],
  },
  {
    name: 'hold-that-expires',
    fault: 'A held file expires like any other.',
    file: 'gateway/files/retention/lifetime.ts',
    find: 'heldAt === undefined ? retentionMs : HELD_MS',
    replace: 'heldAt === HELD_MS ? HELD_MS : retentionMs',
    suites: ['unit/files/control/control'],
  },
  {
    name: 'revoked-and-served',
    fault: 'A revoked file is still found.',
    file: 'gateway/files/library.ts',
    find: 'record?.revokedAt === undefined ?',
    replace: 'record?.revokedAt !== 0 ?',
    suites: ['e2e/control/files'],
  },
];
