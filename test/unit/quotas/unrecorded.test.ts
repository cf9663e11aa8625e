import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { create, settings } from '../../../adapters/state/memory.js';
import { UNSHARED } from '../../../gateway/budget/ledger.js';
import { GatewayError } from '../../../gateway/errors.js';
import type { FileRecord } from '../../../gateway/files/file.js';
import { Allowances, nameFor } from '../../../gateway/quotas/allowances.js';
import { StoredQuotas } from '../../../gateway/quotas/stored.js';
import { Unrecorded } from '../../../gateway/quotas/unrecorded.js';
import { silentLog } from '../../helpers/silent-log.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const MIB = 1024 * 1024;
const MOST = 10 * MIB;

describe('a file that is stored and has no record', () => {
  let time: number;
  let state: ReturnType<typeof create>;
  let quotas: StoredQuotas;
  let warned: unknown[][];

  beforeEach(() => {
    jest.useFakeTimers();
    time = 1_800_000_000_000;
    const clock = { now: () => time, ticks: () => time };
    state = create(settings.parse({}), { sharing: UNSHARED, clock });
    warned = [];
    quotas = replica();
  });
  afterEach(async () => {
    await state.close();
    jest.useRealTimers();
  });

  function replica(): StoredQuotas {
    const rules = { ceiling: {}, base: { storedBytes: MOST }, callers: [], keys: new Map() };
    const clock = { now: () => time, ticks: () => time };
    const allowances = new Allowances(rules, { state, log: silentLog });
    const log = { ...silentLog, warn: (...of: unknown[]) => warned.push(of) };
    return new StoredQuotas({ allowances, state, clock, log, retentionMs: DAY });
  }

  async function pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= MINUTE) {
      time += Math.min(left, MINUTE);
      await jest.advanceTimersByTimeAsync(Math.min(left, MINUTE));
    }
  }

  let count = 0;
  /** Stores bytes. @returns the record to be */
  async function stored(size: number, by = quotas): Promise<FileRecord> {
    count += 1;
    const id = `f_${count}`;
    const key = `f/${id}`;
    const tap = by.open({ id, key, owner: { principal: 'ada' }, signal: new AbortController().signal });
    await tap?.take(Buffer.alloc(size));
    await tap?.end('digest');
    return { id, key, principal: 'ada', name: 'a', mimeType: 'text/plain', digest: 'd', size, createdAt: time };
  }

  const counted = async () => (await state.tally(`quota:storedBytes:${nameFor('ada')}`, [])).total;

  /** The next change of a tally reaches the store if `isDone`, and its answer never comes. */
  function loseAnswer(isDone: boolean): void {
    const { tally } = state;
    state.tally = async (...of) => {
      state.tally = tally;
      if (isDone) await tally(...of);
      throw new GatewayError('state_unavailable');
    };
  }

  it('counts for ten minutes if its process is gone', async () => {
    const gone = replica();
    await stored(MIB, gone);
    expect(await counted()).toBe(MIB);
    time += 11 * MINUTE;
    expect(await counted()).toBe(0);
  });

  it('counts while its message goes on, and for a day once it has its record', async () => {
    const record = await stored(MIB);
    await pass(45 * MINUTE);
    expect(await counted()).toBe(MIB);
    await quotas.holds(record);
    await quotas.recorded({ ...record, createdAt: time });
    await pass(DAY);
    expect(await counted()).toBe(MIB);
    await pass(90 * MINUTE);
    expect(await counted()).toBe(0);
  });

  it('counts no more after an hour and ten minutes, should it be forgotten', async () => {
    await stored(MIB);
    await pass(75 * MINUTE);
    expect(await counted()).toBe(0);
  });

  it('gets no record if others have taken its room meanwhile', async () => {
    const slow = await stored(6 * MIB);
    // its process stood still
    time += 20 * MINUTE;
    const other = replica();
    await other.recorded(await stored(6 * MIB, other));
    await expect(quotas.holds(slow)).rejects.toMatchObject({ code: 'storage_full' });
    const fits = await stored(4 * MIB);
    time += 20 * MINUTE;
    await quotas.holds(fits);
    await quotas.recorded(fits);
    expect(await counted()).toBe(10 * MIB);
  });

  it('counts for ten minutes as a part of an upload that was not noted, and for longer as its last part', async () => {
    const upload = { id: 'f_tus', key: 'f/f_tus-1', owner: { principal: 'ada' }, countedAt: time, expected: 3 * MIB };
    const tap = replica().open({ ...upload, signal: new AbortController().signal });
    await tap?.take(Buffer.alloc(MIB));
    const first = await tap?.keep?.(MIB);
    await first?.noted();
    await tap?.take(Buffer.alloc(MIB));
    await tap?.keep?.(2 * MIB);
    tap?.abort();
    expect(await counted()).toBe(2 * MIB);
    time += 11 * MINUTE;
    expect(await counted()).toBe(MIB);
    const last = replica().open({ ...upload, expected: 2 * MIB, continued: 0, signal: new AbortController().signal });
    await last?.take(Buffer.alloc(2 * MIB));
    await last?.end('digest');
    time += 60 * MINUTE;
    expect(await counted()).toBe(3 * MIB);
  });

  it('counts nothing when it is given up, twice or after it was given back', async () => {
    const record = await stored(MIB);
    await quotas.recorded(await stored(2 * MIB));
    await quotas.unrecorded(record);
    await quotas.unrecorded(record);
    expect(await counted()).toBe(2 * MIB);
    const twin = await stored(MIB);
    await quotas.collapsed(twin);
    await quotas.unrecorded(twin);
    expect(await counted()).toBe(2 * MIB);
  });

  it.each([true, false])(
    'counts once it has its record though the store has not answered (it did count: %s)',
    async (isDone) => {
      const record = await stored(MIB);
      loseAnswer(isDone);
      await quotas.recorded(record);
      await pass(20 * MINUTE);
      expect(await counted()).toBe(MIB);
      await quotas.released(record);
      expect(await counted()).toBe(0);
    },
  );

  it('counts once it has its record though the store was away for longer than its lease', async () => {
    const record = await stored(MIB);
    const { tally } = state;
    state.tally = () => Promise.reject(new GatewayError('state_unavailable'));
    await quotas.recorded(record);
    await pass(30 * MINUTE);
    state.tally = tally;
    await pass(MINUTE);
    expect(await counted()).toBe(MIB);
  });

  it.each([true, false])('counts if it has its record, which the store did not tell (it has: %s)', async (isThere) => {
    const record = await stored(MIB);
    quotas.unsure(record);
    if (isThere) await state.create(`file:${record.id}`, JSON.stringify(record), DAY);
    await pass(20 * MINUTE);
    expect(await counted()).toBe(isThere ? MIB : 0);
  });

  it('is counted later with a thousand others at the most: of one beyond them the log says that it is not', async () => {
    const record = await stored(MIB);
    for (let at = 0; at < 1000; at += 1) quotas.unsure({ ...record, key: `f/${at}` });
    expect(warned).toEqual([]);
    quotas.unsure(record);
    expect(warned).toEqual([[{ id: record.id }, 'a stored file could not be counted']]);
  });
});

