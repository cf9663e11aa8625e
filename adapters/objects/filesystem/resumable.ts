import { randomBytes } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { FinishedWrite, ResumableWriter, ResumableWrites } from '../../../gateway/ports/object-store.js';
import { FilesystemWriter, syncFolder, toStoreError } from './writer.js';

interface Folders {
  /** Where files are while they are written. */
  tmp: string;
  /** Of the folder for objects. */
  root: string;
  pathOf: (key: string) => string;
  /** True for an error that says of a file that it is not there, and not of all of them. */
  isMissing: (error: unknown) => Promise<boolean>;
}

/** A file in `tmp/`, and as many of its bytes as are certainly on disk. What a crash left behind them is cut off. */
interface Place {
  name: string;
  size: number;
}

const NAME = /^[0-9a-f]{32}$/;

/** Writes that go on where the synced part of a file in `tmp/` ends: a disk takes any size, so nothing is kept beside it. */
export function filesystemResumable({ tmp, root, pathOf, isMissing }: Folders): ResumableWrites {
  const writerOf = (key: string, handle: FileHandle, { name, size }: Place, signal: AbortSignal) => {
    const paths = { temporary: join(tmp, name), target: pathOf(key), root };
    const writer = new FilesystemWriter({ ...paths, handle, from: size }, signal);
    return new FilesystemResumableWriter(writer, handle, name, tmp);
  };

  return {
    async begin(key, signal) {
      signal.throwIfAborted();
      const name = randomBytes(16).toString('hex');
      try {
        return writerOf(key, await open(join(tmp, name), 'wx', 0o600), { name, size: 0 }, signal);
      } catch (error) {
        throw toStoreError(error);
      }
    },

    async resume(key, text, signal) {
      signal.throwIfAborted();
      const place = readPlace(text);
      let handle: FileHandle;
      try {
        handle = await open(join(tmp, place.name), 'r+');
      } catch (error) {
        if (await isMissing(error)) return undefined;
        throw toStoreError(error);
      }
      try {
        if ((await handle.stat()).size < place.size) {
          await handle.close();
          return undefined;
        }
        await handle.truncate(place.size);
        return { writer: writerOf(key, handle, place, signal), rest: nothing(), restSize: 0 };
      } catch (error) {
        await handle.close();
        throw toStoreError(error);
      }
    },

    async discard(_key, text) {
      try {
        await unlink(join(tmp, readPlace(text).name));
      } catch (error) {
        if (!(await isMissing(error))) throw toStoreError(error);
      }
    },
  };
}

class FilesystemResumableWriter implements ResumableWriter {
  readonly #writer: FilesystemWriter;
  readonly #handle: FileHandle;
  readonly #name: string;
  readonly #tmp: string;
  #isNamed = false;

  constructor(writer: FilesystemWriter, handle: FileHandle, name: string, tmp: string) {
    this.#writer = writer;
    this.#handle = handle;
    this.#name = name;
    this.#tmp = tmp;
  }

  write(part: Buffer): Promise<void> {
    return this.#writer.write(part);
  }

  async save(rest: Buffer): Promise<string> {
    await this.#writer.write(rest);
    try {
      await this.#handle.datasync();
      if (!this.#isNamed) await syncFolder(this.#tmp);
      this.#isNamed = true;
    } catch (error) {
      throw toStoreError(error);
    }
    return JSON.stringify({ name: this.#name, size: this.#writer.position } satisfies Place);
  }

  async finish(last: Buffer): Promise<FinishedWrite> {
    await this.#writer.write(last);
    return { isCertain: true, mark: await this.#writer.commit() };
  }

  async close(): Promise<void> {
    // closing twice is harmless: the handle remembers that it is closed
    await this.#handle.close().catch(() => undefined);
  }

  abort(): Promise<void> {
    return this.#writer.abort();
  }
}

function readPlace(text: string): Place {
  const place = JSON.parse(text) as Place;
  if (!NAME.test(place.name)) throw toStoreError(new Error('A place that this store has not made.'));
  return place;
}

async function* nothing(): AsyncGenerator<Buffer> {}
