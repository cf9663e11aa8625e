import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { TempFiles } from '../../../../gateway/files/encode/temp-files.js';
import { silentLog } from '../../../helpers/silent-log.js';
import { F4, fileOf } from './lab.js';

const NEVER = new AbortController().signal;
const LIMIT = { name: 'limits.file', bytes: 1000, path: 'image' };

const made: string[] = [];
async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'wharf-temp-files-'));
  made.push(folder);
  return folder;
}
afterAll(async () => {
  for (const folder of made) await rm(folder, { recursive: true, force: true });
});

let root: string;
let files: TempFiles;
beforeEach(async () => {
  root = await freshFolder();
  files = new TempFiles({ log: silentLog, root });
});

describe('a file on the local disk', () => {
  it('9.3.3: has the bytes and the name, and a path and URI to find it by', async () => {
    const name = 'Report (v2) 文档 100%.pdf';
    const { path, uri } = await files.write(fileOf(F4, { name }), LIMIT, NEVER);
    expect(await readFile(path)).toEqual(F4);
    expect(basename(path)).toBe(name);
    expect(fileURLToPath(uri)).toBe(path);
    expect(uri).toMatch(/^file:\/\/\/[!-~]+$/);
  });

  it('is in a folder of its own choice, which is made for it alone', async () => {
    const apart = join(root, 'state', 'wharf');
    const others = files.in(apart);
    expect(await others.removeLeftOvers()).toBe(0);
    const { path, remove } = await others.write(fileOf(F4), LIMIT, NEVER);
    expect(dirname(dirname(path))).toBe(apart);
    expect((await stat(apart)).mode & 0o777).toBe(0o700);
    await remove();
    expect(await readdir(apart)).toEqual([]);
  });

  it('can be read by no other user', async () => {
    const { path } = await files.write(fileOf(F4), LIMIT, NEVER);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(dirname(path))).mode & 0o777).toBe(0o700);
  });

  it.each([
    ['../../etc/passwd', 'passwd'],
    ['/etc/cron.d/x', 'x'],
    ['..', 'file'],
    ['', 'file'],
    ['-rf', 'rf'],
    ['a\0b\n.txt', 'ab.txt'],
    [`${'x'.repeat(5000)}.pdf`, `${'x'.repeat(196)}.pdf`],
  ])('stays in its folder whatever its name is: %j (2356-56)', async (name, expected) => {
    const { path } = await files.write(fileOf(F4, { name }), LIMIT, NEVER);
    expect(basename(path)).toBe(expected);
    expect(dirname(dirname(path))).toBe(root);
  });

  it('does not meet another one of the same name', async () => {
    const [one, two] = await Promise.all([
      files.write(fileOf(F4), LIMIT, NEVER),
      files.write(fileOf(Buffer.from('two')), LIMIT, NEVER),
    ]);
    await one.remove();
    expect(await readFile(two.path, 'utf8')).toBe('two');
  });

  it('is gone after remove, with its folder and what else was put there', async () => {
    const { path, remove } = await files.write(fileOf(F4), LIMIT, NEVER);
    await writeFile(join(dirname(path), 'more'), 'by the server');
    await Promise.all([remove(), remove()]);
    await remove();
    expect(await readdir(root)).toEqual([]);
  });

  it('gives the memory of each chunk back once it is written, so that a store can read into it again', async () => {
    const back: Buffer[] = [];
    // a store with one piece of memory, which it fills anew only when it has it back
    const memory = Buffer.alloc(100);
    async function* read() {
      for (let round = 0; round < 5; round += 1) {
        expect(back.length).toBe(round);
        yield memory.fill(round);
      }
    }
    const file = { ...fileOf(Buffer.alloc(500)), read, release: (chunk: Buffer) => back.push(chunk) };
    const { path } = await files.write(file, LIMIT, NEVER);
    expect([...new Set(await readFile(path))]).toEqual([0, 1, 2, 3, 4]);
    expect(back.every((chunk) => chunk.buffer === memory.buffer && chunk.length === 100)).toBe(true);
  });

  it('may be empty', async () => {
    const { path } = await files.write(fileOf(Buffer.alloc(0)), LIMIT, NEVER);
    expect((await stat(path)).size).toBe(0);
  });
});

