import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Ledger, UNSHARED } from '../../../../gateway/budget/ledger.js';
import type { FileRecord } from '../../../../gateway/files/file.js';
import { ShortFiles } from '../../../../gateway/files/stored/short-files.js';
import { shortLedger } from '../../../helpers/budgets.js';
import { createLab, HELLO } from '../uploads/upload-lab.js';

const NEVER = new AbortController().signal;

function recordOf(name: string, principal = 'ann'): FileRecord {
  const [id, key] = [`f_${name}`, `f/${name}`];
  const digest = createHash('sha256').update(name).digest('base64url');
  return { id, key, principal, name, mimeType: 'text/plain', size: name.length, digest, createdAt: 0 };
}

/** Files whose content is their name, in a store that counts its reads. */
function lab(ledger: Ledger = shortLedger(100_000)) {
  const reads: string[] = [];
  const gone = new Set<string>();
  const objects = {
    async getWhole(key: string) {
      reads.push(key);
      return gone.has(key) ? undefined : Buffer.from(key.slice(2));
    },
    async head() {
      return undefined;
    },
  };
  const files = new ShortFiles({ objects, ledger });
  const read = async (record: FileRecord) => (await files.read(record, NEVER))?.toString();
  return { read, reads, gone, ledger };
}

describe('short files for calls', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('are read from the store once in a minute', async () => {
    const { read, reads } = lab();
    for (let time = 0; time < 3; time++) expect(await read(recordOf('a'))).toBe('a');
    expect(await read(recordOf('b'))).toBe('b');
    expect(reads).toEqual(['f/a', 'f/b']);
    jest.advanceTimersByTime(60_000);
    expect(await read(recordOf('a'))).toBe('a');
    expect(reads).toEqual(['f/a', 'f/b', 'f/a']);
  });

  it('are not given, nor kept, with other bytes than were stored', async () => {
    const { read, ledger } = lab();
    const record = { ...recordOf('a'), digest: recordOf('b').digest };
    await expect(read(record)).rejects.toMatchObject({
      code: 'file_gone',
      cause: { message: 'The object f/a has other bytes than were stored.' },
    });
    expect(ledger.used).toBe(0);
    expect(await read(recordOf('a'))).toBe('a');
  });

  it('take no room, and no timer, when nothing was read for a minute', async () => {
    const { read, ledger } = lab();
    await read(recordOf('a'));
    jest.advanceTimersByTime(29_000);
    await read(recordOf('bb'));
    expect(ledger.used).toBeGreaterThan(3);
    jest.advanceTimersByTime(60_000);
    expect(ledger.used).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('are read each time when there is no room, and leave those alone that are kept', async () => {
    const { read, reads } = lab(shortLedger(300));
    for (let time = 0; time < 2; time++) {
      await read(recordOf('a'));
      await read(recordOf('b'));
    }
    expect(reads).toEqual(['f/a', 'f/b', 'f/b']);
  });

  it('of one caller take its share and no more', async () => {
    const sharing = { ...UNSHARED, ratio: 0.25, principals: true };
    const { read, reads } = lab(new Ledger({ limit: 'limits.shortFiles', total: 1200, sharing }));
    for (const name of ['a', 'b']) await read(recordOf(name));
    await read(recordOf('c', 'bob'));
    reads.length = 0;
    for (const name of ['a', 'b']) await read(recordOf(name));
    await read(recordOf('c', 'bob'));
    expect(reads).toEqual(['f/b']);
  });

  it('that two calls read at once are counted once', async () => {
    const { read, ledger } = lab();
    await read(recordOf('x'));
    const { used } = ledger;
    await Promise.all([read(recordOf('a')), read(recordOf('a'))]);
    expect(ledger.used).toBe(2 * used);
  });

  it('that were uploaded are there for the first call', async () => {
    const lab = createLab({ short: 1_000_000 });
    const { ticket } = await lab.authorize();
    const record = await lab.send(ticket, HELLO);
    await lab.shortFiles.look(record);
    await lab.objects.remove(record.key);
    expect(await lab.shortFiles.read(record, NEVER)).toEqual(HELLO);
    expect(lab.shortFiles.look(record)).toBeUndefined();
  });

  it('that were uploaded are not there for the first call when their object has gone', async () => {
    const lab = createLab({ short: 1_000_000 });
    const { ticket } = await lab.authorize();
    const record = await lab.send(ticket, HELLO);
    await lab.objects.remove(record.key);
    await lab.shortFiles.look(record);
    expect(lab.shortFiles.kept(record)).toBeUndefined();
    expect(await lab.shortFiles.read(record, NEVER)).toBeUndefined();
  });

  it('that were uploaded are kept with all their bytes, or not at all', async () => {
    const lab = createLab({ short: 1_000_000 });
    const aPart = lab.objects.partSize;
    for (const size of [0, 1, 5000, 64 * 1024, 64 * 1024 + 1, aPart, aPart + 1]) {
      const { ticket } = await lab.authorize();
      const record = await lab.send(ticket, Buffer.alloc(size, 'a'));
      await lab.shortFiles.look(record);
      expect([size, lab.shortFiles.kept(record)?.length]).toEqual([size, size > 64 * 1024 ? undefined : size]);
    }
  });

  it('that are not there are asked for again', async () => {
    const { read, reads, gone } = lab();
    gone.add('f/a');
    expect(await read(recordOf('a'))).toBeUndefined();
    gone.clear();
    expect(await read(recordOf('a'))).toBe('a');
    expect(reads).toHaveLength(2);
  });
});
