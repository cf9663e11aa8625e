import { describe, expect, it } from '@jest/globals';
import type { FileRecord } from '../../../../gateway/files/file.js';
import type { LazyFile } from '../../../../gateway/files/handles/lazy-files.js';
import { storeFile } from '../../../../gateway/files/store-file.js';
import { createLab, type Lab, NEVER } from '../uploads/upload-lab.js';

const LAZY: LazyFile = { principal: 'ann', server: 's', uri: 'doc://r/report' };

/** A read that the test ends, as one process makes it. */
interface Read {
  signal: AbortSignal;
  /** The server gives this. */
  give(text: string): void;
  fail(error: Error): void;
}

/**
 * One process, and the reads that it makes of servers.
 * @param beside another one, with the same stores
 * @param stored what happens when a file has been stored, and is not yet what the handle stands for
 */
function process(beside?: Lab, stored = async () => {}): { lab: Lab; reads: Read[]; next: () => Promise<Read> } {
  const reads: Read[] = [];
  const waiting: ((read: Read) => void)[] = [];
  const lab = createLab({
    ...(beside && { objects: () => beside.objects, state: () => beside.state }),
    readLazy: async (_lazy, signal) => {
      const text = await new Promise<string>((give, fail) => {
        const read = { signal, give, fail };
        signal.addEventListener('abort', () => fail(signal.reason));
        reads.push(read);
        waiting.shift()?.(read);
      });
      const file = await store(lab, text);
      await stored();
      return file;
    },
  });
  return { lab, reads, next: () => new Promise((resolve) => waiting.push(resolve)) };
}

