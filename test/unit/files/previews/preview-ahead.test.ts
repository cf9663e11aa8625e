import { describe, expect, it } from '@jest/globals';
import { Ledger, UNSHARED } from '../../../../gateway/budget/ledger.js';
import { BufferPool } from '../../../../gateway/budget/memory/buffer-pool.js';
import { fill } from '../../../../gateway/files/ingest/fill.js';
import { Ingest } from '../../../../gateway/files/ingest/ingest.js';
import { PreviewAhead } from '../../../../gateway/files/previews/ahead.js';
import { MadePreviews } from '../../../../gateway/files/previews/made-previews.js';
import type { Previewer, PreviewResult, PreviewSource } from '../../../../gateway/ports/previewer.js';
import { silentLog } from '../../../helpers/silent-log.js';
import { createLab, NEVER } from '../uploads/upload-lab.js';

const BLOCK = 64 * 1024;
const MOST = 40 * BLOCK;
const OWNER = { principal: 'ann', server: 'shots' };
const PNG = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x10\x08\x02\0\0\0', 'latin1');

/** A picture as far as its first bytes say, with bytes that differ behind them. */
function picture(size: number): Buffer {
  return Buffer.concat([PNG, Buffer.from(Array.from({ length: size - PNG.length }, (_, n) => n % 251))]);
}

interface Lab {
  ahead: PreviewAhead;
  ledger: Ledger;
  /** What the previewer has read. */
  read: Buffer[];
  /** Whether a rendering was given up. */
  stopped: () => boolean;
}

function lab({
  total = 100 * BLOCK,
  blocks = new BufferPool(BLOCK, 0),
  releases = true,
  earlier = new MadePreviews(new Ledger({ limit: 'limits.previewMemory', total: 0, sharing: UNSHARED })),
  render,
}: {
  total?: number;
  blocks?: BufferPool;
  /** Whether the previewer gives pieces back. */
  releases?: boolean;
  earlier?: MadePreviews;
  render?: (read: () => Promise<void>, stop: AbortSignal, source: PreviewSource) => Promise<PreviewResult>;
} = {}): Lab {
  const ledger = new Ledger({ limit: 'limits.previewMemory', total, sharing: UNSHARED });
  const read: Buffer[] = [];
  let stop: AbortSignal | undefined;
  const previewer: Previewer = {
    name: 'fake',
    takes: () => true,
    wholeUpTo: (type) => (type === 'image/png' ? MOST : 0),
    async render(source, _limits, signal) {
      stop = signal;
      const readAll = async () => {
        for await (const piece of await source.open(signal)) {
          read.push(Buffer.from(piece as Buffer));
          if (releases) source.release?.(piece as Buffer);
        }
      };
      if (render) return render(readAll, signal, source);
      await readAll();
      const image = { mimeType: 'image/jpeg', data: Buffer.from('small'), width: 4, height: 4 } as const;
      return { kind: 'rendered', preview: { facts: { pixels: { width: 16, height: 16 } }, image } };
    },
    check: async () => {},
    close: async () => {},
  };
  const metrics = { count() {}, observe() {}, gauge() {} };
  const ahead = new PreviewAhead({ previewer, log: silentLog, metrics, ledger, blocks, earlier }, OWNER, NEVER);
  return { ahead, ledger, read, stopped: () => stop?.aborted === true };
}

async function given(ahead: PreviewAhead, bytes: Buffer, pieceSize = 48 * 1024): Promise<void> {
  for (let at = 0; at < bytes.length; at += pieceSize) ahead.take(bytes.subarray(at, at + pieceSize));
  // the type is known a little later
  await new Promise((resolve) => setImmediate(resolve));
}

