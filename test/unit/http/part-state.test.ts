import { describe, expect, it, jest } from '@jest/globals';
import { GatewayError } from '../../../gateway/errors.js';
import { PartState, partsBeside, stateNow, told, UNKNOWN } from '../../../gateway/http/part-state.js';
import { silentLog } from '../../helpers/silent-log.js';

const refused = () => new GatewayError('upstream_unreachable', { server: 'a', reason: 'connection refused' });

/** A part that answers when it is told to. */
function part() {
  const answers: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const time = { now: 0 };
  const state = new PartState(
    () => new Promise<void>((resolve, reject) => answers.push({ resolve, reject })),
    () => time.now,
  );
  return { state, answers, time };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('the state of a part', () => {
  it('is what it last said, and nothing waits for more', async () => {
    const { state, answers, time } = part();
    expect(await state.look(1)).toBe(UNKNOWN);
    answers[0]?.reject(refused());
    await turn();
    time.now = 5000;
    expect(await state.look(1)).toBe('connection refused');
    answers[1]?.resolve();
    await turn();
    expect(await state.look(1)).toBe('ok');
  });

  it('is asked by one question at a time, and not again at once', async () => {
    const { state, answers, time } = part();
    await Promise.all([state.look(1), state.look(1)]);
    await state.look(1);
    expect(answers).toHaveLength(1);
    answers[0]?.resolve();
    await turn();
    await state.look(1);
    expect(answers).toHaveLength(1);
    time.now = 5000;
    await state.look(1);
    expect(answers).toHaveLength(2);
  });

  it('is that of the first of several tries that failed together', async () => {
    const many = new AggregateError([refused(), new Error('something else')], 'All promises were rejected');
    expect(await stateNow(() => Promise.reject(many))).toBe('connection refused');
  });

  it.each<[string, GatewayError, RegExp]>([
    [
      'refused without a reason',
      new GatewayError(
        'store_unavailable',
        { refused: true },
        Object.assign(new Error('No.'), { name: 'AccessDenied' }),
      ),
      /refuses Wharf \(AccessDenied\)\. `wharf doctor --only objects` tries each step, and names the right/,
    ],
    ['full', new GatewayError('store_full'), /^The object store is full\. Make room on the disk of objects\.path/],
    [
      'silent',
      new GatewayError('state_unavailable', {}, Object.assign(new Error('late'), { code: 'ETIMEDOUT' })),
      /^The state store is not available \(ETIMEDOUT\)\. Look at what answers there, its load/,
    ],
  ])('says what to do of one that is %s', async (_, error, text) => {
    expect(await stateNow(() => Promise.reject(error))).toMatch(text);
  });

  it('is not an answer when none comes', async () => {
    expect(await stateNow(() => new Promise(() => {}))).toBe(
      'no answer within 2 s. Look at its load, and at what stands between it and Wharf.',
    );
  });
});

it('a server that cannot be reached is told to the log once, and once when it can be again', async () => {
  const lines: unknown[] = [];
  const note = (level: string) => (fields: object, text: string) => void lines.push({ level, ...fields, text });
  let fails = true;
  // each transport that it may speak is tried
  const tries = new AggregateError([refused(), new Error('another')], 'All promises were rejected');
  const server = { check: () => (fails ? Promise.reject(tries) : Promise.resolve()) };
  const servers = new Map([['docs', server]]);
  let now = 0;
  const clock = { ticks: () => now };
  const log = { ...silentLog, warn: note('warn'), info: note('info') };
  const beside = partsBeside({ previewer: { check: async () => {} }, servers, issuers: () => [] }, clock, log);
  for (const isDown of [true, true, false, false]) {
    fails = isDown;
    now += 5000;
    await beside.servers.get('docs')?.look(100);
  }
  expect(lines).toEqual([
    { level: 'warn', server: 'docs', text: 'a server cannot be reached', err: tries.errors[0] },
    { level: 'info', server: 'docs', text: 'a server can be reached again' },
  ]);
});

describe('a part that this process cannot work without', () => {
  it('is told to the log with its cause once when it fails, and once when it is back', async () => {
    const lines: unknown[] = [];
    const note = (about: object, text: string) => void lines.push([about, text]);
    const log = { ...silentLog, warn: note, info: note };
    const cause = new Error('AccessDenied');
    let isWell = false;
    const check = async () => {
      if (!isWell) throw new GatewayError('store_unavailable', {}, cause);
    };
    const noted = told('objects', check, { log, clock: { ticks: () => 0 } });
    for (isWell of [false, false, true, true, false]) await noted().catch(() => undefined);
    const failed = [{ part: 'objects', err: cause }, 'not ready: a part of this process fails'];
    expect(lines).toEqual([failed, [{ part: 'objects' }, 'ready again'], failed]);
  });

  it('is told to the log once while its answers come too late, and once when they are in time again', async () => {
    jest.useFakeTimers();
    try {
      const lines: unknown[] = [];
      const note = (about: object, text: string) => void lines.push([about, text]);
      let takes = 3000;
      const check = () => new Promise<void>((resolve) => void setTimeout(resolve, takes));
      const log = { ...silentLog, warn: note, info: note };
      const noted = told('objects', check, { log, clock: { ticks: () => 0 } });
      for (takes of [3000, 3000, 100, 100]) {
        const asked = noted();
        await jest.advanceTimersByTimeAsync(takes);
        await asked;
      }
      const err = expect.objectContaining({ why: 'no answer within 2 s.' });
      expect(lines).toEqual([
        [{ part: 'objects', err }, 'not ready: a part of this process fails'],
        [{ part: 'objects' }, 'ready again'],
      ]);
    } finally {
      jest.useRealTimers();
    }
  });

  it('is asked once by all who ask meanwhile, and anew once it has answered', async () => {
    const answers: (() => void)[] = [];
    const check = () => new Promise<void>((resolve) => answers.push(resolve));
    const asked = told('objects', check, { log: silentLog, clock: { ticks: () => 0 } });
    const all = Promise.all(Array.from({ length: 1000 }, asked));
    expect(answers).toHaveLength(1);
    answers[0]?.();
    await all;
    void asked();
    expect(answers).toHaveLength(2);
  });

  it('is asked again while it does not answer: it may be back', async () => {
    let now = 0;
    let isHanging = true;
    const check = () => (isHanging ? new Promise<void>(() => {}) : Promise.resolve());
    const asked = told('objects', check, { log: silentLog, clock: { ticks: () => now } });
    void asked();
    isHanging = false;
    now = 1000;
    await asked();
  });
});
