import { afterEach, expect, it, jest } from '@jest/globals';
import { type Check, runAll } from '../../../gateway/doctor/check.js';
import { reachChecks } from '../../../gateway/doctor/reach.js';
import { PAUSE_MS, SILENCE_MS } from '../../../gateway/doctor/way-check.js';

afterEach(() => {
  jest.restoreAllMocks();
});

/** How long a check may take, milliseconds. */
async function mostOf(check: Check): Promise<number | undefined> {
  const timeout = jest.spyOn(AbortSignal, 'timeout');
  await runAll([{ ...check, run: async () => ({ state: 'ok', text: '' }) }], new AbortController().signal);
  return timeout.mock.calls.at(-1)?.[0];
}

it('an event stream has as long for its answers as every other check has, beside the silence in it', async () => {
  const checks = reachChecks({ publicUrl: 'https://mcp.example' }, async () => {
    throw new Error('nothing is asked');
  });
  const of = (title: string) => checks.find((check) => check.title === title) as Check;
  const usual = await mostOf(of('large requests'));
  expect(usual).toBeGreaterThan(0);
  expect(await mostOf(of('event streams'))).toBe(Number(usual) + PAUSE_MS + SILENCE_MS);
});
