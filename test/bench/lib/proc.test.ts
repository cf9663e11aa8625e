import { afterEach, describe, expect, it } from '@jest/globals';
import { type Child, freePort, startChild } from './children.js';
import { cpuSeconds, peakRss, processTree, resetPeak, rss } from './proc.js';

const MIB = 1024 * 1024;

/** Takes 100 MiB for a moment and works for a while, then listens: the port tells that it is done. */
const GREEDY = `
  let big = Buffer.alloc(100 * 1024 * 1024, 1);
  const until = Date.now() + 300;
  while (Date.now() < until) big[0] = Date.now();
  big = undefined;
  globalThis.gc();
  require('node:net').createServer().listen(Number(process.argv[1]), '127.0.0.1');
`;

let child: Child | undefined;
afterEach(async () => {
  await child?.stop();
});

async function greedy(): Promise<number> {
  const port = await freePort();
  const args = ['--expose-gc', '-e', GREEDY, String(port)];
  child = await startChild({ command: process.execPath, args, port });
  return child.pid;
}

describe('what /proc tells about a process', () => {
  it('remembers memory that was given back, until the peak is reset', async () => {
    const pid = await greedy();
    expect(peakRss(pid)).toBeGreaterThan(100 * MIB);
    expect(rss(pid)).toBeLessThan(100 * MIB);
    resetPeak(pid);
    expect(peakRss(pid)).toBeLessThan(100 * MIB);
  });

  it('counts the CPU time of all its threads', async () => {
    const pid = await greedy();
    expect(cpuSeconds(pid)).toBeGreaterThan(0.05);
    expect(cpuSeconds([pid, pid])).toBeGreaterThanOrEqual(2 * 0.05);
  });

  it('is nothing for a process that has ended', async () => {
    const pid = await greedy();
    await child?.stop();
    resetPeak(pid);
    expect([peakRss(pid), rss(pid), cpuSeconds(pid)]).toEqual([0, 0, 0]);
  });

  it('finds descendants and leaves out those that the caller names', async () => {
    const pid = await greedy();
    expect(processTree(process.pid)).toEqual(expect.arrayContaining([process.pid, pid]));
    expect(processTree(process.pid, /createServer\(\)\.listen/)).not.toContain(pid);
  });
});
