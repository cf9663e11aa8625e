import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { ByteRange, ObjectRead } from '../../gateway/ports/object-store.js';
import { toStoreError } from './filesystem-writer.js';

/** Bytes of one read. At 256 KiB a file costs a third of the system calls of Node's 64 KiB default. */
const READ_SIZE = 256 * 1024;

/**
 * Opens a file once and answers all from that one handle, so that a removal or a replacement meanwhile is not seen.
 * @throws the system's error when it cannot be opened
 */
export async function openBody(
  key: string,
  path: string,
  range: ByteRange | undefined,
  signal: AbortSignal,
): Promise<ObjectRead> {
  const handle = await open(path, 'r');
  try {
    const found = await handle.stat();
    if (!found.isFile()) {
      await handle.close();
      return { kind: 'missing' }; // a folder: the beginning of other keys, but no object
    }
    const { size, mtimeMs } = found;
    if (range !== undefined && range.start >= size) {
      await handle.close();
      return { kind: 'range-not-satisfiable', size };
    }
    signal.throwIfAborted();
    const stat = { key, size, modifiedAt: Math.trunc(mtimeMs) };
    const end = Math.min(range?.end ?? size, size - 1) + 1;
    return { kind: 'found', stat, body: new FileBody(handle, range?.start ?? 0, end, signal) };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

class FileBody extends Readable {
  readonly #handle: FileHandle;
  readonly #end: number;
  readonly #signal: AbortSignal;
  readonly #onAbort: () => void;
  #position: number;
  #reading: Promise<void> = Promise.resolve();

  constructor(handle: FileHandle, start: number, end: number, signal: AbortSignal) {
    super({ highWaterMark: READ_SIZE });
    this.#handle = handle;
    this.#position = start;
    this.#end = end;
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
    if (!this.destroyed) this.push(buffer.subarray(0, bytesRead));
  }
}
