import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { LogWriter } from '../../gateway/log-writer.js';
import { mountSmallDisk } from '../helpers/fault-disk.js';
import { until } from '../helpers/wait.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-log-writer-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** A writer to a file, with what it tells; every write to one that is opened for reading fails. */
function open(path: string, most = 1_000_000, flags = 'a') {
  const descriptor = openSync(path, flags);
  const told: { lost: string[]; written: number } = { lost: [], written: 0 };
  const writer = new LogWriter(descriptor, {
    most,
    lost: (text) => told.lost.push(text),
    written: () => {
      told.written += 1;
    },
  });
  return { writer, told, close: () => closeSync(descriptor) };
}

describe('the writer of the log', () => {
  it('writes texts whole and in their order', async () => {
    const path = join(folder, 'order');
    const { writer, told, close } = open(path);
    const texts = Array.from({ length: 500 }, (_, at) => `${at} ${'ü'.repeat(500)}\n`);
    for (const text of texts.slice(0, 250)) writer.write(text);
    // the first alone, then those that waited for it
    await until(() => told.written === 2);
    for (const text of texts.slice(250)) writer.write(text);
    await until(() => told.written === 4);
    writer.end();
    close();
    expect((await readFile(path, 'utf8')) === texts.join('')).toBe(true);
    expect(told.lost).toEqual([]);
  });

  it('loses what is more than may wait, and says so', async () => {
    const path = join(folder, 'most');
    const { writer, told, close } = open(path, 10);
    writer.write('12345\n');
    writer.write('üüü\n');
    await until(() => told.written === 1);
    writer.write('7\n');
    await until(() => told.written === 2);
    close();
    expect(told.lost).toEqual(['üüü\n']);
    expect(await readFile(path, 'utf8')).toBe('12345\n7\n');
  });

  it('loses what cannot be written, tries the next text, and ends', async () => {
    const path = join(folder, 'unwritable');
    await writeFile(path, '');
    const { writer, told, close } = open(path, 1_000_000, 'r');
    const lost = ['one\n', 'two\n'];
    for (const [at, text] of lost.entries()) {
      writer.write(text);
      await until(() => told.lost.length === at + 1);
    }
    writer.write('three\n');
    writer.write('four\n');
    const wait = jest.spyOn(Atomics, 'wait');
    writer.end();
    expect(wait).not.toHaveBeenCalled();
    wait.mockRestore();
    await until(() => told.lost.length === 3);
    close();
    expect(told).toEqual({ lost: [...lost, 'three\n'], written: 0 });
  });

  it('begins a line anew behind one of which a full disk has taken a part', async () => {
    const disk = await mountSmallDisk(64 * 1024);
    const path = join(disk.path, 'log');
    const filler = join(disk.path, 'filler');
    const { writer, told, close } = open(path);
    try {
      writer.write('the first\n');
      await until(() => told.written === 1);
      await writeFile(filler, Buffer.alloc(1 << 20)).catch(() => {});
      // more than what is left of the page that the file has begun
      writer.write(`${'x'.repeat(5000)}\n`);
      await until(() => told.lost.length === 1);
      writer.write('lost\n');
      await until(() => told.lost.length === 2);
      await rm(filler);
      writer.write('the next\n');
      await until(() => told.written === 2);
      const lines = (await readFile(path, 'utf8')).split('\n');
      expect(lines).toEqual(['the first', expect.stringMatching(/^x+$/), 'the next', '']);
      expect(told.lost[1]).toBe('lost\n');
    } finally {
      close();
      await disk.unmount();
    }
  });
});
