import { afterEach, expect, it, jest } from '@jest/globals';
import { type Check, runAll } from '../../../gateway/doctor/check.js';
import { reachChecks } from '../../../gateway/doctor/reach.js';
import { PAUSE_MS, SILENCE_MS } from '../../../gateway/doctor/way-check.js';
import { AdvisedError } from '../../../gateway/errors/system.js';
import { GatewayError } from '../../../gateway/errors.js';

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

/** What is said of a check that throws, and what to do about it. */
async function said(thrown: unknown): Promise<{ text: string; todo: string | undefined }> {
  const run = async () => {
    throw thrown;
  };
  const [found] = await runAll(
    [{ group: 'objects', title: 'it', todo: 'Do what is usual.', run }],
    new AbortController().signal,
  );
  return { text: found?.text ?? '', todo: found?.todo };
}

it('what a part advises stands apart, and what clients would be told, and what was said, is not repeated', async () => {
  const refused = Object.assign(new Error('HTTP 403'), { name: 'AccessDenied' });
  const unavailable = new GatewayError('store_unavailable', {}, refused);
  const thrown = new AdvisedError('The bucket is closed: AccessDenied, HTTP 403.', 'Open it.', { cause: unavailable });
  expect(await said(thrown)).toEqual({ text: 'The bucket is closed: AccessDenied, HTTP 403.', todo: 'Open it.' });
  expect(await said(unavailable)).toEqual({
    text: 'The object store is not available. Because: AccessDenied: HTTP 403',
    todo: 'Do what is usual.',
  });
});

it('of a store that is full the advice is to make room', async () => {
  const thrown = new GatewayError('store_full', {}, new Error('ENOSPC: no space left on device, below /data'));
  const { text, todo } = await said(thrown);
  expect(text).toBe('The object store is full. Because: ENOSPC: no space left on device, below /data');
  expect(todo).toMatch(/^Make room on the disk of objects\.path/);
});

it('of what has not answered in time the advice is about that, and not about rights', async () => {
  const late = Object.assign(new Error('Redis did not answer within 500 ms.'), { code: 'ETIMEDOUT' });
  const checks = [
    {
      title: 'late',
      ifLate: 'Look at its load.',
      run: () => Promise.reject(new GatewayError('state_unavailable', {}, late)),
    },
    { title: 'refused', ifLate: 'Look at its load.', run: () => Promise.reject(new GatewayError('state_unavailable')) },
    { title: 'late, of a server', run: () => Promise.reject(late) },
  ].map((check) => ({ group: 'state', todo: 'Give it rights.', ...check }));
  const found = await runAll(checks, new AbortController().signal);
  expect(found.map(({ todo }) => todo)).toEqual(['Look at its load.', 'Give it rights.', 'Give it rights.']);
});

it('of a server that wants credentials the advice is about them, and not about its URL', async () => {
  const facts = { server: 'docs', status: 401, setting: 'servers.docs.headers', sent: '' };
  expect((await said(new GatewayError('upstream_unauthorized', facts))).todo).toMatch(
    /^Put credentials into servers\.X/,
  );
});

it('what advice the text of an error ends with is said once', async () => {
  expect(await said(new Error('The bucket is closed. Do what is usual.'))).toEqual({
    text: 'The bucket is closed.',
    todo: 'Do what is usual.',
  });
});

it('what few clients meet is a warning where it fails, and what is right there is right', async () => {
  const states = (['ok', 'skipped', 'failed'] as const).map(async (state) => {
    const check = { group: 'servers', title: 'it', todo: '', isMinor: true, run: async () => ({ state, text: '' }) };
    return (await runAll([check], new AbortController().signal))[0]?.state;
  });
  expect(await Promise.all(states)).toEqual(['ok', 'skipped', 'warning']);
});
