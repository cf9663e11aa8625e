import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type ChainEnd, newChain, readLine } from '../../gateway/audit/chain.js';
import { nameAside, namesAside } from '../../gateway/audit/file-names.js';
import { type Sink, UnwritableError } from '../../gateway/audit/journal.js';
import type { AuditPlace, AuditText } from '../../gateway/ports/audit.js';
import type { Clock } from '../../gateway/ports/clock.js';
import type { Log } from '../../gateway/ports/log.js';
import { isThere, linesBackwards } from './file-backwards.js';
import { firstLine, lastLine } from './file-lines.js';
import { type FileLock, lockFile } from './file-lock.js';

const SYNC_EVERY_MS = 1000;

const NEW_FILE = constants.O_CREAT | constants.O_EXCL | constants.O_RDWR | constants.O_APPEND;
const OLD_FILE = constants.O_RDWR | constants.O_APPEND;

interface ChainFileOptions {
  path: string;
  maxSize: number;
  maxAge: number;
  keep: number;
  /** Lines are on the disk before they count as written. */
  isSynced: boolean;
  clock: Clock;
  log: Log;
}

/** The open file. */
interface Current {
  file: FileHandle;
  ino: number;
  /** As far as this process has written it: anything else in it was written by others. */
  size: number;
  /** Of its first line; of the next one while it is empty. */
  first: { seq: number; time: number };
}

interface Opened {
  current: Current;
  end: ChainEnd;
}

/** A file of lines that goes on where an earlier process has ended, and is put aside when it is full. */
export class ChainFile implements Sink {
  readonly #options: ChainFileOptions;
  readonly #lock: FileLock;
  #current: Current;
  #end: ChainEnd;
  readonly #timer: NodeJS.Timeout | undefined;
  #isDirty = false;
  #syncing: Promise<void> | undefined;
  /** Of the last attempt to force lines to the disk. */
  #failure: unknown;
  #isTorn = false;

  private constructor(options: ChainFileOptions, lock: FileLock, { current, end }: Opened) {
    this.#options = options;
    this.#lock = lock;
    this.#current = current;
    this.#end = end;
    if (!options.isSynced) this.#timer = setInterval(() => this.#syncSoon(), SYNC_EVERY_MS).unref();
  }

  /** @throws an error of the system, or one that says why the file is not a chain that can go on */
  static async open(written: ChainFileOptions): Promise<ChainFile> {
    const options = { ...written, path: resolve(written.path) };
    const { path } = options;
    await makeFolder(dirname(path));
    // before anything is read: a line that another process is writing looks like one that broke off
    const lock = await lockFile(path);
    if (!lock) throw new Error(`audit.path, ${written.path}, is written by another process: name another file.`);
    try {
      return new ChainFile(options, lock, await goOnIn(options));
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  get end(): ChainEnd {
    return this.#end;
  }

  async append(lines: Buffer): Promise<void> {
    if (this.#isTorn) await this.#cutBack();
    await this.#checkPlace();
    if (this.#failure !== undefined) await this.#sync();
    if (this.#isFull(lines.length)) await this.#putAside();
    const { file, size } = this.#current;
    try {
      await writeWhole(file, lines);
      this.#current.size = size + lines.length;
      this.#isDirty = true;
      if (this.#options.isSynced) await this.#sync();
    } catch (error) {
      // half a line would end the chain
      this.#current.size = size;
      this.#isTorn = true;
      await this.#cutBack();
      throw error;
    }
    this.#end = readLine(lastOf(lines)) ?? this.#end;
  }

  async *newest(before?: AuditPlace): AsyncGenerator<AuditText> {
    const { path } = this.#options;
    const folder = dirname(path);
    const aside = namesAside(path, await namesIn(folder)).reverse();
    let isFound = before === undefined;
    for (const one of [path, ...aside.map((name) => join(folder, name))]) {
      if (isFound) yield* linesBackwards(one);
      else if (before && (await isThere(one, before))) {
        isFound = true;
        yield* linesBackwards(one, before.at);
      }
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#syncing;
    try {
      if (this.#isDirty) await this.#sync();
    } finally {
      await this.#current.file.close();
      await this.#lock.release();
    }
  }

  /** Removes what a failed write has left. If that fails too, the next entry tries it again. */
  async #cutBack(): Promise<void> {
    const { file, size } = this.#current;
    await file.truncate(size);
    this.#isTorn = false;
  }

  /** Whether the file is where it was, with what this process has written: a removed file takes every line in silence. */
  async #checkPlace(): Promise<void> {
    const { ino, size } = this.#current;
    const found = await stat(this.#options.path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') throw new UnwritableError('its file is gone', { cause: error });
      throw error;
    });
    if (found.ino !== ino) throw new UnwritableError('its file has been replaced');
    if (found.size !== size) throw new UnwritableError('its file was changed by another program');
  }

  #isFull(more: number): boolean {
    const { size, first } = this.#current;
    if (size === 0) return false;
    const { maxSize, maxAge, clock } = this.#options;
    // a first line that the clock, set right since, has not reached yet would put its file off for as long
    return size + more > maxSize || Math.abs(clock.now() - first.time) >= maxAge;
  }

  async #putAside(): Promise<void> {
    const { path, clock, log, keep } = this.#options;
    const { file, first } = this.#current;
    await this.#sync();
    const name = nameAside(path, { time: clock.now(), seq: first.seq });
    const aside = join(dirname(path), name);
    await rename(path, aside);
    const next = await open(path, NEW_FILE, 0o600).catch(async (error: unknown) => {
      await rename(aside, path);
      throw error;
    });
    const { chain, seq, hash } = this.#end;
    log.info({ name, chain, seq, hash }, 'The audit log is full and was put aside; it goes on in a new file.');
    const { ino } = await next.stat();
    this.#current = { file: next, ino, size: 0, first: { seq: seq + 1, time: clock.now() } };
    await file.close();
    const names = namesAside(path, await readdir(dirname(path)));
    for (const old of names.slice(0, Math.max(0, names.length - keep))) {
      await rm(join(dirname(path), old), { force: true });
      log.info({ name: old }, 'An old audit log was removed.');
    }
  }

  async #sync(): Promise<void> {
    await this.#syncing;
    this.#isDirty = false;
    try {
      await this.#current.file.datasync();
      this.#failure = undefined;
    } catch (error) {
      this.#isDirty = true;
      this.#failure = error;
      throw error;
    }
  }

  /** The next entry reports a failure, or the end of the log. */
  #syncSoon(): void {
    if (!this.#isDirty || this.#syncing) return;
    this.#syncing = this.#current.file.datasync().then(
      () => {},
      (error: unknown) => {
        this.#isDirty = true;
        this.#failure = error;
      },
    );
    this.#isDirty = false;
    void this.#syncing.finally(() => {
      this.#syncing = undefined;
    });
  }
}

