import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

// Compiled, this file is dist/test/unit/budget/memory/read-memory.test.js.
const MODULE = fileURLToPath(new URL('../../../../gateway/budget/memory/read-memory.js', import.meta.url));
const MIB = 1024 * 1024;

/** 512 MiB in buffers of 64 KiB, each dropped at once, as node reads a body from a socket. */
const PROGRAM = `
  import { countRead, freeWhatWasRead } from ${JSON.stringify(MODULE)};
  freeWhatWasRead();
  let most = 0;
  for (let read = 0; read < 8192; read += 1) {
    countRead(Buffer.allocUnsafeSlow(65_536).length);
    most = Math.max(most, process.memoryUsage().arrayBuffers);
    await new Promise(setImmediate);
  }
  console.log(most);
`;

it('frees what was read and dropped long before V8 would', async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', PROGRAM]);
  expect(stderr).toBe('');
  // V8 alone lets it grow by 64 MiB
  expect(Number(stdout)).toBeLessThan(32 * MIB);
});
