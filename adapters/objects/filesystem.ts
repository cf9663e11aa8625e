import { randomUUID } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { access, constants, mkdir, open, opendir, rename, rm, stat, statfs, unlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { madePath } from '../../gateway/config/schema/fields.js';
import { AdvisedError } from '../../gateway/errors/system.js';
import { GatewayError } from '../../gateway/errors.js';
import type { ObjectRead, ObjectStore, ObjectStoreDeps } from '../../gateway/ports/object-store.js';
import { smallestKeys } from './common/smallest-keys.js';
import { claimFolder } from './filesystem/claim.js';
import { inTime } from './filesystem/in-time.js';
import { asStat, openBody } from './filesystem/reader.js';
import { filesystemResumable } from './filesystem/resumable.js';
import { filesToRemoveAtExit } from './filesystem/unfinished.js';
import { readWhole } from './filesystem/whole.js';
import { errnoOf, FilesystemWriter, toStoreError } from './filesystem/writer.js';

/** One machine's disk. Replicas need a store that all of them reach: S3. */
export const settings = z
  .strictObject({
    path: madePath()
      .optional()
      .describe(
        'Folder for the files, created if missing (mode 0700). Relative to the working directory. Default: a ' +
          'folder for this gateway below $XDG_STATE_HOME/wharf or ~/.local/state/wharf (Library/Application Support ' +
          'on macOS, %LOCALAPPDATA% on Windows). Wharf refuses a folder that a stdio server has access to as cwd or ' +
          'through an argument.',
      ),
  })
  .meta({ examples: [{ path: '/var/lib/wharf' }] });

/**
 * The disk takes any size. 1 MiB costs no more CPU than 5 MiB and allows five times as many files at once within
 * `limits.partMemory`.
 */
const PART_SIZE = 1024 * 1024;

/** Without dots, so without `..`; without empty segments, so never absolute. Any other key was not made by Wharf. */
const KEY = /^(?=.{1,200}$)[\w-]+(\/[\w-]+)*$/;

/**
 * Objects as files: `<path>/objects/<key>`, written in `<path>/tmp/` and moved into place once complete and on disk.
 */
export function create(
  config: z.output<typeof settings>,
  { timeouts }: Pick<ObjectStoreDeps, 'timeouts'>,
): ObjectStore {
  if (config.path === undefined) throw new Error('no folder has been chosen for the files');
  const root = resolve(config.path);
  const objects = join(root, 'objects');
  const tmp = join(root, 'tmp');
  let release: (() => Promise<void>) | undefined;

  const pathOf = (key: string): string => {
    if (!KEY.test(key))
      throw new GatewayError('internal', {}, new Error('An object key has a character it may not have.'));
    return join(objects, key);
  };

  /** True when an object is not there. Below a folder that is gone itself, as of a disk not mounted, nothing is known. */
  const isMissing = async (error: unknown): Promise<boolean> => isAbsence(error) && (await isThere(objects));

  const statAt = async (path: string): Promise<BigIntStats | undefined> => {
    try {
      const found = await stat(path, { bigint: true });
      return found.isFile() ? found : undefined;
    } catch (error) {
      if (await isMissing(error)) return undefined;
      throw toStoreError(error);
    }
  };

  const store: ObjectStore = {
    name: 'filesystem',
    partSize: PART_SIZE,

    async create(key, signal) {
      signal.throwIfAborted();
      const target = pathOf(key);
      const temporary = join(tmp, randomUUID());
      try {
        const handle = await open(temporary, 'wx', 0o600);
        filesToRemoveAtExit.add(temporary);
        return new FilesystemWriter({ handle, temporary, target, root: objects }, signal);
      } catch (error) {
        throw toStoreError(error);
      }
    },

    resumable: filesystemResumable({ tmp, root: objects, pathOf, isMissing }),

    async get(key, { range, signal }): Promise<ObjectRead> {
      signal.throwIfAborted();
      try {
        return await openBody(key, pathOf(key), { range, signal });
      } catch (error) {
        signal.throwIfAborted();
        if (await isMissing(error)) return { kind: 'missing' };
        throw toStoreError(error);
      }
    },

    async getWhole(key, size, signal) {
      signal.throwIfAborted();
      try {
        const bytes = await readWhole(pathOf(key), size);
        signal.throwIfAborted();
        return bytes;
      } catch (error) {
        signal.throwIfAborted();
        if (await isMissing(error)) return undefined;
        throw toStoreError(error);
      }
    },

    async head(key) {
      const found = await statAt(pathOf(key));
      return found && asStat(key, found);
    },

    async remove(key) {
      const path = pathOf(key);
      try {
        await unlink(path);
      } catch (error) {
        if (!(await isMissing(error))) throw toStoreError(error);
      }
    },

    async *list(prefix, signal) {
      for await (const key of keysBelow(objects, '', prefix)) {
        signal?.throwIfAborted();
        const found = await statAt(join(objects, key));
        if (found !== undefined) yield asStat(key, found);
      }
    },

    keysAfter: (prefix, after, most) => smallestKeys(keysBelow(objects, '', prefix), after, most),

    async removeUnfinished(olderThan, signal) {
      let removed = 0;
      try {
        for await (const entry of await opendir(tmp)) {
          if (signal?.aborted) break;
          const path = join(tmp, entry.name);
          const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
          if (mtimeMs >= olderThan) continue;
          await rm(path, { force: true });
          removed += 1;
        }
      } catch (error) {
        throw toStoreError(error);
      }
      signal?.throwIfAborted();
      return removed;
    },

    async prepare() {
      try {
        for (const folder of [root, objects, tmp]) await makeFolder(folder);
        await access(tmp, constants.W_OK);
        await access(objects, constants.W_OK);
      } catch (cause) {
        throw new AdvisedError(
          `The folder for files, ${root}, cannot be made or written (${errnoOf(cause) ?? 'unknown error'}).`,
          'Create it for the user Wharf runs as, or set objects.path to another one; without a config, XDG_STATE_HOME names where it goes.',
          { cause },
        );
      }
      if (!(await isOneDevice(tmp, objects)))
        throw new AdvisedError(
          `The folders tmp and objects in ${root} are on different file systems, between which no file can be moved.`,
          'Mount the folder as a whole, or set objects.path to another one.',
        );
    },

    async check() {
      try {
        await access(tmp, constants.W_OK);
        await access(objects, constants.W_OK);
      } catch (error) {
        throw toStoreError(error);
      }
    },

    async checkRoom() {
      const { bavail, bsize, files, ffree } = await statfs(tmp).catch((error: unknown) => {
        throw toStoreError(error);
      });
      // a file system without a table of files says that it has none
      const isFull = bavail * bsize < PART_SIZE || (files > 0 && ffree === 0);
      if (isFull) throw new GatewayError('store_full', { reason: 'its disk is full: no file can be stored' });
    },

    async claim() {
      const claimed = await claimFolder(root);
      release = claimed.release;
      return claimed.holder === undefined ? undefined : { holder: claimed.holder, place: root };
    },

    async close() {
      await release?.();
    },
  };
  return inTime(store, timeouts.store);
}

/**
 * Makes a folder, and those above it that are missing. Node's `recursive` would try for ever where the system says each time
 * that the folder above is missing: /proc does, and so may a folder whose contents are mounted on demand.
 */
async function makeFolder(folder: string): Promise<void> {
  const make = () => mkdir(folder, { mode: 0o700 });
  try {
    await make().catch(async (error) => {
      if (errnoOf(error) !== 'ENOENT' || dirname(folder) === folder) throw error;
      await makeFolder(dirname(folder));
      await make();
    });
  } catch (error) {
    // another process may have made it meanwhile
    if (errnoOf(error) !== 'EEXIST' || !(await stat(folder)).isDirectory()) throw error;
  }
}

/** What a start tries to move. It always has the same name: what a killed start leaves, the next one removes. */
const TRIAL = 'trial';

/** A trial, because two mounts of one file system look alike. A disk that is full refuses it for another reason. */
async function isOneDevice(from: string, to: string): Promise<boolean> {
  const paths = [from, to].map((folder) => join(folder, TRIAL)) as [string, string];
  try {
    await writeFile(paths[0], '', { mode: 0o600 });
    await rename(...paths);
    return true;
  } catch (error) {
    return errnoOf(error) !== 'EXDEV';
  } finally {
    for (const path of paths) await rm(path, { force: true }).catch(() => undefined);
  }
}

/** ENOTDIR: a prefix of the key is itself an object. EISDIR: the key is a prefix of others. */
function isAbsence(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'EISDIR'].includes(errnoOf(error) ?? '');
}

async function isThere(folder: string): Promise<boolean> {
  return access(folder).then(
    () => true,
    () => false,
  );
}

/** Keys below `folder`, walking only into folders that can hold `prefix`. Folders nest at most as deep as a key. */
async function* keysBelow(folder: string, path: string, prefix: string): AsyncGenerator<string> {
  try {
    for await (const entry of await opendir(folder)) {
      const key = path + entry.name;
      if (entry.isDirectory() && (`${key}/`.startsWith(prefix) || prefix.startsWith(`${key}/`))) {
        yield* keysBelow(join(folder, entry.name), `${key}/`, prefix);
      } else if (entry.isFile() && key.startsWith(prefix)) yield key;
    }
  } catch (error) {
    throw toStoreError(error);
  }
}
