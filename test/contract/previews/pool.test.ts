import { describe, expect, it } from '@jest/globals';
import { RenderPool } from '../../../adapters/previews/local/pool.js';
import type { RenderProcess } from '../../../adapters/previews/local/process.js';
import type { PreviewResult } from '../../../gateway/ports/previewer.js';

const never = new AbortController().signal;
const DONE: PreviewResult = { kind: 'refused', reason: 'unsupported' };

/** A process that can take a file once the test says so, or at once. */
class FakeProcess {
  alive = true;
  started!: () => void;
  readonly ready = new Promise<void>((resolve) => {
    this.started = resolve;
  });

  async kill(): Promise<void> {
    this.alive = false;
    this.started();
  }
}

/**
 * A pool whose renderings end one by one, when the test says so: its processes in the order in which they were started,
 * and the names of the renderings that began, each with the number of its process.
 */
function pool({ processes = 1, queue = 16, maxWait = 60_000, patience = 60_000 }) {
  const began: string[] = [];
  const by: number[] = [];
  const ends: (() => void)[] = [];
  const started: FakeProcess[] = [];
  const start = () => {
    const process = new FakeProcess();
    started.push(process);
    return process as unknown as RenderProcess;
  };
  const renders = new RenderPool({ processes, queue, maxWait, patience, idle: 60_000, start });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const endNext = async () => {
    ends.shift()?.();
    await settled();
  };
  return {
    began,
    by,
    started,
    settled,
    run: (name: string, principal: string, server?: string) =>
      renders.run(
        (process, until) => {
          began.push(name);
          by.push(started.indexOf(process as unknown as FakeProcess));
          return new Promise((resolve) => {
            ends.push(() => resolve(DONE));
            until.addEventListener('abort', () => resolve({ kind: 'refused', reason: 'aborted' }));
          });
        },
        never,
        { principal, ...(server !== undefined && { server }) },
      ),
    endNext,
    async endAll() {
      while (ends.length > 0) await endNext();
      await renders.close();
    },
  };
}

