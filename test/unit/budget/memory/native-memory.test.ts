import { execFile } from 'node:child_process';
import { isBuiltin } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

// Compiled, this file is dist/test/unit/budget/memory/native-memory.test.js.
const MODULE = fileURLToPath(new URL('../../../../gateway/budget/memory/native-memory.js', import.meta.url));
const MIB = 1024 * 1024;

/** 100 MiB of buffers from glibc's heap, of which one in a hundred is kept, so that the rest are holes. */
const PROGRAM = `
  import { mallocTrim } from ${JSON.stringify(MODULE)};
  const blocks = Array.from({ length: 12_800 }, () => Buffer.allocUnsafeSlow(8192).fill(1));
  const kept = blocks.filter((_, place) => place % 100 === 0);
  blocks.length = 0;
  gc();
  // a thread frees what is collected
  while (process.memoryUsage().arrayBuffers > ${2 * MIB}) await new Promise((resolve) => setTimeout(resolve, 10));
  const before = process.memoryUsage.rss();
  const trim = mallocTrim();
  trim?.();
  const after = process.memoryUsage.rss();
  console.log(JSON.stringify({ hasTrim: trim !== undefined, given: before - after, kept: kept.length }));
`;

it('gives back what is free between memory in use where Node can ask glibc, without a word on stderr', async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    '--expose-gc',
    '--input-type=module',
    '--eval',
    PROGRAM,
  ]);
  const { hasTrim, given } = JSON.parse(stdout);
  const { glibcVersionRuntime } = (
    process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } }
  ).header;
  expect({ hasTrim, stderr }).toEqual({
    hasTrim: isBuiltin('node:ffi') && glibcVersionRuntime !== undefined,
    stderr: '',
  });
  if (hasTrim) expect(given).toBeGreaterThan(50 * MIB);
});
