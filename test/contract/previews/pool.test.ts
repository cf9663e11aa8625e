import { describe, expect, it } from '@jest/globals';
import { RenderPool } from '../../../adapters/previews/local/pool.js';
import type { RenderProcess } from '../../../adapters/previews/local/process.js';
import type { PreviewResult } from '../../../gateway/ports/previewer.js';

const never = new AbortController().signal;
const DONE: PreviewResult = { kind: 'refused', reason: 'unsupported' };

/** A pool of one process whose renderings end one by one, when the test says so, and the names of those that began. */
function pool(queue: number) {
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const process = { alive: true, kill: async () => undefined } as unknown as RenderProcess;
  const renders = new RenderPool({ processes: 1, queue, maxWait: 60_000, idle: 60_000, start: () => process });
  return {
    began,
    run: (name: string, principal: string) =>
      renders.run(
        () => {
          began.push(name);
          return new Promise((resolve) => ends.push(() => resolve(DONE)));
        },
        never,
        { principal },
      ),
    async endAll() {
      for (let next = ends.shift(); next; next = ends.shift()) {
        next();
        await new Promise((resolve) => setImmediate(resolve));
      }
      await renders.close();
    },
  };
}

describe('a pool of render processes', () => {
  it('lets callers take turns, however many images one of them has (safety 12)', async () => {
    const { began, run, endAll } = pool(16);
    const results = ['m1', 'm2', 'm3', 'm4'].map((name) => run(name, 'mallory'));
    results.push(run('a1', 'alice'), run('b1', 'bob'), run('a2', 'alice'));
    await new Promise((resolve) => setImmediate(resolve));
    await endAll();
    expect(began).toEqual(['m1', 'm2', 'a1', 'b1', 'm3', 'a2', 'm4']);
    expect(await Promise.all(results)).toEqual(results.map(() => DONE));
  });

  it('takes a place in a full queue from who has most of them (safety 12)', async () => {
    const { began, run, endAll } = pool(3);
    const ofMallory = ['m1', 'm2', 'm3', 'm4'].map((name) => run(name, 'mallory'));
    const ofAlice = run('a1', 'alice');
    expect(await ofMallory[3]).toEqual({ kind: 'refused', reason: 'busy' });
    // nobody has more than she who comes
    const second = run('a2', 'alice');
    expect(await second).toEqual({ kind: 'refused', reason: 'busy' });
    await endAll();
    expect(began).toEqual(['m1', 'm2', 'a1', 'm3']);
    expect(await ofAlice).toEqual(DONE);
  });
});