async function* piecesOf(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

function store(
  { ingest, library }: Lab,
  text: string,
  { principal, server }: Pick<LazyFile, 'principal' | 'server'> = LAZY,
): Promise<FileRecord> {
  const limit = { name: 'limits.file', bytes: 1000, path: 'the resource' };
  const file = { bytes: piecesOf(text), claims: { name: 'report.txt' }, principal, server, subject: 'resource', limit };
  return storeFile(file, { ingest, library }, NEVER);
}

/** A caller is about to use the handle. */
async function found({ library }: Lab, uri: string): Promise<(signal: AbortSignal) => Promise<FileRecord>> {
  const resolved = await library.resolve(uri, 'ann');
  if (resolved.kind !== 'lazy') throw new Error(`the handle is ${resolved.kind}`);
  return resolved.read;
}

const gone = new Error('the client has gone');

describe('a lazy handle that several use first at one time (HO-14)', () => {
  it('is read once, and each gets the same file', async () => {
    const { lab, reads, next } = process();
    const uri = await lab.library.announce(LAZY);
    const [one, two] = [await found(lab, uri), await found(lab, uri)];
    const read = next();
    const files = [one(NEVER), two(NEVER)];
    (await read).give('a report');
    const [first, second] = await Promise.all(files);
    expect(second).toEqual(first);
    expect(reads).toHaveLength(1);
    // one who had looked at the handle before it was read, and comes after
    expect(await two(NEVER)).toEqual(first);
    expect(reads).toHaveLength(1);
    expect(await lab.keys()).toEqual([first?.key]);
  });

  it('one who gives up fails alone', async () => {
    const { lab, reads, next } = process();
    const uri = await lab.library.announce(LAZY);
    const read = await found(lab, uri);
    const leaving = new AbortController();
    const begun = next();
    const [left, stays] = [read(leaving.signal), read(NEVER)];
    const { signal, give } = await begun;
    leaving.abort(gone);
    await expect(left).rejects.toBe(gone);
    expect(signal.aborted).toBe(false);
    give('a report');
    expect(await stays).toMatchObject({ size: 8 });
    expect(reads).toHaveLength(1);
  });

  it('when all have given up, so has the read, and the next one begins anew', async () => {
    const { lab, next } = process();
    const uri = await lab.library.announce(LAZY);
    const read = await found(lab, uri);
    const leaving = new AbortController();
    const begun = next();
    const left = [read(leaving.signal), read(leaving.signal)];
    const { signal } = await begun;
    leaving.abort(gone);
    for (const one of left) await expect(one).rejects.toBe(gone);
    expect(signal.reason).toBe(gone);
    const again = next();
    const stays = read(NEVER);
    (await again).give('a report');
    expect(await stays).toMatchObject({ size: 8 });
    await expect(read(leaving.signal)).rejects.toBe(gone);
  });

  it('a read that fails fails for all who wait, and is tried again by the next', async () => {
    const { lab, next } = process();
    const uri = await lab.library.announce(LAZY);
    const read = await found(lab, uri);
    const begun = next();
    const both = [read(NEVER), read(NEVER)];
    (await begun).fail(new Error('no such resource'));
    for (const one of both) await expect(one).rejects.toThrow('no such resource');
    const again = next();
    const stays = read(NEVER);
    (await again).give('a report');
    expect(await stays).toMatchObject({ size: 8 });
  });
});

describe('a lazy handle that two processes read at one time (HO-05)', () => {
  /** Both have begun to read; the first is given `a report` before `between`, the second `text` after it. */
  async function race(
    text: string,
    between: (one: Lab) => Promise<void> = async () => {},
    stored: (one: Lab) => Promise<void> = async () => {},
  ) {
    const one = process();
    const two = process(one.lab, () => stored(one.lab));
    const uri = await one.lab.library.announce(LAZY);
    const begun = [one.next(), two.next()];
    const files = [(await found(one.lab, uri))(NEVER), (await found(two.lab, uri))(NEVER)];
    const [won, lost] = await Promise.all(begun);
    won?.give('a report');
    const first = await files[0];
    await between(one.lab);
    lost?.give(text);
    const second = await files[1];
    expect(second?.id).toBe(first?.id);
    return { lab: one.lab, first };
  }

  it('is what the first has read; the other’s copy is removed at once', async () => {
    const { lab, first } = await race('another report');
    expect(await lab.keys()).toEqual([first?.key]);
    // and is not found by its bytes: the same ones make a new file
    const later = await store(lab, 'another report');
    expect(await lab.bytesOf(later.key)).toEqual(Buffer.from('another report'));
    expect(await lab.library.find(later.id)).toEqual(later);
  });

  it('the same bytes are the same file, and nothing is removed', async () => {
    const { lab, first } = await race('a report');
    expect(await lab.keys()).toEqual([first?.key]);
    expect(await lab.library.find(first?.id ?? '')).toMatchObject({ shared: true });
  });

  it('a file that others know of stays, though the loser’s bytes are its', async () => {
    let known: FileRecord | undefined;
    const { lab, first } = await race('another report', async (lab) => {
      known = await store(lab, 'another report');
    });
    expect((await lab.keys()).sort()).toEqual([first?.key, known?.key].sort());
    expect(await lab.library.find(known?.id ?? '')).toMatchObject({ key: known?.key, shared: true });
  });

  it('and so does the loser’s copy, when another message has become it before it is known who was first', async () => {
    let twin: FileRecord | undefined;
    const { lab, first } = await race('another report', undefined, async (lab) => {
      twin = await store(lab, 'another report');
    });
    expect((await lab.keys()).sort()).toEqual([first?.key, twin?.key].sort());
    expect(await lab.library.find(twin?.id ?? '')).toEqual(twin);
  });
});

describe('a handle of what a server has linked to', () => {
  it.each([
    ['server', { principal: 'ann', server: 'bank' }],
    ['caller', { principal: 'bob', server: 's' }],
  ])('never comes to stand for a file of another %s', async (_, owner) => {
    let foreign: FileRecord | undefined;
    const lab = createLab({ readLazy: async () => foreign as FileRecord });
    foreign = await store(lab, 'the statement of somebody', owner);
    const uri = await lab.library.announce(LAZY);
    for (let tries = 0; tries < 2; tries++) {
      const read = await found(lab, uri);
      await expect(read(NEVER)).rejects.toMatchObject({ code: 'upstream_invalid' });
    }
    expect(await lab.library.find(foreign.id)).toEqual(foreign);
  });
});

describe('whose a file is', () => {
  it('a lazy handle is no other caller’s, and nothing is read for them (HO-06)', async () => {
    const { lab, reads } = process();
    const uri = await lab.library.announce(LAZY);
    expect(await lab.library.resolve(uri, 'bob')).toEqual({ kind: 'unknown' });
    expect(await lab.library.resolve(uri, 'ann')).toMatchObject({ kind: 'lazy', server: 's' });
    expect(reads).toEqual([]);
  });

  it('the same bytes of two servers are two files, each under the rules for its own', async () => {
    const lab = createLab();
    const limit = { name: 'limits.file', bytes: 1000, path: 'the resource' };
    const of = (server: string) => {
      const file = {
        bytes: piecesOf('the same'),
        claims: { name: 'a.txt' },
        principal: 'ann',
        server,
        subject: 'x',
        limit,
      };
      return storeFile(file, lab, NEVER);
    };
    const [bank, docs] = [await of('bank'), await of('docs')];
    expect([bank.server, docs.server]).toEqual(['bank', 'docs']);
    expect(docs.id).not.toBe(bank.id);
    expect((await of('bank')).id).toBe(bank.id);
  });
});