describe('a file that cannot be written leaves nothing behind', () => {
  it('larger than its limit', async () => {
    await files.write(fileOf(Buffer.alloc(1000)), LIMIT, NEVER).then(({ remove }) => remove());
    await expect(files.write(fileOf(Buffer.alloc(1001)), LIMIT, NEVER)).rejects.toMatchObject({
      code: 'file_too_large',
      facts: { path: 'image', limit: 'limits.file', allowed: 1000, actual: 1001 },
    });
    expect(await readdir(root)).toEqual([]);
  });

  it('longer or shorter than its record says', async () => {
    for (const size of [5, 7])
      await expect(files.write(fileOf(F4, { size }), LIMIT, NEVER)).rejects.toMatchObject({ code: 'file_gone' });
    expect(await readdir(root)).toEqual([]);
  });

  it('when the store fails half-way', async () => {
    const failure = new Error('store');
    const file = fileOf(F4, {
      async *read() {
        yield F4.subarray(0, 3);
        throw failure;
      },
    });
    await expect(files.write(file, LIMIT, NEVER)).rejects.toBe(failure);
    expect(await readdir(root)).toEqual([]);
  });

  it('when the call is given up half-way, and the store is let go', async () => {
    const call = new AbortController();
    const reason = new Error('given up');
    let isClosed = false;
    const file = fileOf(F4, {
      async *read() {
        try {
          yield F4.subarray(0, 3);
          call.abort(reason);
          yield F4.subarray(3);
        } finally {
          isClosed = true;
        }
      },
    });
    await expect(files.write(file, LIMIT, call.signal)).rejects.toBe(reason);
    await expect(files.write(file, LIMIT, call.signal)).rejects.toBe(reason);
    expect(isClosed).toBe(true);
    expect(await readdir(root)).toEqual([]);
  });

  it('without a folder to write to, and does not tell where that is', async () => {
    await rm(root, { recursive: true });
    const error = await files.write(fileOf(F4), LIMIT, NEVER).catch((thrown: unknown) => thrown as Error);
    expect(error).toMatchObject({ code: 'temp_unavailable', httpStatus: 503 });
    expect(JSON.stringify(error)).not.toContain(root);
    expect((error as Error).message).not.toContain(root);
  });
});

describe('what a crashed process left', () => {
  /** The name that this process gives its folders, with another process id in it. */
  async function nameFor(pid: number): Promise<string> {
    const { path, remove } = await files.write(fileOf(F4), LIMIT, NEVER);
    await remove();
    return basename(dirname(path)).replace(`-${process.pid}-`, `-${pid}-`);
  }

  async function leave(name: string): Promise<void> {
    await mkdir(join(root, name));
    await writeFile(join(root, name, 'x.bin'), F4);
  }

  /** The id of a process that has ended. */
  async function endedPid(): Promise<number> {
    const child = spawn('true');
    await once(child, 'exit');
    return child.pid as number;
  }

  it('is none where the process ended by itself, even in the middle of a call', async () => {
    const module = new URL('../../../../gateway/files/encode/temp-files.js', import.meta.url).href;
    const script = `
      import { TempFiles } from ${JSON.stringify(module)};
      const files = new TempFiles({ log: console, root: process.argv[1] });
      const file = { name: 'a', size: 1, mimeType: 'a/b', async *read() { yield Buffer.from('x'); } };
      const { path } = await files.write(file, { name: 'limits.file', bytes: 9, path: 'a' }, new AbortController().signal);
      console.log(path);
      process.exit(1);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, root]);
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    expect(await once(child, 'close')).toEqual([1, null]);
    expect(out.startsWith(root)).toBe(true);
    expect(await readdir(root)).toEqual([]);
  });

  it('is removed at start', async () => {
    await leave(await nameFor(await endedPid()));
    expect(await files.removeLeftOvers()).toBe(1);
    expect(await readdir(root)).toEqual([]);
  });

  it('is removed also when this process has its id, and what this process has made stays', async () => {
    await leave(await nameFor(process.pid));
    const { path } = await files.write(fileOf(F4), LIMIT, NEVER);
    expect(await files.removeLeftOvers()).toBe(1);
    expect(await readFile(path)).toEqual(F4);
  });

  it('stays while its process runs', async () => {
    await leave(await nameFor(process.ppid));
    await leave(await nameFor(1));
    expect(await files.removeLeftOvers()).toBe(0);
    expect(await readdir(root)).toHaveLength(2);
  });

  it('is told apart from what others keep there', async () => {
    const pid = await endedPid();
    const own = await nameFor(pid);
    const other = own.replace(/^wharf-[0-9a-f]{8}/, 'wharf-00000000');
    await leave(other);
    await leave(`wharf-${pid}`);
    await leave('data');
    await writeFile(join(root, own), 'not a folder');
    const target = await freshFolder();
    await writeFile(join(target, 'keep'), '');
    await symlink(target, join(root, own.replace(/.{6}$/, 'aaaaaa')));
    expect(await files.removeLeftOvers()).toBe(0);
    expect(await readdir(root)).toHaveLength(5);
    expect(await readdir(target)).toEqual(['keep']);
  });

  it('does not stop a start where the folder cannot be read', async () => {
    await rm(root, { recursive: true });
    expect(await files.removeLeftOvers()).toBe(0);
  });
});
