import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../../gateway/errors.js';
import { fill } from '../../../gateway/files/ingest/fill.js';
import { Ingest } from '../../../gateway/files/ingest/ingest.js';
import type { OpenTap, Tap } from '../../../gateway/files/tap.js';
import { inPieces } from '../../helpers/chunked.js';
import { gate } from '../../helpers/gate.js';
import { unhandledDuring } from '../../helpers/this-process.js';
import { createLab, HELLO, type Lab, NEVER } from './uploads/upload-lab.js';

const LIMIT = { name: 'limits.file', bytes: 10_000_000, path: 'the file' };
const REFUSED = new GatewayError('file_gone');

const fileOf = (lab: Lab, taps?: readonly OpenTap[]) =>
  new Ingest(lab.ingest, { owner: { principal: 'ann' }, limit: LIMIT, taps }, NEVER);

/** A tap that keeps a copy of what it is given. */
function keeping(extra: Partial<Tap> = {}): Tap & { got: Buffer[]; calls: string[] } {
  const got: Buffer[] = [];
  const calls: string[] = [];
  return {
    got,
    calls,
    take: (bytes) => {
      got.push(Buffer.from(bytes));
      return extra.take?.(bytes);
    },
    end: async (digest) => {
      calls.push('end');
      await extra.end?.(digest);
    },
    abort: () => {
      calls.push('abort');
      extra.abort?.();
    },
  };
}

describe('a tap on a file', () => {
  it('gets every byte once and in order, whatever the parts, and then the end', async () => {
    const taps = [keeping(), keeping()] as const;
    const lab = createLab({ taps: [() => taps[0]] });
    const bytes = Buffer.from(Array.from({ length: 3 * lab.objects.partSize + 7 }, (_, n) => n % 251));
    const ingest = fileOf(lab, [() => taps[1]]);
    await fill(ingest, inPieces(bytes, 10_001));
    expect(taps[0].calls).toEqual([]);
    const { key } = await ingest.commit();
    ingest.abort();
    for (const tap of taps) {
      expect(Buffer.concat(tap.got).equals(bytes)).toBe(true);
      expect(tap.calls).toEqual(['end']);
    }
    expect((await lab.bytesOf(key)).equals(bytes)).toBe(true);
  });

  it('is opened with the first bytes, for a file that it wants', async () => {
    const files: object[] = [];
    const lab = createLab({
      taps: [
        (file) => {
          files.push(file);
          return undefined;
        },
      ],
    });
    const ingest = fileOf(lab);
    expect(files).toEqual([]);
    await fill(ingest, inPieces(HELLO, 5));
    expect(files).toEqual([{ id: ingest.id, key: ingest.key, owner: { principal: 'ann' }, signal: NEVER }]);
    expect((await ingest.commit()).size).toBe(HELLO.length);
  });

  it('stops the source while it can take no more', async () => {
    let goOn = () => {};
    const lab = createLab();
    const tap = keeping({ take: () => new Promise<void>((resolve) => (goOn = resolve)) });
    const ingest = fileOf(lab, [() => tap]);
    await ingest.begin();
    HELLO.copy(ingest.buffer, ingest.offset);
    ingest.take(HELLO.length);
    const { pressure } = ingest;
    expect(pressure).toBeDefined();
    goOn();
    await pressure;
    expect(ingest.pressure).toBeUndefined();
    expect((await ingest.commit()).size).toBe(HELLO.length);
  });

  it.each<[string, Partial<Tap>]>([
    [
      'at once',
      {
        take: () => {
          throw REFUSED;
        },
      },
    ],
    ['after a while', { take: () => Promise.reject(REFUSED) }],
    ['at its end', { end: () => Promise.reject(REFUSED) }],
  ])('can refuse it %s, and nothing of it stays', async (_, extra) => {
    const lab = createLab();
    const tap = keeping(extra);
    const ingest = fileOf(lab, [() => tap]);
    const bytes = Buffer.alloc(2 * lab.objects.partSize + 1);
    const storing = async () => {
      await fill(ingest, inPieces(bytes, bytes.length));
      await ingest.commit();
    };
    await expect(storing()).rejects.toBe(REFUSED);
    ingest.abort();
    expect(tap.calls.at(-1)).toBe('abort');
    expect(await lab.keys()).toEqual([]);
    expect(lab.budget.used).toBe(0);
    expect(lab.held.used).toBe(0);
  });

  it('is told when the file is given up', async () => {
    const lab = createLab();
    const tap = keeping();
    const ingest = fileOf(lab, [() => tap]);
    await fill(ingest, inPieces(HELLO, 5));
    ingest.abort();
    ingest.abort();
    expect(tap.calls).toEqual(['abort']);
  });

  it('refuses the file alone, where another one would refuse it a moment later', async () => {
    const later = gate();
    const lab = createLab({ taps: [() => keeping({ take: () => later.opened.then(() => Promise.reject(REFUSED)) })] });
    const full = new GatewayError('storage_full');
    const throwing = keeping({
      take: () => {
        throw full;
      },
    });
    const unhandled = await unhandledDuring(async () => {
      const ingest = fileOf(lab, [() => throwing]);
      await expect(fill(ingest, inPieces(HELLO, 5))).rejects.toBe(full);
      ingest.abort();
      later.open();
    });
    expect(unhandled).toEqual([]);
  });
});
