import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Ingest } from '../../../../gateway/files/ingest/ingest.js';
import type { ObjectStore } from '../../../../gateway/ports/object-store.js';
import { createLab, type Lab, NEVER } from '../uploads/upload-lab.js';

const LIMIT = { name: 'limits.file', bytes: 10_000_000, path: 'the file' };

const ingestOf = (lab: Lab) => new Ingest(lab.ingest, { owner: { principal: 'ann' }, limit: LIMIT }, NEVER);

async function put(ingest: Ingest, bytes: Buffer): Promise<void> {
  await ingest.begin();
  bytes.copy(ingest.buffer, ingest.offset);
  ingest.take(bytes.length);
  await ingest.pressure;
}

/** A store in which writing and removing never end. */
function hanging(real: ObjectStore): ObjectStore {
  const never = new Promise<never>(() => {});
  return {
    ...real,
    create: async (key, signal) => ({
      ...(await real.create(key, signal)),
      ...{ write: () => never, writeLast: () => never, abort: () => never },
    }),
    remove: () => never,
  };
}

describe('a file on its way into the store', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it('holds no part memory while nothing comes, and goes on where it was', async () => {
    const lab = createLab();
    const ingest = ingestOf(lab);
    await put(ingest, Buffer.from('Hello '));
    expect(lab.budget.used).toBe(lab.objects.partSize);
    ingest.rest();
    expect(lab.budget.used).toBe(0);
    expect(lab.held.used).toBe(6);
    await put(ingest, Buffer.from('world!'));
    expect(lab.budget.used).toBe(lab.objects.partSize);
    expect(lab.held.used).toBe(0);
    const { key } = await ingest.commit();
    expect((await lab.bytesOf(key)).toString()).toBe('Hello world!');
    expect(lab.budget.used).toBe(0);
  });

  it('gives it back by itself, once nothing has come for a while', async () => {
    jest.useFakeTimers();
    const lab = createLab();
    const ingest = ingestOf(lab);
    await put(ingest, Buffer.from('x'));
    await jest.advanceTimersByTimeAsync(3000);
    expect(lab.budget.used).toBe(0);
    ingest.abort();
    expect(lab.held.used).toBe(0);
  });

  it('is stored from what was put aside, if nothing more comes', async () => {
    const lab = createLab();
    const ingest = ingestOf(lab);
    await put(ingest, Buffer.from('all of it'));
    ingest.rest();
    const { key } = await ingest.commit();
    expect((await lab.bytesOf(key)).toString()).toBe('all of it');
    expect(lab.held.used).toBe(0);
  });

  it('keeps a part that is well filled, and one that is being sent', async () => {
    const lab = createLab();
    const ingest = ingestOf(lab);
    for (let n = 0; n < 3; n += 1) await put(ingest, Buffer.alloc(40_000));
    ingest.rest();
    expect(lab.budget.used).toBe(lab.objects.partSize);
    const committing = ingest.commit();
    ingest.rest();
    expect((await committing).size).toBe(120_000);
  });

  it('is given up at once, whatever the store does, and its part is others’ when the store is done with it', async () => {
    const lab = createLab({ objects: hanging });
    const ingest = ingestOf(lab);
    await ingest.begin();
    for (let n = 0; n < 30 && !ingest.pressure; n += 1) {
      Buffer.alloc(40_000).copy(ingest.buffer, ingest.offset);
      ingest.take(40_000);
    }
    expect(ingest.pressure).toBeDefined();
    ingest.abort();
    expect(lab.cleanUps.size).toBe(1);
    expect(lab.budget.used).toBe(lab.objects.partSize);
  });

  it.each([
    [1, true],
    [3, false],
  ])('tells the store the digest of a file that is one part (%d parts)', async (parts, isTold) => {
    const told: (string | undefined)[] = [];
    const lab = createLab({
      objects: (real) => ({
        ...real,
        create: async (key, signal) => {
          const writer = await real.create(key, signal);
          const write = (part: Buffer) => {
            told.push(undefined);
            return writer.write(part);
          };
          const writeLast = (part: Buffer, sha256?: string) => {
            told.push(sha256);
            return writer.writeLast(part, sha256);
          };
          return { write, writeLast, commit: () => writer.commit(), abort: () => writer.abort() };
        },
      }),
    });
    const ingest = ingestOf(lab);
    for (let at = 0; at < parts * lab.objects.partSize; at += 32 * 1024) await put(ingest, Buffer.alloc(32 * 1024));
    const { digest } = await ingest.commit();
    expect(told).toHaveLength(parts);
    expect(told.at(-1)).toBe(isTold ? digest : undefined);
    expect(told.slice(0, -1).every((one) => one === undefined)).toBe(true);
  });

  it('cannot go on after its end', async () => {
    const lab = createLab();
    const ingest = ingestOf(lab);
    await put(ingest, Buffer.from('x'));
    ingest.abort();
    ingest.abort();
    expect(() => ingest.begin()).toThrow('after its end');
    expect(() => ingest.buffer).toThrow('after its end');
    expect(lab.budget.used).toBe(0);
  });
});
