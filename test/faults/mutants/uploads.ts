import type { Mutant } from './mutant.js';

const UPLOAD = 'gateway/files/upload.ts';
const TICKET = 'gateway/files/ticket.ts';
const STORE_FILE = 'gateway/files/store-file.ts';

/** Files come in whole, as announced, as large as allowed, and as long as their ticket lasts. */
export const UPLOADS: readonly Mutant[] = [
  {
    name: 'upload-a-byte-too-much',
    fault: 'An upload may have a byte more than is allowed.',
    file: UPLOAD,
    find: 'if (size > largest.allowed) throw',
    replace: 'if (size > largest.allowed + 1) throw',
    suites: ['unit/http/upload-limits'],
  },
  {
    name: 'upload-a-byte-too-little',
    fault: 'An upload of just the size that is allowed is refused.',
    file: UPLOAD,
    find: 'if (size > largest.allowed) throw',
    replace: 'if (size >= largest.allowed) throw',
    suites: ['unit/http/upload-limits'],
  },
  {
    name: 'announced-length-a-byte-too-little',
    fault: 'An upload whose head names just the size that is allowed is refused.',
    file: 'gateway/http/upload-request.ts',
    find: 'if (length !== undefined && length > largest.allowed) throw',
    replace: 'if (length !== undefined && length >= largest.allowed) throw',
    suites: ['unit/http/upload-limits'],
  },
  {
    name: 'file-limit-a-byte-too-much',
    fault: 'A file out of a message may have a byte more than limits.file.',
    file: 'gateway/files/ingest/ingest.ts',
    find: 'if (this.#size > this.#limit.bytes) {',
    replace: 'if (this.#size > this.#limit.bytes + 1) {',
    suites: ['unit/files/store-file', 'unit/relay/cut/limits'],
  },
  {
    name: 'fetched-digest-not-compared',
    fault: 'A fetched file of other bytes than its server said is given out as that file.',
    file: STORE_FILE,
    find: 'if (expected.digest !== undefined && actual.digest !== expected.digest) {',
    replace: "if (expected.digest !== undefined && expected.digest === '') {",
    suites: ['unit/files/store-file'],
  },
  {
    name: 'fetched-size-not-compared',
    fault: 'A fetched file that is cut short is given out as whole.',
    file: STORE_FILE,
    find: 'if (expected.size !== undefined && actual.size !== expected.size) {',
    replace: 'if (expected.size !== undefined && actual.size > expected.size) {',
    suites: ['unit/files/store-file'],
  },
  {
    name: 'upload-digest-not-compared',
    fault: 'An upload of other bytes than were announced is stored.',
    file: UPLOAD,
    find: '.some((said) => said !== digest))',
    replace: ".some((said) => said === ''))",
    suites: ['unit/files/upload'],
  },
  {
    name: 'download-ticket-never-ends',
    fault: 'A link works as long as the state store remembers it, which is an hour longer than it says.',
    file: TICKET,
    find: "if (record.expiresAt <= this.#clock.now()) return { kind: 'expired' };",
    replace: "if (record.expiresAt <= 0) return { kind: 'expired' };",
    suites: ['unit/files/ticket'],
  },
  {
    name: 'download-ticket-ends-a-moment-late',
    fault: 'A link works at the moment at which it has ended.',
    file: TICKET,
    find: "if (record.expiresAt <= this.#clock.now()) return { kind: 'expired' };",
    replace: "if (record.expiresAt < this.#clock.now()) return { kind: 'expired' };",
    suites: ['unit/files/ticket'],
  },
  {
    name: 'route-trusts-the-ticket',
    fault: 'A link that ends while its ticket is looked up is served.',
    file: 'gateway/http/routes/downloads.ts',
    find: "if (answer.expiresAt <= deps.clock.now()) throw new GatewayError('link_expired');",
    replace: "if (answer.expiresAt <= 0) throw new GatewayError('link_expired');",
    suites: ['unit/http/downloads'],
  },
  {
    name: 'upload-ticket-never-ends',
    fault: 'An upload link works as long as the state store remembers it.',
    file: TICKET,
    find: 'isExpired: expiresAt <= this.#clock.now() };',
    replace: 'isExpired: expiresAt <= 0 };',
    suites: ['unit/files/ticket'],
  },
  {
    name: 'tickets-of-either-kind',
    fault: 'A link to upload also downloads.',
    file: TICKET,
    find: "if (record?.purpose !== 'download') return { kind: 'unknown' };",
    replace: "if (record === undefined) return { kind: 'unknown' };",
    suites: ['unit/files/ticket'],
  },
  {
    name: 'second-upload-wins',
    fault: 'A ticket that has been used replaces the bytes of its handle.',
    file: UPLOAD,
    find: '    if (await library.admit(record, admission.expiresAt)) return record;\n    library.discard(key);\n    throw done();',
    replace: '    await library.admit(record, admission.expiresAt);\n    return record;',
    suites: ['unit/files/upload'],
  },
];
