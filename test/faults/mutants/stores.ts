import type { Mutant } from './mutant.js';

const FILESYSTEM = 'adapters/objects/filesystem/writer.ts';

/** What is acknowledged is stored; what is not stored leaves nothing. */
export const STORES: readonly Mutant[] = [
  {
    name: 'fsync-before-rename',
    fault: 'A power cut after an acknowledged upload leaves a file of zeros under its name.',
    file: FILESYSTEM,
    find: '      await this.#handle.sync();\n      this.#noted(',
    replace: '      this.#noted(',
    suites: ['contract/objects/filesystem-durability'],
  },
  {
    name: 'fsync-of-the-folder',
    fault: 'A power cut after an acknowledged upload takes the name of the file.',
    file: FILESYSTEM,
    find: '      await syncFolder(dirname(this.#target));\n      this.#state',
    replace: '      this.#state',
    suites: ['contract/objects/filesystem-durability'],
  },
  {
    name: 'fsync-of-new-folders',
    fault: 'A power cut takes a whole folder of files that were acknowledged.',
    file: FILESYSTEM,
    find: '    await syncFolder(dirname(made));',
    replace: '    await Promise.resolve();',
    suites: ['contract/objects/filesystem-durability'],
  },
  {
    name: 'written-in-place',
    fault: 'A file can be read under its key while half of it is there.',
    file: 'adapters/objects/filesystem.ts',
    find: "const temporary = join(tmp, randomBytes(16).toString('hex'));",
    replace:
      "const temporary = target || join(tmp, randomBytes(16).toString('hex'));\n      await mkdir(join(target, '..'), { recursive: true, mode: 0o700 });",
    suites: ['contract/objects/filesystem', 'contract/objects/filesystem-durability'],
  },
  {
    name: 'nothing-removed-on-abort',
    fault: 'What an upload that failed has written fills the disk.',
    file: FILESYSTEM,
    find: '      await unlinkIfThere(this.#temporary);',
    replace: '      await Promise.resolve(this.#temporary);',
    suites: ['contract/objects/filesystem'],
  },
  {
    name: 'parts-left-on-error',
    fault: 'Parts of a file that was refused stay in the store.',
    file: 'gateway/files/ingest/ingest.ts',
    find: '      await (writer ?? this.#writer)?.abort();',
    replace: '      await Promise.resolve(writer ?? this.#writer);',
    suites: ['unit/files/upload'],
  },
  {
    name: 'state-outlives-its-time',
    fault: 'Sessions, tickets and records of files never end in memory.',
    file: 'adapters/state/memory.ts',
    find: 'if (entry === undefined || entry.expiresAt > clock.ticks()) return entry;',
    replace: 'if (entry === undefined || entry.expiresAt > 0) return entry;',
    suites: ['contract/state/memory'],
  },
  {
    name: 'redis-without-a-time',
    fault: 'Redis keeps what is extended for ever shorter or longer than its file lives.',
    file: 'adapters/state/redis.ts',
    find: "if left >= 0 and left < tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end",
    replace: "if left >= 0 and left < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end",
    suites: ['contract/state/redis'],
  },
  {
    name: 'create-overwrites',
    fault: 'Of two tries with one upload ticket both store their bytes.',
    file: 'adapters/state/redis.ts',
    find: "client.set(key, value, 'PX', whole(ttlMs), 'NX'), ANSWER",
    replace: "client.set(key, value, 'PX', whole(ttlMs)), ANSWER",
    suites: ['contract/state/redis'],
  },
  {
    name: 'sent-before-it-is',
    fault: 'The memory of a piece is used again while half of it waits to be sent, so a server gets other bytes.',
    file: 'adapters/upstream/common/feed.ts',
    find: 'const isLast = at + SLICE_BYTES >= bytes.length;',
    replace: 'const isLast = true;',
    suites: ['contract/upstream/feed'],
  },
  {
    name: 'chunk-reused-for-a-part',
    fault: 'A chunk of a file is overwritten when a part of it is given back.',
    file: 'adapters/objects/filesystem/reader.ts',
    find: 'if (this.#own.get(buffer) === length) this.#free = buffer;',
    replace: 'if (this.#own.has(buffer)) this.#free = buffer;',
    suites: ['contract/objects/filesystem'],
  },
  {
    name: 'digest-of-another-part',
    fault: 'The last part of a large file is signed with the digest of the whole file.',
    file: 'gateway/files/ingest/ingest.ts',
    find: 'isWhole ? digest : undefined',
    replace: 'digest',
    suites: ['unit/files/ingest'],
  },
];
