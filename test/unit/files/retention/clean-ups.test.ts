import { describe, expect, it } from '@jest/globals';
import type { LogFields } from '../../../../gateway/ports/log.js';
import { silentLog } from '../../../helpers/silent-log.js';
import { createLab } from '../uploads/upload-lab.js';

describe('removals after failures, while the store is away', () => {
  const start = () => {
    const logged: [LogFields, string][] = [];
    const log = { ...silentLog, warn: (fields: LogFields, text: string) => logged.push([fields, text]) };
    return { ...createLab({ log }), logged };
  };
  const away = new Error('away');

  it('have ten lines of the log a minute, and the next one says how many were left out', async () => {
    const { cleanUps, logged, time } = start();
    for (let n = 1; n <= 30; n++) cleanUps.run(`f/${n}`, () => Promise.reject(away));
    await cleanUps.settled(10_000);
    expect(logged).toHaveLength(10);
    expect(logged[0]).toEqual([{ key: 'f/1', err: away }, 'could not remove an object']);
    time.now += 60_000;
    cleanUps.run('f/31', () => Promise.reject(away));
    await cleanUps.settled(10_000);
    expect(logged[10]).toEqual([{ key: 'f/31', err: away, leftOut: 20 }, 'could not remove an object']);
    expect(cleanUps.size).toBe(0);
  });

  it('are left to the sweeper when too many are under way, which the log says as seldom', () => {
    const { cleanUps, logged } = start();
    for (let n = 1; n <= 1100; n++) cleanUps.run(`f/${n}`, () => new Promise(() => undefined));
    expect(cleanUps.size).toBe(1000);
    expect(logged.map(([, text]) => text)).toEqual(Array(10).fill(expect.stringMatching(/^left to the sweeper/)));
  });
});