describe('a pool of render processes', () => {
  it('lets callers take turns, however many images one of them has', async () => {
    const { began, run, endAll } = pool({});
    const results = ['m1', 'm2', 'm3', 'm4'].map((name) => run(name, 'mallory'));
    results.push(run('a1', 'alice'), run('b1', 'bob'), run('a2', 'alice'));
    await new Promise((resolve) => setImmediate(resolve));
    await endAll();
    expect(began).toEqual(['m1', 'm2', 'a1', 'b1', 'm3', 'a2', 'm4']);
    expect(await Promise.all(results)).toEqual(results.map(() => DONE));
  });

  it('gives a caller with many servers no more turns than others', async () => {
    const { began, run, settled, endAll } = pool({});
    const results = [run('m0', 'mallory', 's0')];
    await settled();
    for (const at of [1, 2, 3]) results.push(run(`m${at}`, 'mallory', `s${at}`), run(`n${at}`, 'mallory', `s${at}`));
    results.push(run('a1', 'alice', 's0'), run('a2', 'alice', 's0'));
    await endAll();
    expect(began).toEqual(['m0', 'm1', 'a1', 'm2', 'a2', 'm3', 'n1', 'n2', 'n3']);
    expect(await Promise.all(results)).toEqual(results.map(() => DONE));
  });

  it('takes a place in a full queue from who has most of them', async () => {
    const { began, run, endAll } = pool({ queue: 3 });
    const ofMallory = ['m1', 'm2', 'm3', 'm4'].map((name) => run(name, 'mallory'));
    const ofAlice = run('a1', 'alice');
    expect(await ofMallory[3]).toEqual({ kind: 'refused', reason: 'busy' });
    // no other caller has more than the one that comes
    const second = run('a2', 'alice');
    expect(await second).toEqual({ kind: 'refused', reason: 'busy' });
    await endAll();
    expect(began).toEqual(['m1', 'm2', 'a1', 'm3']);
    expect(await ofAlice).toEqual(DONE);
  });

  it('gives a second picture the process that is free first, not the one that must still start', async () => {
    const { began, by, started, run, settled, endNext, endAll } = pool({ processes: 2 });
    const results = [run('first', 'a')];
    await settled();
    results.push(run('second', 'a'), run('third', 'a'));
    await settled();
    expect(began).toEqual(['first']);
    expect(started).toHaveLength(2);
    await endNext();
    expect(began).toEqual(['first', 'second']);
    started[1]?.started();
    await settled();
    expect(by).toEqual([0, 0, 1]);
    await endAll();
    expect(await Promise.all(results)).toEqual(results.map(() => DONE));
    expect(started.map(({ alive }) => alive)).toEqual([false, false]);
  });

  it('uses the processes it has before it starts another', async () => {
    const { by, started, run, settled, endNext, endAll } = pool({ processes: 3 });
    const results = [run('first', 'a')];
    await settled();
    results.push(run('second', 'a'));
    started[1]?.started();
    await settled();
    await endNext();
    await endNext();
    results.push(run('third', 'a'), run('fourth', 'a'));
    await settled();
    expect(by.sort()).toEqual([0, 0, 1, 1]);
    expect(started).toHaveLength(2);
    await endAll();
    expect(await Promise.all(results)).toEqual(results.map(() => DONE));
  });

  it('lets a picture wait for a process that starts, even where none may wait for one that works', async () => {
    const { began, started, run, settled, endAll } = pool({ processes: 2, queue: 0 });
    const results = [run('first', 'a')];
    await settled();
    results.push(run('second', 'a'));
    expect(await run('third', 'a')).toEqual({ kind: 'refused', reason: 'busy' });
    started[1]?.started();
    await settled();
    expect(began).toEqual(['first', 'second']);
    await endAll();
    expect(await Promise.all(results)).toEqual(results.map(() => DONE));
  });

  it('starts another in place of one that died while it started', async () => {
    const { by, started, run, settled, endAll } = pool({ processes: 2 });
    const results = [run('first', 'a')];
    await settled();
    results.push(run('second', 'a'));
    await started[1]?.kill();
    await settled();
    expect(by).toEqual([0, 2]);
    await endAll();
    expect(await Promise.all(results)).toEqual(results.map(() => DONE));
  });

  it('ends a process that takes longer to start than a picture may wait, and starts another for it', async () => {
    const { by, started, run, settled, endAll } = pool({ processes: 2, maxWait: 50 });
    const results = [run('first', 'a')];
    await settled();
    results.push(run('second', 'a'));
    await started[1]?.ready;
    await settled();
    expect(started[1]?.alive).toBe(false);
    expect(by).toEqual([0, 2]);
    await endAll();
    expect(await Promise.all(results)).toEqual(results.map(() => DONE));
  });

  describe('whose processes all render for one owner while another waits', () => {
    const BUSY: PreviewResult = { kind: 'refused', reason: 'busy' };
    /** Two renderings that take long. */
    const occupied = async (owners: readonly [principal: string, server?: string][], patience = 20) => {
      const lab = pool({ processes: 2, patience });
      const long: Promise<PreviewResult>[] = [];
      for (const [at, [principal, server]] of owners.entries()) {
        long.push(lab.run(`long${at}`, principal, server));
        await lab.settled();
      }
      lab.started[1]?.started();
      await lab.settled();
      expect(lab.began).toEqual(['long0', 'long1']);
      return { ...lab, long };
    };

    it('gives up the rendering that has run longest, and no other', async () => {
      const { run, began, long, endAll } = await occupied([['mallory'], ['mallory']]);
      const waiting = run('photo', 'alice');
      expect(await long[0]).toEqual(BUSY);
      const more = run('more', 'alice');
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(began).toEqual(['long0', 'long1', 'photo']);
      await endAll();
      expect(await Promise.all([long[1], waiting, more])).toEqual([DONE, DONE, DONE]);
    });

    it('gives its place to who waits for it, and not to what its owner has waiting', async () => {
      const { run, began, long, endAll } = await occupied([['mallory'], ['mallory']]);
      const next = run('next', 'mallory');
      const waiting = run('photo', 'alice');
      expect(await long[0]).toEqual(BUSY);
      expect(began).toEqual(['long0', 'long1', 'photo']);
      await endAll();
      expect(await Promise.all([long[1], waiting, next])).toEqual([DONE, DONE, DONE]);
    });

    it('also where all are for one server, of several callers', async () => {
      const owners: [string, string][] = [
        ['bob', 'bad'],
        ['alice', 'bad'],
      ];
      const { run, long, endAll } = await occupied(owners);
      const waiting = run('photo', 'alice', 'good');
      expect(await long[0]).toEqual(BUSY);
      await endAll();
      expect(await Promise.all([long[1], waiting])).toEqual([DONE, DONE]);
    });

    it('keeps them where they are of several, or where their owner itself waits', async () => {
      for (const [owners, waiter] of [
        [[['mallory'], ['bob']], 'alice'],
        [[['mallory'], ['mallory']], 'mallory'],
      ] as [[string][], string][]) {
        const { run, began, long, endAll } = await occupied(owners);
        const waiting = run('photo', waiter);
        await new Promise((resolve) => setTimeout(resolve, 100));
        expect(began).toEqual(['long0', 'long1']);
        await endAll();
        expect(await Promise.all([...long, waiting])).toEqual([DONE, DONE, DONE]);
      }
    });
  });
});
