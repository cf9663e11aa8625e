import type { BigIntStats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { ByteRange, ObjectRead, ObjectStat } from '../../../gateway/ports/object-store.js';
import { markOf, toStoreError } from './writer.js';

/** Bytes per read. With 256 KiB a file costs a third of the system calls of Node's default, 64 KiB. */
const READ_SIZE = 256 * 1024;

const NS_PER_MS = 1_000_000n;

interface OpenOptions {
  range: ByteRange | undefined;
  signal: AbortSignal;
}

/**
 * Opens a file once and uses only that handle, so that a concurrent removal or replacement has no effect.
 * @throws the system's error when it cannot be opened
 */
export async function openBody(key: string, path: string, { range, signal }: OpenOptions): Promise<ObjectRead> {
  const handle = await open(path, 'r');
  try {
    const found = await handle.stat({ bigint: true });
    // a folder is a prefix of keys, not an object
    if (!found.isFile()) {
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
    const body = new FileBody(handle, { from: range?.start ?? 0, end, mtimeNs: found.mtimeNs }, signal);
    return { kind: 'found', stat, body, release: (chunk) => body.release(chunk) };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The port's facts about a file. */
export function asStat(key: string, found: BigIntStats): ObjectStat {
  return { key, size: Number(found.size), modifiedAt: Number(found.mtimeNs / NS_PER_MS), mark: markOf(found) };
}

/** Node ends the process when a handle is collected that was never closed: a forgotten body closes its own. */
const forgotten = new FinalizationRegistry<FileHandle>((handle) => void handle.close().catch(() => undefined));

class FileBody extends Readable {
  readonly #handle: FileHandle;
  readonly #end: number;
  readonly #mtimeNs: bigint;
  readonly #signal: AbortSignal;
  readonly #onAbort: () => void;
  #position: number;
  #reading: Promise<void> = Promise.resolve();
  /** Memory of chunks that came back. */
  #free: ArrayBufferLike | undefined;
  /** Memory of chunks, and their lengths. */
  readonly #own = new WeakMap<ArrayBufferLike, number>();

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
    forgotten.register(this, handle, this);
  }

  override _read(): void {
    this.#reading = this.#readOne().catch((error: unknown) => {
      this.destroy(toStoreError(error));
    });
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
    forgotten.unregister(this);
    // If a handle is closed during a read, the read can hit another file that gets the same descriptor.
    void this.#reading
      .then(() => this.#handle.close())
      .then(
        () => done(error),
        (closing: unknown) => done(error ?? toStoreError(closing)),
      );
  }

  /** Keeps the memory of one chunk for a later one. A fresh 256 KiB each time makes the collector work. */
  release({ buffer, length }: Buffer): void {
    // a part of a chunk says nothing about the rest
    if (this.#own.get(buffer) === length) this.#free = buffer;
  }

  #memory(): Buffer {
    const free = this.#free;
    this.#free = undefined;
    if (free) return Buffer.from(free as ArrayBuffer);
    // Plain allocation: a slice of Node's shared pool would pin the pool as long as a reader is slow.
    return Buffer.allocUnsafeSlow(Math.min(READ_SIZE, this.#end - this.#position));
  }

  async #readOne(): Promise<void> {
    const wanted = Math.min(READ_SIZE, this.#end - this.#position);
    if (wanted <= 0) {
      this.push(null);
      return;
    }
    const { bytesRead, buffer } = await this.#handle.read(this.#memory(), 0, wanted, this.#position);
    if (bytesRead === 0) throw new Error('The file is shorter than it was when it was opened.');
    this.#own.set(buffer.buffer, bytesRead);
    this.#position += bytesRead;
    // before the last bytes: check that the file was not changed while it was read
    if (this.#position === this.#end && (await this.#handle.stat({ bigint: true })).mtimeNs !== this.#mtimeNs)
      throw new Error('The file was changed while it was read.');
    if (!this.destroyed) this.push(buffer.subarray(0, bytesRead));
  }
}
