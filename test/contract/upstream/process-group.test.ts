import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { groupGone, signalGroup } from '../../../adapters/upstream/stdio/process-group.js';

/** Long enough for a file to be read beside it. */
const TURN_MS = 5;

/** Turns of the event loop so far, each kept busy by other work. */
let turns = 0;
let ticking: NodeJS.Immediate;
const tick = () => {
  turns += 1;
  for (const end = performance.now() + TURN_MS; performance.now() < end; );
  ticking = setImmediate(tick);
};

beforeEach(() => {
  turns = 0;
});
afterEach(() => clearImmediate(ticking));

it('takes few turns of a busy event loop to see that a group still runs, whatever else runs on the machine', async () => {
  // 20 processes, of which the leader goes
  const leader = spawn('sh', ['-c', 'for n in $(seq 20); do sleep 60 & done; echo begun; read line'], {
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const group = leader.pid as number;
  try {
    await once(leader.stdout, 'data');
    const gone = once(leader, 'exit');
    leader.stdin.end();
    await gone;
    tick();
    expect(await groupGone(group, 0)).toBe(false);
    expect(turns).toBeLessThan(15);
    clearImmediate(ticking);
    signalGroup(group, 'SIGKILL');
    expect(await groupGone(group, 60_000)).toBe(true);
  } finally {
    signalGroup(group, 'SIGKILL');
  }
});
