import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { type FileHandle, lstat, mkdir, mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { descriptorsExhausted } from '../../errors/system.js';
import { GatewayError } from '../../errors.js';
import type { Log } from '../../ports/log.js';
import { cleanFileName } from '../names/file-name.js';
import type { FileSource } from './index.js';
import { wholeFile } from './whole-file.js';

interface TempFilesDeps {
  log: Log;
  /** Parent of the private folders; default: the system's. */
  root?: string;
  /** It is made when it is first needed. */
  isMade?: boolean;
}

/** A copy of a file on the local disk, for a server that takes paths. */
export interface TempFile {
  path: string;
  /** `file:///tmp/…` */
  uri: string;
  /** Removes it and its folder. Never throws; a second call does nothing. */
  remove(): Promise<void>;
}

/** The size limit of a file, its config name and the file's place, for the error. */
interface TempFileLimit {
  name: string;
  bytes: number;
  path: string;
}

/** Processes of another machine or container may share the folder, and their ids mean nothing here. */
const HOST = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
const NAME = new RegExp(`^wharf-${HOST}-(\\d{1,10})-[A-Za-z0-9]{6}$`);

/**
 * Folders that this process has made and not removed. After a restart in a container the process id is often the same.
 */
const living = new Set<string>();

/** A process that must end at once can no longer await anything. */
function removeLiving(): void {
  for (const folder of living) rmSync(folder, { recursive: true, force: true });
}

function keep(folder: string): string {
  if (living.size === 0) process.once('exit', removeLiving);
  living.add(folder);
  return folder;
}

/**
 * Makes a folder that only this user can enter. It is removed with the process or, if that was killed, at the next
 * start.
 */
export function makePrivateFolder(root?: string): string {
  if (root !== undefined) mkdirSync(root, { recursive: true, mode: 0o700 });
  // mkdtemp uses mode 0700 and never an existing name, not even a link
  return keep(mkdtempSync(prefixIn(root ?? tmpdir())));
}

function prefixIn(root: string): string {
  return join(root, `wharf-${HOST}-${process.pid}-`);
}

/** Copies stored files to the local disk, each into its own folder that only this user can enter. */
export class TempFiles {
  readonly #log: Log;
  readonly #root: string;
  readonly #isMade: boolean;

  constructor({ log, root = tmpdir(), isMade = false }: TempFilesDeps) {
    this.#log = log;
    this.#root = root;
    this.#isMade = isMade;
  }

  /** Those in another folder, which is made when it is first needed. */
  in(root: string): TempFiles {
    return new TempFiles({ log: this.#log, root, isMade: true });
  }

  /**
   * Copies a file to the disk, under its own name.
   * @throws GatewayError `file_too_large`, `temp_full`, `temp_unavailable`, the error of reading the file, or the
   * signal's reason. Nothing is left behind then.
   */
  async write(file: FileSource, limit: TempFileLimit, signal: AbortSignal): Promise<TempFile> {
    if (file.size > limit.bytes) {
      throw new GatewayError('file_too_large', {
        path: limit.path,
        limit: limit.name,
        allowed: limit.bytes,
        actual: file.size,
      });
    }
    signal.throwIfAborted();
    const folder = await this.#makeFolder();
    try {
      const path = join(folder, cleanFileName(file.name));
      await copyTo(path, file, signal);
      return { path, uri: pathToFileURL(path).href, remove: () => this.#remove(folder) };
    } catch (error) {
      await this.#remove(folder);
      throw error;
    }
  }

  /**
   * Removes the folders of processes that no longer run. Never throws.
   * @returns the number of folders
   */
  async removeLeftOvers(): Promise<number> {
    const names = await readdir(this.#root).catch((error: NodeJS.ErrnoException) => {
      if (this.#isMade && error.code === 'ENOENT') return [];
      this.#log.warn({ err: error }, 'could not search for temporary files of an earlier process');
      return [];
    });
    let removed = 0;
    for (const name of names) {
      const folder = join(this.#root, name);
      if ((await isLeftOver(name, folder)) && (await this.#removeFolder(folder))) removed++;
    }
    return removed;
  }

  async #makeFolder(): Promise<string> {
    try {
      if (this.#isMade) await mkdir(this.#root, { recursive: true, mode: 0o700 });
      return keep(await mkdtemp(prefixIn(this.#root)));
    } catch (error) {
      throw toTempError(error);
    }
  }

  async #remove(folder: string): Promise<void> {
    if (living.has(folder) && (await this.#removeFolder(folder))) living.delete(folder);
    if (living.size === 0) process.off('exit', removeLiving);
  }

  async #removeFolder(folder: string): Promise<boolean> {
    try {
      await rm(folder, { recursive: true, force: true });
      return true;
    } catch (error) {
      this.#log.warn({ err: error }, 'could not remove a temporary file');
      return false;
    }
  }
}

async function copyTo(path: string, file: FileSource, signal: AbortSignal): Promise<void> {
  const handle = await open(path, 'wx', 0o600).catch(rethrow);
  try {
    for await (const chunk of wholeFile(file)) {
      signal.throwIfAborted();
      await writeAll(handle, chunk);
      // otherwise each 256 KiB are new memory, and a file of 1 GiB leaves 75 MiB of it for the collector at a time
      file.release?.(chunk);
    }
  } catch (error) {
    await handle.close().catch(() => undefined);
    throw error;
  }
  // a network file system may report only here that it is full
  await handle.close().catch(rethrow);
}

function rethrow(error: unknown): never {
  throw toTempError(error);
}

async function writeAll(handle: FileHandle, chunk: Buffer): Promise<void> {
  try {
    // A full disk accepts some of the bytes before it refuses the rest.
    for (let at = 0; at < chunk.length; ) at += (await handle.write(chunk, at)).bytesWritten;
  } catch (error) {
    throw toTempError(error);
  }
}

/** Turns a failed system call into an error of Wharf's. Its path stays in the cause, which only the operator sees. */
function toTempError(error: unknown): GatewayError {
  const code = codeOf(error);
  const exhausted = descriptorsExhausted(error);
  if (exhausted) return exhausted;
  return new GatewayError(code === 'ENOSPC' || code === 'EDQUOT' ? 'temp_full' : 'temp_unavailable', {}, error);
}

/** In a world-writable folder a name proves nothing: it must be a folder, and this user must own it. */
async function isLeftOver(name: string, folder: string): Promise<boolean> {
  const pid = NAME.exec(name)?.[1];
  if (pid === undefined || living.has(folder)) return false;
  if (Number(pid) !== process.pid && isRunning(Number(pid))) return false;
  const found = await lstat(folder).catch(() => undefined);
  return found?.isDirectory() === true && found.uid === process.getuid?.();
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs, as another user
    return codeOf(error) !== 'ESRCH';
  }
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
