import { spawn } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { fixture, fixtureFile } from '../contract/upstream/subject.js';
import { isRunning } from '../helpers/is-running.js';
import { until } from '../helpers/wait.js';

/** Runs a process that fronts a stdio server and ends as told; gives the server's pid. */
async function endParent(end: string, server: string[]): Promise<number> {
  const command = [fixtureFile('stdio-parent.fixture.mjs'), end, ...server];
  const parent = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'ignore'] });
  let text = '';
  parent.stdout.on('data', (part) => {
    text += String(part);
  });
  await new Promise((resolve) => parent.on('close', resolve));
  return Number((JSON.parse(text) as { pid: number }).pid);
}

describe('the stdio servers of a gateway that ends without closing them', () => {
  it.each(['exit', 'throw'])('are killed with it (%s), even one that heeds nothing', async (end) => {
    const pid = await endParent(end, fixture('stubborn'));
    expect(pid).toBeGreaterThan(0);
    await until(() => !isRunning(pid));
  });

  it('end with their stdin when it was killed, as MCP asks of them', async () => {
    const pid = await endParent('SIGKILL', fixture('env'));
    expect(pid).toBeGreaterThan(0);
    await until(() => !isRunning(pid));
  });
});
