import type { Mutant } from './mutant.js';

const LEDGER = 'gateway/budget/ledger.ts';
const HELD = 'gateway/budget/held.ts';
const QUEUE = 'gateway/budget/wait-queue.ts';
const KEPT = 'gateway/relay/tools/kept-views.ts';

/** What is kept is counted in bytes, against a total and a share of it, and given back. */
export const BUDGET: readonly Mutant[] = [
  {
    name: 'share-dropped',
    fault: 'One caller takes all of a total that others need.',
    file: LEDGER,
    find: "const isShared = side === 'principal' ? principals : servers;",
    replace: "const isShared = (side === 'principal' ? principals : servers) && ratio > 1;",
    suites: ['unit/budget/ledger'],
  },
  {
    name: 'share-of-a-server-for-one',
    fault: "One caller takes all of a server's share, and with it the server from others.",
    file: LEDGER,
    find: 'const OF_A_SERVERS_SHARE = 0.5;',
    replace: 'const OF_A_SERVERS_SHARE = 1;',
    suites: ['unit/budget/ledger'],
  },
  {
    name: 'nothing-given-back',
    fault: 'A total is full for good once so much has gone through it.',
    file: LEDGER,
    find: '    this.#count(-amount, owner);',
    replace: '    this.#count(amount * 0, owner);',
    suites: ['unit/budget/ledger'],
  },
  {
    name: 'refused-bytes-not-counted',
    fault: 'What is there although it is too much is given back without having been counted.',
    file: LEDGER,
    find: 'const refusal = this.refusal(amount, owner);\n    this.#count(amount, owner);',
    replace: 'const refusal = this.refusal(amount, owner);\n    if (!refusal) this.#count(amount, owner);',
    suites: ['unit/budget/ledger'],
  },
  {
    name: 'long-values-count-once',
    fault: 'The state store holds as many megabytes as keys.',
    file: LEDGER,
    find: 'return Math.max(1, Math.ceil(value.length / USUAL_LENGTH));',
    replace: 'return Math.max(1, Math.min(1, value.length));',
    suites: ['contract/state/memory'],
  },
  {
    name: 'chunks-counted-as-one-byte',
    fault: 'A message counts for as many bytes as it has chunks.',
    file: HELD,
    find: '    this.#bytes += bytes;',
    replace: '    this.#bytes += Math.min(1, bytes);',
    suites: ['unit/budget/held'],
  },
  {
    name: 'copies-not-counted',
    fault: 'Long messages take four times the memory that limits.held says.',
    file: HELD,
    find: '? this.#bytes * COPIES : this.#bytes;',
    replace: '? this.#bytes * Math.min(1, COPIES) : this.#bytes;',
    suites: ['unit/budget/held'],
  },
  {
    name: 'small-ones-overtake',
    fault: 'A large file waits for ever while small ones come.',
    file: QUEUE,
    find: 'const mustWait = this.#isHeldUp || (',
    replace: 'const mustWait = (this.#isHeldUp && amount < 0) || (',
    suites: ['unit/budget/wait-queue'],
  },
  {
    name: 'places-to-wait-not-shared',
    fault: 'One caller takes all places to wait.',
    file: QUEUE,
    find: 'total: most, sharing: ledger.sharing }',
    replace: 'total: most, sharing: { ...ledger.sharing, ratio: 1 } }',
    suites: ['unit/budget/wait-queue'],
  },
  {
    name: 'dripping-allowed',
    fault: 'A byte now and then keeps memory for as long as its sender likes.',
    file: 'gateway/budget/pace.ts',
    find: 'else if (leastRate > 0 && this.#credit <= 0)',
    replace: 'else if (leastRate < 0 && this.#credit <= 0)',
    suites: ['unit/budget/pace'],
  },
  {
    name: 'catalog-without-texts',
    fault: 'A megabyte of description counts as one value of a schema.',
    file: 'gateway/budget/heap-size.ts',
    find: "if (typeof next === 'string') bytes += next.length * CHARACTER;",
    replace: "if (typeof next === 'string') bytes += CHARACTER;",
    suites: ['unit/relay/tools/kept-views'],
  },
  {
    name: 'catalog-never-given-back',
    fault: 'Lists that are forgotten keep their room, until there is room for none.',
    file: KEPT,
    find: 'this.#ledger.give(content.bytes, { server });',
    replace: 'this.#ledger.give(0, { server });',
    suites: ['unit/relay/tools/kept-views'],
  },
  {
    name: 'catalog-of-one-server-takes-all',
    fault: 'One server with many tools makes Wharf ask all others again and again.',
    file: KEPT,
    find: 'const refusal = this.#ledger.refusal(bytes, { server: view.server });',
    replace: 'const refusal = this.#ledger.refusal(bytes, {});',
    suites: ['unit/relay/tools/kept-views'],
  },
  {
    name: 'list-without-end',
    fault: 'One call makes Wharf read fifty pages of sixteen megabytes.',
    file: 'gateway/relay/tools/catalog.ts',
    find: 'most.allowsMore(answer.bytes ?? 0)',
    replace: 'most.allowsMore(0)',
    suites: ['unit/relay/tools/catalog'],
  },
];