describe('a preview that is begun while its file is stored', () => {
  it.each([PNG.length, 5000, BLOCK, BLOCK + 1, 20 * BLOCK + 7])(
    'is made of every byte of %i, and keeps none',
    async (size) => {
      const { ahead, ledger, read } = lab();
      const bytes = picture(size);
      await given(ahead, bytes);
      expect(ledger.used).toBe(Math.ceil(size / BLOCK) * BLOCK);
      await ahead.end('digest');
      expect((await ahead.made)?.preview).toMatchObject({ image: { base64: Buffer.from('small').toString('base64') } });
      expect(Buffer.concat(read).equals(bytes)).toBe(true);
      expect(ledger.used).toBe(0);
    },
  );

  it('lends the memory of pieces that the previewer gave back to the next file', async () => {
    const blocks = new BufferPool(BLOCK, 0);
    const lent: ArrayBufferLike[] = [];
    for (const size of [3 * BLOCK, 2 * BLOCK]) {
      const { ahead, read } = lab({ blocks });
      await given(ahead, picture(size));
      await ahead.end('digest');
      expect((await ahead.made)?.preview).toBeDefined();
      expect(Buffer.concat(read).equals(picture(size))).toBe(true);
      lent.push(...Array.from({ length: 3 }, () => blocks.take()).map((block) => block.buffer));
      for (const buffer of lent.slice(-3)) blocks.giveBack(Buffer.from(buffer as ArrayBuffer));
    }
    expect(new Set(lent).size).toBe(3);
  });

  it.each([true, false])('is not counted when it is over, whether pieces are given back (%s)', async (releases) => {
    const blocks = new BufferPool(BLOCK, 0);
    const { ahead, ledger } = lab({ blocks, releases });
    await given(ahead, picture(3 * BLOCK));
    await ahead.end('digest');
    await ahead.made;
    expect(ledger.used).toBe(0);
  });

  it.each([
    ['', 100 * BLOCK],
    [', also where there is no memory to read along', 0],
  ])('is the one that was made of the same bytes before%s', async (_where, total) => {
    const earlier = new MadePreviews(new Ledger({ limit: 'limits.previewMemory', total: 1e6, sharing: UNSHARED }));
    const first = lab({ earlier });
    await given(first.ahead, picture(3 * BLOCK));
    await first.ahead.end('digest');
    const made = await first.ahead.made;
    const second = lab({ earlier, total });
    await given(second.ahead, picture(3 * BLOCK));
    await second.ahead.end('digest');
    expect((await second.ahead.made)?.preview).toBe(made?.preview);
    expect(second.read).toEqual([]);
    expect(second.ledger.used).toBe(0);
  });

  it('leaves pieces alone that the previewer keeps', async () => {
    const blocks = new BufferPool(BLOCK, 0);
    const kept: Buffer[] = [];
    const { ahead } = lab({
      blocks,
      async render(_readAll, _stop, source) {
        for await (const piece of await source.open(NEVER)) kept.push(piece as Buffer);
        return { kind: 'refused', reason: 'busy' };
      },
    });
    await given(ahead, picture(3 * BLOCK));
    await ahead.end('digest');
    await ahead.made;
    for (let count = 0; count < 3; count++) blocks.take().fill(0);
    expect(Buffer.concat(kept).equals(picture(3 * BLOCK))).toBe(true);
  });

  it('counts blocks, however small the pieces are', async () => {
    const { ahead, ledger, read } = lab();
    const bytes = picture(9000);
    await given(ahead, bytes, 1);
    expect(ledger.used).toBe(BLOCK);
    await ahead.end('digest');
    await ahead.made;
    expect(Buffer.concat(read).equals(bytes)).toBe(true);
  });

  it('keeps nothing of a file of another type once its first bytes are there', async () => {
    const { ahead, ledger, read } = lab();
    await given(ahead, Buffer.alloc(3 * BLOCK, 'a line of text\n'));
    expect(ledger.used).toBe(0);
    await ahead.end('digest');
    expect(await ahead.made).toBeUndefined();
    expect(read).toEqual([]);
  });

  it('is left to the stored object for a short file of another type', async () => {
    const { ahead, ledger } = lab();
    await given(ahead, Buffer.from('short'));
    await ahead.end('digest');
    expect(await ahead.made).toBeUndefined();
    expect(ledger.used).toBe(0);
  });

  it('is left to the stored object for a file larger than the previewer takes', async () => {
    const { ahead, ledger, read } = lab();
    await given(ahead, picture(MOST + 1));
    await ahead.end('digest');
    expect(await ahead.made).toBeUndefined();
    expect(ledger.used).toBe(0);
    expect(read).toEqual([]);
  });

  it('is left to the stored object for a file that turns out to be too large after its type is known', async () => {
    const { ahead, ledger, read } = lab();
    await given(ahead, picture(MOST));
    ahead.take(Buffer.from('more'));
    await ahead.end('digest');
    expect(await ahead.made).toBeUndefined();
    expect([read, ledger.used]).toEqual([[], 0]);
  });

  it('counts a piece no more that comes back after it was given up', async () => {
    const late: Buffer[] = [];
    let source: PreviewSource | undefined;
    const { ahead, ledger } = lab({
      async render(_readAll, stop, given) {
        source = given;
        for await (const piece of await given.open(NEVER)) late.push(piece as Buffer);
        await new Promise((resolve) => stop.addEventListener('abort', resolve));
        throw new Error('given up');
      },
    });
    await given(ahead, picture(3 * BLOCK));
    await ahead.end('digest');
    while (late.length < 3) await new Promise((resolve) => setImmediate(resolve));
    ahead.abort();
    await ahead.made;
    for (const piece of late) source?.release?.(piece);
    expect(ledger.used).toBe(0);
  });

  it('is left to the stored object when there is no more memory, and makes room for others', async () => {
    const { ahead, ledger } = lab({ total: 2 * BLOCK });
    await given(ahead, picture(2 * BLOCK));
    expect(ledger.used).toBe(2 * BLOCK);
    ahead.take(Buffer.from('more'));
    expect(ledger.used).toBe(0);
    await ahead.end('digest');
    expect(await ahead.made).toBeUndefined();
  });

  it.each([
    ['that reads nothing', async () => ({ kind: 'refused', reason: 'busy' }) as const],
    [
      'that fails after reading',
      async (read: () => Promise<void>) => {
        await read();
        throw new Error('no');
      },
    ],
  ])('does not exist when it is refused by a previewer %s, which is not asked again', async (_what, render) => {
    const { ahead, ledger } = lab({ render });
    await given(ahead, picture(3 * BLOCK));
    await ahead.end('digest');
    expect(await ahead.made).toEqual({ preview: undefined });
    expect(ledger.used).toBe(0);
  });

  it('keeps nothing of a source that the previewer stops reading', async () => {
    const { ahead, ledger } = lab();
    const half = lab({
      render: async () => ({ kind: 'refused', reason: 'deadline' }),
    });
    await given(half.ahead, picture(3 * BLOCK));
    await half.ahead.end('digest');
    await half.ahead.made;
    expect(half.ledger.used).toBe(0);
    await given(ahead, picture(BLOCK));
    ahead.abort();
    expect(ledger.used).toBe(0);
  });

  it('ends when its file is given up, also while it is rendered', async () => {
    const { ahead, ledger, stopped } = lab({
      render: (_read, stop) =>
        new Promise((resolve) => {
          stop.addEventListener('abort', () => resolve({ kind: 'refused', reason: 'aborted' }));
        }),
    });
    await given(ahead, picture(3 * BLOCK));
    await ahead.end('digest');
    // the rendering begins when the type is known
    await new Promise((resolve) => setImmediate(resolve));
    ahead.abort();
    expect(await ahead.made).toEqual({ preview: undefined });
    expect(stopped()).toBe(true);
    expect(ledger.used).toBe(0);
  });

  it('takes what goes into the store, and comes with what is stored', async () => {
    const { ahead, read } = lab();
    const files = createLab({});
    const limit = { name: 'limits.file', bytes: 10_000_000, path: 'the file' };
    const ingest = new Ingest(files.ingest, { owner: OWNER, limit, taps: [() => ahead] }, NEVER);
    const bytes = picture(3 * BLOCK);
    async function* pieces() {
      yield bytes;
    }
    await fill(ingest, pieces());
    const { key } = await ingest.commit();
    expect((await ahead.made)?.preview).toBeDefined();
    expect(Buffer.concat(read).equals(bytes)).toBe(true);
    expect((await files.bytesOf(key)).equals(bytes)).toBe(true);
  });
});
