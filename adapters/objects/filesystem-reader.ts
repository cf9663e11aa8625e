import type { BigIntStats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { ByteRange, ObjectRead, ObjectStat } from '../../gateway/ports/object-store.js';
import { toStoreError } from './filesystem-writer.js';

/** Bytes of one read. At 256 KiB a file costs a third of the system calls of Node's 64 KiB default. */
const READ_SIZE = 256 * 1024;

const NS_PER_MS = 1_000_000n;

export interface OpenOptions {
  range: ByteRange | undefined;
  signal: AbortSignal;
  /** Whether the file is still the one that was stored. */
  holds: (found: BigIntStats) => boolean;
}

/**
 * Opens a file once and answers all from that one handle, so that a removal or a replacement meanwhile is not seen.
 * @throws the system's error when it cannot be opened
 */
export async function openBody(key: string, path: string, { range, signal, holds }: OpenOptions): Promise<ObjectRead> {
  const handle = await open(path, 'r');
  try {
    const found = await handle.stat({ bigint: true });
    // a folder is the beginning of other keys, but no object
    if (!found.isFile() || !holds(found)) {
      await handle.close();
      return { kind: 'missing' };
    }
    const stat = asStat(key, found);
    const { size } = stat;
    if (range !== undefined && range.start >= size) {
      await handle.close();
      return { kind: 'range-not-satisfiable', size };
    }
    signal.throwIfAborted();
    const end = Math.min(range?.end ?? size, size - 1) + 1;
    return {
      kind: 'found',
      stat,
      body: new FileBody(handle, { from: range?.start ?? 0, end, mtimeNs: found.mtimeNs }, signal),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** What the port tells of a file. */
export function asStat(key: string, { size, mtimeNs }: BigIntStats): ObjectStat {
  return { key, size: Number(size), modifiedAt: Number(mtimeNs / NS_PER_MS) };
}

class FileBody extends Readable {
  readonly #handle: FileHandle;
  readonly #end: number;
  readonly #mtimeNs: bigint;
  readonly #signal: AbortSignal;
  readonly #onAbort: () => void;
  #position: number;
  #reading: Promise<void> = Promise.resolve();

  constructor(
    handle: FileHandle,
    { from, end, mtimeNs }: { from: number; end: number; mtimeNs: bigint },
    signal: AbortSignal,
  ) {
    super({ highWaterMark: READ_SIZE });
    this.#handle = handle;
    this.#position = from;
    this.#end = end;
    this.#mtimeNs = mtimeNs;
    this.#signal = signal;
    this.#onAbort = () => this.destroy(signal.reason);
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  override _read(): void {
    this.#reading = this.#readOne().catch((error: unknown) => {
      this.destroy(toStoreError(error));
    });
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
    // A handle that is closed while a read is under way would read from whoever gets its number next.
    void this.#reading
      .then(() => this.#handle.close())
      .then(
        () => done(error),
        (closing: unknown) => done(error ?? toStoreError(closing)),
      );
  }

  async #readOne(): Promise<void> {
    const wanted = Math.min(READ_SIZE, this.#end - this.#position);
    if (wanted <= 0) {
      this.push(null);
      return;
    }
    // Plain allocation: a slice of Node's shared pool would pin the pool for as long as one reader is slow.
    const { bytesRead, buffer } = await this.#handle.read(Buffer.allocUnsafeSlow(wanted), 0, wanted, this.#position);
    if (bytesRead === 0) throw new Error('The file is shorter than it was when it was opened.');
    this.#position += bytesRead;
    // before the last of them: what has been read since it was opened may be of two files
    if (this.#position === this.#end && (await this.#handle.stat({ bigint: true })).mtimeNs !== this.#mtimeNs)
      throw new Error('The file was changed while it was read.');
    if (!this.destroyed) this.push(buffer.subarray(0, bytesRead));
  }
}
