import { execFileSync } from 'node:child_process';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readConfigFile } from '../../../gateway/config/read-file.js';

const MINUTE = 60_000;

describe('a config that is a pipe', () => {
  let folder: string;
  let pipe: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'wharf-pipe-'));
    pipe = join(folder, 'wharf.yaml');
    execFileSync('mkfifo', [pipe]);
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('is read to its end, however late and in how many parts it comes', async () => {
    const read = readConfigFile(pipe, MINUTE);
    const writer = await open(pipe, 'w');
    for (const part of ['servers:', ' { docs:', ' {} }']) {
      await writer.write(part);
      // longer than between two looks
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await writer.close();
    expect(await read).toEqual({ ok: true, value: { servers: { docs: {} } } });
  });

  it.each([
    ['has no writer', async () => undefined],
    ['has a writer that says nothing', () => open(pipe, 'r+')],
  ])('is refused when it %s, and holds nothing up', async (_what, write) => {
    const writer = await write();
    try {
      const problems = [{ path: pipe, message: 'is a pipe that gives nothing for 0.04 s' }];
      expect(await readConfigFile(pipe, 40)).toEqual({ ok: false, problems });
    } finally {
      await writer?.close();
    }
  });

  it('is refused when it gives more than a config may have', async () => {
    const read = readConfigFile(pipe, MINUTE);
    const writer = await open(pipe, 'w');
    // its reader leaves once it has seen too much
    const written = writer.writeFile(Buffer.alloc(2_000_000, '#')).catch(() => undefined);
    const problems = [{ path: pipe, message: 'has more than the 1048576 bytes allowed' }];
    expect(await read).toEqual({ ok: false, problems });
    await written;
    await writer.close();
  });
});
