import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { type FileHandle, lstat, mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { GatewayError } from '../errors.js';
import { descriptorsExhausted } from '../errors-of-system.js';
import type { Log } from '../ports/log.js';
import type { FileSource } from './encode/index.js';
import { wholeFile } from './encode/whole-file.js';
import { cleanFileName } from './names/file-name.js';

export interface TempFilesDeps {
  log: Log;
  /** Folder for the private folders; the system's by default. */
  root?: string;
}

/** A copy of a file on the local disk, for a server that takes paths. */
export interface TempFile {
  path: string;
  /** `file:///tmp/…` */
  uri: string;
  /** Removes it and its folder. Never throws; the second time does nothing. */
  remove(): Promise<void>;
}

/** The size limit of a file, its config name, and where the file goes, for the error. */
export interface TempFileLimit {
  name: string;
  bytes: number;
  path: string;
}

/** Processes of another machine or container may share the folder, and their ids mean nothing here. */
const HOST = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
const NAME = new RegExp(`^wharf-${HOST}-(\\d{1,10})-[A-Za-z0-9]{6}$`);

/** Folders that this process has made and not removed: after a restart in a container its id is often the same. */
const living = new Set<string>();

/** A process that is told to end at once answers no call any more. */
function removeLiving(): void {
  for (const folder of living) rmSync(folder, { recursive: true, force: true });
}

function keep(folder: string): string {
  if (living.size === 0) process.once('exit', removeLiving);
  living.add(folder);
  return folder;
}

/** Makes a folder that nobody else can enter. It goes with the process, or, when that is killed, at the next start. */
export function makePrivateFolder(root?: string): string {
  if (root !== undefined) mkdirSync(root, { recursive: true, mode: 0o700 });
  // mkdtemp gives mode 0700 and never a name that is taken, not even by a link
  return keep(mkdtempSync(prefixIn(root ?? tmpdir())));
}

function prefixIn(root: string): string {
  return join(root, `wharf-${HOST}-${process.pid}-`);
}

/** Stored files as files on the local disk, each in a folder of its own that nobody else can enter. */
export class TempFiles {
  readonly #log: Log;
  readonly #root: string;

  constructor({ log, root = tmpdir() }: TempFilesDeps) {
    this.#log = log;
    this.#root = root;
  }

  /**
   * Copies a file to the disk, under its own name.
   * @throws GatewayError `file_too_large`, `temp_full`, `temp_unavailable`, what reading the file throws, or the
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
   * Removes what processes that no longer run have left. Never throws.
   * @returns how many folders
   */
  async removeLeftOvers(): Promise<number> {
    const names = await readdir(this.#root).catch((error: unknown) => {
      this.#log.warn({ err: error }, 'could not look for temporary files of an earlier process');
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
    }
  } catch (error) {
    await handle.close().catch(() => undefined);
    throw error;
  }
  // a network file system may only tell here that it is full
  await handle.close().catch(rethrow);
}

function rethrow(error: unknown): never {
  throw toTempError(error);
}

async function writeAll(handle: FileHandle, chunk: Buffer): Promise<void> {
  try {
    // A disk that fills up takes some of the bytes first and only refuses the rest.
    for (let at = 0; at < chunk.length; ) at += (await handle.write(chunk, at)).bytesWritten;
  } catch (error) {
    throw toTempError(error);
  }
}

/** A failed system call as an error of Wharf's. The path in it stays in the cause, which only the operator sees. */
function toTempError(error: unknown): GatewayError {
  const code = codeOf(error);
  const exhausted = descriptorsExhausted(error);
  if (exhausted) return exhausted;
  return new GatewayError(code === 'ENOSPC' || code === 'EDQUOT' ? 'temp_full' : 'temp_unavailable', {}, error);
}

/** In a folder that everybody can write to, a name proves nothing: the owner must be this user, the thing a folder. */
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
