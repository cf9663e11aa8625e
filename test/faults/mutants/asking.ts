import type { Mutant } from './mutant.js';

const WAIT = 'gateway/relay/asking/wait.ts';
const OPEN = 'gateway/relay/asking/open-questions.ts';

/** A call waits for a file as long as it must, and every question is counted and has its end. */
export const ASKING: readonly Mutant[] = [
  {
    name: 'accepting-is-uploading',
    fault: 'A user who agrees to open the page counts as one who has uploaded the file.',
    file: WAIT,
    find: "if (answer !== undefined && answer !== 'accepted') return answer;",
    replace: "if (answer !== undefined) return answer === 'accepted' ? 'stored' : answer;",
    suites: ['unit/relay/asking/wait'],
  },
  {
    name: 'revoked-link-waits-on',
    fault: 'A call that is cancelled at another replica waits until its time is over.',
    file: WAIT,
    find: "if (isRevoked) return 'withdrawn';",
    replace: "if (isRevoked && until <= 0) return 'withdrawn';",
    suites: ['unit/relay/asking/wait'],
  },
  {
    name: 'opened-page-counts-as-closed',
    fault: 'A call ends although its user has opened the page.',
    file: WAIT,
    find: 'if (isOpened) openUntil = Number.POSITIVE_INFINITY;',
    replace: 'if (isOpened && until <= 0) openUntil = Number.POSITIVE_INFINITY;',
    suites: ['unit/relay/asking/wait'],
  },
  {
    name: 'drain-waits-for-users',
    fault: 'Wharf does not shut down while a call waits for its user.',
    file: WAIT,
    find: 'if (left <= 0 || isDraining()) {',
    replace: 'if (left <= 0 || (isDraining() && until <= 0)) {',
    suites: ['unit/relay/asking/wait'],
    tests: 'ends with its time',
  },
  {
    name: 'repeated-question-asked-again',
    fault: 'A question that a resumed stream repeats is asked once more.',
    file: OPEN,
    find: 'if (this.#open.has(key)) return undefined;',
    replace: "if (key === '') return undefined;",
    suites: ['unit/relay/asking/open-questions'],
  },
  {
    name: 'answered-question-keeps-its-place',
    fault: 'The places for questions run out, because none is given back.',
    file: OPEN,
    find: '        waiting.give(1, owner);\n',
    replace: '',
    suites: ['unit/relay/asking/open-questions'],
  },
  {
    name: 'uploading-is-answering',
    fault: 'A task gets the file of a client that has uploaded it, and has not answered the question yet.',
    file: 'gateway/relay/asking/rounds/hear.ts',
    find: 'isThere: until !== undefined && (await',
    replace: 'isThere: (await',
    suites: ['e2e/asking/tasks'],
  },
  {
    name: 'same-key-twice',
    fault: 'A file of a task that could not be used is asked for by the key that its client has seen.',
    file: 'gateway/relay/asking/tasks/task-asker.ts',
    find: '!file.isAwaited ? { ...file, key: nextKey() } : file',
    replace: '!file.isAwaited ? { ...file } : file',
    suites: ['e2e/asking/tasks'],
  },
  {
    name: 'every-replica-brings',
    fault: 'Every request that finds the answer to a question of a task complete brings it to the server.',
    file: 'gateway/relay/asking/tasks/task-asker.ts',
    find: 'return !isTold && bringingUntil <= now;',
    replace: 'return !isTold && bringingUntil <= now + 1e12;',
    suites: ['e2e/asking/tasks'],
  },
];
