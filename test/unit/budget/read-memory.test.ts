import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

// Compiled, this file is dist/test/unit/budget/read-memory.test.js.
const MODULE = fileURLToPath(new URL('../../../gateway/budget/read-memory.js', import.meta.url));
const MIB = 1024 * 1024;

/** 512 MiB in buffers of 64 KiB, as node reads a body from a socket. @param kept how many are in use at one time */
const program = (kept: number) => `
  import { countRead, freeWhatWasRead } from ${JSON.stringify(MODULE)};
  freeWhatWasRead();
  let most = 0;
  const inUse = [];
  for (let read = 0; read < 8192; read += 1) {
    inUse[read % ${kept}] = Buffer.allocUnsafeSlow(65_536);
    countRead(65_536);
    most = Math.max(most, process.memoryUsage().arrayBuffers);
    await new Promise(setImmediate);
  }
  console.log(most);
`;

async function most(kept: number): Promise<number> {
  const run = ['--input-type=module', '--eval', program(kept)];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, run);
  expect(stderr).toBe('');
  return Number(stdout);
}

it('frees what was read and dropped long before V8 would', async () => {
  // V8 alone lets it grow by 64 MiB
  expect(await most(1)).toBeLessThan(32 * MIB);
});

it('frees what was in use for a long time, too, before V8 would', async () => {
  const kept = 320;
  const inUse = (kept * 64 * 1024) / MIB;
  // V8 alone: 64 MiB and what was read since its last look
  expect(await most(kept)).toBeLessThan((inUse + 48) * MIB);
});