it('a file whose count is tried again is not tried twice at a time, and is over at once', async () => {
  jest.useFakeTimers();
  const file = { id: 'f_1', key: 'f/f_1', principal: 'ada', size: MIB, createdAt: 0 };
  const record = { ...file, name: 'a', mimeType: 'text/plain', digest: 'd' };
  let tries = 0;
  let isAway = true;
  const unrecorded = new Unrecorded({
    state: { read: async () => JSON.stringify(record) },
    clock: { now: () => Date.now() },
    log: silentLog,
    counted: () => ({ part: 'day', by: MIB, ttlMs: DAY }),
    tally: async () => {
      tries += 1;
      if (isAway) throw new GatewayError('state_unavailable');
      return { isWithin: true, total: MIB };
    },
  });
  unrecorded.unsure(file);
  await unrecorded.recorded(file);
  tries = 0;
  await jest.advanceTimersByTimeAsync(5000);
  expect(tries).toBe(5);
  let isSettled = false;
  const settled = unrecorded.settled(file.key).then(() => {
    isSettled = true;
  });
  await jest.advanceTimersByTimeAsync(1000);
  expect(isSettled).toBe(false);
  isAway = false;
  await unrecorded.gone(file);
  tries = 0;
  await jest.advanceTimersByTimeAsync(5000);
  await settled;
  expect(tries).toBe(0);
  jest.useRealTimers();
});

it('a file that gets its record while the store is asked whether it has one is counted', async () => {
  jest.useFakeTimers();
  const file = { id: 'f_1', key: 'f/f_1', principal: 'ada', size: MIB, createdAt: 0 };
  let answer: (record: undefined) => void = () => undefined;
  const reading = new Promise<undefined>((resolve) => {
    answer = resolve;
  });
  let isAway = true;
  let counted = 0;
  const unrecorded = new Unrecorded({
    state: { read: () => reading },
    clock: { now: () => Date.now() },
    log: silentLog,
    counted: () => ({ part: 'day', by: MIB, ttlMs: DAY }),
    tally: async (_, changes) => {
      if (isAway) throw new GatewayError('state_unavailable');
      counted += changes.filter(({ part }) => part === 'day').length;
      return { isWithin: true, total: MIB };
    },
  });
  unrecorded.unsure(file);
  await jest.advanceTimersByTimeAsync(1000);
  await unrecorded.recorded(file);
  isAway = false;
  answer(undefined);
  await unrecorded.settled(file.key);
  expect(counted).toBe(1);
  jest.useRealTimers();
});
