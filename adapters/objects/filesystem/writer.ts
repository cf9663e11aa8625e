import type { BigIntStats } from 'node:fs';
import { type FileHandle, mkdir, open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { descriptorsExhausted } from '../../../gateway/errors/system.js';
import { GatewayError } from '../../../gateway/errors.js';
import type { ObjectWriter } from '../../../gateway/ports/object-store.js';
import { filesToRemoveAtExit } from './unfinished.js';

interface Target {
  handle: FileHandle;
  temporary: string;
  target: string;
  /** The folder for objects. */
  root: string;
  /** Bytes that the file has already. */
  from?: number;
}

/** A file in `tmp/` that becomes visible under its key by one atomic rename, after its bytes are on disk. */
export class FilesystemWriter implements ObjectWriter {
  readonly #handle: FileHandle;
  readonly #temporary: string;
  readonly #target: string;
  readonly #root: string;
  readonly #signal: AbortSignal;
  #position: number;
  /** A failed commit stays `committing`: its rename may have happened. */
  #state: 'writing' | 'committing' | 'committed' | 'aborted' = 'writing';

  constructor({ handle, temporary, target, root, from = 0 }: Target, signal: AbortSignal) {
    this.#handle = handle;
    this.#temporary = temporary;
    this.#target = target;
    this.#root = root;
    this.#position = from;
    this.#signal = signal;
  }

  /** Bytes written so far. */
  get position(): number {
    return this.#position;
  }

  async write(part: Buffer): Promise<void> {
    this.#signal.throwIfAborted();
    try {
      // A full disk accepts some of the bytes before it refuses the rest.
      for (let at = 0; at < part.length; ) {
        const { bytesWritten } = await this.#handle.write(part, at, part.length - at, this.#position);
        at += bytesWritten;
        this.#position += bytesWritten;
      }
    } catch (error) {
      // what may be written is written first
      if (errnoOf(error) === 'EFBIG') throw largerThanAllowed(this.#position, error);
      throw toStoreError(error, this.#root);
    }
  }

  writeLast(part: Buffer): Promise<void> {
    return this.write(part);
  }

  async commit(): Promise<string> {
    this.#signal.throwIfAborted();
    try {
      // "What is acknowledged is stored": first the bytes, then the name, then the folder with the name.
      await this.#handle.sync();
      const mark = markOf(await this.#handle.stat({ bigint: true }));
      await this.#handle.close();
      this.#state = 'committing';
      await this.#giveName();
      await syncFolder(dirname(this.#target));
      this.#state = 'committed';
      filesToRemoveAtExit.delete(this.#temporary);
      return mark;
    } catch (error) {
      throw toStoreError(error, this.#root);
    }
  }

  /** Looks for the folder only where it is missing, as for the first file: that is a twentieth of what a small file costs. */
  async #giveName(): Promise<void> {
    try {
      await rename(this.#temporary, this.#target);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
      await makeFolders(dirname(this.#target), this.#root);
      await rename(this.#temporary, this.#target);
    }
  }

  async abort(): Promise<void> {
    if (this.#state === 'committed' || this.#state === 'aborted') return;
    try {
      // Closing twice is harmless: the handle remembers that it is closed.
      await this.#handle.close().catch(() => undefined);
      await unlinkIfThere(this.#temporary);
      if (this.#state === 'committing') await unlinkIfThere(this.#target);
      this.#state = 'aborted';
      filesToRemoveAtExit.delete(this.#temporary);
    } catch (error) {
      throw toStoreError(error);
    }
  }
}

/**
 * When a file was last changed. Its number on the disk is not part of it: on some network disks a file has another one each
 * time, and `cp -a` keeps the time alone.
 */
export function markOf({ mtimeNs }: Pick<BigIntStats, 'mtimeNs'>): string {
  return String(mtimeNs);
}

/** Creates `folder` and its missing parents below `root`, and syncs each name before anything is put inside. */
async function makeFolders(folder: string, root: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = folder; made !== root; made = dirname(made)) {
    await syncFolder(dirname(made));
    if (made === first) return;
  }
}

/** Puts the names in a folder on disk. Windows does so by itself, and refuses to be asked. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function unlinkIfThere(path: string): Promise<void> {
  await unlink(path).catch(ignoreMissing);
}

function ignoreMissing(error: unknown): void {
  if (errnoOf(error) !== 'ENOENT') throw error;
}

/** The system's name of an error (`ENOSPC`), if it has one. */
export function errnoOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

function fullBelow(folder: string, cause: unknown): Error {
  const { message } = cause as Error;
  return new Error(`${message}, below ${folder}`, { cause });
}

/** The process may write no file this long, however much room there is. The rest of it has not come yet. */
function largerThanAllowed(allowed: number, cause: unknown): GatewayError {
  return new GatewayError('store_object_too_large', { limit: 'ulimit -f', allowed, actual: allowed + 1 }, cause);
}

/**
 * Turns a failed system call into the port's error. Its path stays in the cause, which only the operator sees.
 * @param folder what is written, for calls on an open file: the system names no path in their errors, and of several disks
 *   the operator must know the full one
 */
export function toStoreError(error: unknown, folder?: string): GatewayError {
  if (error instanceof GatewayError) return error;
  const code = errnoOf(error);
  // EDQUOT: the user's quota instead of the disk; the effect is the same.
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new GatewayError('store_full', {}, folder === undefined ? error : fullBelow(folder, error));
  return descriptorsExhausted(error) ?? new GatewayError('store_unavailable', {}, error);
}