async function goOnIn({ path, log, clock }: ChainFileOptions): Promise<Opened> {
  const file = await openOrCreate(path);
  try {
    const last = await lastLine(file);
    if (last.torn > 0) {
      // the line was never acknowledged
      await file.truncate(last.end);
      log.warn({ bytes: last.torn }, 'The audit log ended within a line, which has been removed.');
    }
    const before = last.text === undefined ? await endAside(path) : endIn(last.text, path);
    const end = before ?? newChain();
    const { ino } = await file.stat();
    const begin = readLine((await firstLine(file)) ?? '');
    const first = begin ? { seq: begin.seq, time: Date.parse(begin.time) } : { seq: end.seq + 1, time: clock.now() };
    log.info({ chain: end.chain, seq: end.seq, hash: end.hash }, 'The audit log goes on here.');
    return { current: { file, ino, size: last.end, first }, end };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function openOrCreate(path: string): Promise<FileHandle> {
  try {
    return await open(path, NEW_FILE, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return open(path, OLD_FILE);
  }
}

/** The end of the newest file that was put aside, if there is any: a process may end between two files. */
async function endAside(path: string): Promise<ChainEnd | undefined> {
  const newest = namesAside(path, await readdir(dirname(path))).at(-1);
  if (newest === undefined) return undefined;
  const file = await open(join(dirname(path), newest), 'r');
  try {
    const { text } = await lastLine(file);
    return text === undefined ? undefined : endIn(text, newest);
  } finally {
    await file.close();
  }
}

function endIn(line: string, path: string): ChainEnd {
  const link = readLine(line);
  if (link) return { chain: link.chain, seq: link.seq, hash: link.hash };
  throw new Error(
    `the last line of the audit log ${path} is not as Wharf wrote it: look at it with "wharf audit verify ${path}", ` +
      'and move the file elsewhere to begin a new one',
  );
}

/** None in a folder that is not there. */
async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}

/** A write may take only a part. */
async function writeWhole(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, at);
    at += bytesWritten;
  }
}

function lastOf(lines: Buffer): string {
  return lines.toString('utf8', lines.lastIndexOf(10, lines.length - 2) + 1, lines.length - 1);
}

/**
 * Makes a folder, and those above it that are missing. Node's `recursive` tries for ever where the system says of each try that the
 * folder above is missing, as /proc does, and a disk that is mounted on demand and is away.
 */
async function makeFolder(folder: string): Promise<void> {
  const exists = (path: string) =>
    stat(path).then(
      () => true,
      () => false,
    );
  const missing: string[] = [];
  for (let at = folder; dirname(at) !== at && !(await exists(at)); at = dirname(at)) missing.unshift(at);
  for (const each of missing)
    await mkdir(each, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      // another process may have made it meanwhile
      if (error.code !== 'EEXIST') throw error;
    });
}
