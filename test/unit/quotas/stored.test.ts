import { afterEach, describe, expect, it } from '@jest/globals';
import { create, settings } from '../../../adapters/state/memory.js';
import { UNSHARED } from '../../../gateway/budget/ledger.js';
import { GatewayError } from '../../../gateway/errors.js';
import type { CallerLimits } from '../../../gateway/policy/allowance.js';
import type { StateStore } from '../../../gateway/ports/state-store.js';
import { Allowances } from '../../../gateway/quotas/allowances.js';
import { StoredQuotas } from '../../../gateway/quotas/stored.js';
import { silentLog } from '../../helpers/silent-log.js';

const HOUR = 3_600_000;
const MIB = 1024 * 1024;

const opened: StateStore[] = [];
afterEach(async () => {
  for (const state of opened.splice(0)) await state.close();
});

/** Several replicas over one store, with a clock that can be moved. */
function lab(base: Partial<CallerLimits>) {
  const time = { now: 1_800_000_000_000 };
  const clock = { now: () => time.now, ticks: () => time.now };
  const state = create(settings.parse({}), { sharing: UNSHARED, clock });
  opened.push(state);
  const rules = { ceiling: {}, base, callers: [], keys: new Map() };
  const replica = () => {
    const allowances = new Allowances(rules, { state, log: silentLog });
    return new StoredQuotas({ allowances, state, clock, log: silentLog, retentionMs: 24 * HOUR });
  };
  return { time, replica, state };
}

let count = 0;
const file = () => {
  count += 1;
  const id = `f_${count}`;
  return { id, key: `f/${id}`, owner: { principal: 'ada' }, signal: new AbortController().signal };
};

/** The record of a file. */
const recordOf = ({ id, key }: { id: string; key: string }, size: number, createdAt: number) => ({
  ...{ id, key, principal: 'ada', name: 'a', mimeType: 'text/plain', digest: 'd', size, createdAt },
});

/** Stores a file of so many bytes, and gives it a record; undefined, or the code of the refusal. */
async function store(quotas: StoredQuotas, size: number): Promise<string | undefined> {
  const about = file();
  const tap = quotas.open(about);
  try {
    for (let left = size; left > 0; left -= 64 * 1024) await tap?.take(Buffer.alloc(Math.min(left, 64 * 1024)));
    await tap?.end('digest');
    await quotas.recorded(recordOf(about, size, quotas.now()));
    return undefined;
  } catch (error) {
    tap?.abort();
    return (error as { code: string }).code;
  }
}

describe('what a caller may store', () => {
  it('is never passed by two hundred files at once on two replicas', async () => {
    const { replica } = lab({ storedBytes: 20 * MIB });
    const replicas = [replica(), replica()];
    const all = await Promise.all(
      Array.from({ length: 200 }, (_, index) => store(replicas[index % 2] as StoredQuotas, MIB)),
    );
    const stored = all.filter((one) => one === undefined).length;
    expect(stored).toBeGreaterThan(0);
    expect(stored).toBeLessThanOrEqual(20);
    expect(new Set(all)).toEqual(new Set([undefined, 'storage_full']));
    // what the refused ones had reserved is free again
    const rest = await Promise.all(Array.from({ length: 20 - stored }, () => store(replica(), MIB)));
    expect(rest.every((one) => one === undefined)).toBe(true);
    expect(await store(replica(), 1)).toBe('storage_full');
  });

  it('is reserved at the beginning for files whose size is known: as many of them are stored as fit', async () => {
    const { replica } = lab({ storedBytes: 20 * MIB });
    const replicas = [replica(), replica()];
    const taps = Array.from({ length: 24 }, (_, at) => replicas[at % 2]?.open({ ...file(), expected: 1.5 * MIB }));
    const refused = new Set<number>();
    // all of them come at one pace
    for (let piece = 0; piece < 24; piece += 1) {
      for (const [at, tap] of taps.entries()) {
        if (refused.has(at)) continue;
        await Promise.resolve(tap?.take(Buffer.alloc(64 * 1024))).catch(() => refused.add(at));
      }
      expect(refused.size).toBe(24 - 13);
    }
    for (const [at, tap] of taps.entries()) if (!refused.has(at)) await tap?.end('digest');
    expect(await store(replica(), MIB / 2)).toBeUndefined();
    expect(await store(replica(), 1)).toBe('storage_full');
  });

  it('has the room of a file that is refused at once, before the file is given up', async () => {
    const { replica } = lab({ storedBytes: 4 * MIB });
    const quotas = replica();
    const [first, second] = [quotas.open(file()), quotas.open(file())];
    for (let at = 0; at < 2; at += 1) {
      await first?.take(Buffer.alloc(MIB));
      await second?.take(Buffer.alloc(MIB));
    }
    await expect(first?.take(Buffer.alloc(MIB))).rejects.toMatchObject({ code: 'storage_full' });
    await second?.take(Buffer.alloc(MIB));
    expect(await store(quotas, MIB)).toBeUndefined();
    // it is refused after its last byte
    await second?.take(Buffer.alloc(10));
    await expect(second?.end('digest')).rejects.toMatchObject({ code: 'storage_full' });
    expect(await store(quotas, 3 * MIB)).toBeUndefined();
  });

  it('is reserved once for a link, however many tries there are, and stays reserved while bytes come', async () => {
    const { replica, time } = lab({ storedBytes: 10 * MIB });
    const upload = { ...file(), expected: 8 * MIB };
    // the process of the first one is killed
    await replica().open(upload)?.take(Buffer.alloc(MIB));
    const quotas = replica();
    const tap = quotas.open(upload);
    for (let at = 0; at < 5; at += 1) {
      await tap?.take(Buffer.alloc(1000));
      expect(await store(quotas, 3 * MIB)).toBe('storage_full');
      time.now += 6 * 60_000;
    }
    tap?.abort();
    expect(await store(quotas, 10 * MIB)).toBeUndefined();
  });

  it('is reserved for the rest of a file of which a part is kept', async () => {
    const { replica } = lab({ storedBytes: 10 * MIB });
    const quotas = replica();
    const tap = quotas.open({ ...file(), expected: 8 * MIB });
    for (let at = 0; at < 4; at += 1) await tap?.take(Buffer.alloc(MIB));
    await tap?.keep?.(3 * MIB);
    expect(await store(quotas, 3 * MIB)).toBe('storage_full');
    for (let at = 0; at < 4; at += 1) await tap?.take(Buffer.alloc(MIB));
    await tap?.end('digest');
    expect(await store(quotas, 2 * MIB)).toBeUndefined();
    expect(await store(quotas, 1)).toBe('storage_full');
  });

  it.each(['filesPerDay', 'storedBytes'])('keeps no count of a file when the state store fails at %s', async (name) => {
    const { replica, state } = lab({ storedBytes: 4 * MIB, filesPerDay: 2, bytesPerDay: 4 * MIB });
    const quotas = replica();
    const { tally } = state;
    for (let round = 0; round < 5; round += 1) {
      const tap = quotas.open(file());
      await tap?.take(Buffer.alloc(3 * MIB));
      state.tally = async (key, ...rest) => {
        if (!key.includes(name)) return tally(key, ...rest);
        state.tally = tally;
        throw new GatewayError('state_unavailable');
      };
      await expect(tap?.end('digest')).rejects.toMatchObject({ code: 'state_unavailable' });
      tap?.abort();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await store(quotas, 4 * MIB)).toBeUndefined();
  });

  it('keeps no room of a file that the state store has taken into account, and whose answer was lost', async () => {
    const { replica, state } = lab({ storedBytes: 4 * MIB });
    const quotas = replica();
    const { tally } = state;
    const tap = quotas.open(file());
    await tap?.take(Buffer.alloc(1000));
    state.tally = async (...given) => {
      state.tally = tally;
      await tally(...given);
      throw new GatewayError('state_unavailable');
    };
    await expect(tap?.end('digest')).rejects.toMatchObject({ code: 'state_unavailable' });
    tap?.abort();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await store(quotas, 4 * MIB)).toBeUndefined();
  });

  it('uses nothing of a day for a file that is refused because too much is stored', async () => {
    const { replica, time } = lab({ storedBytes: 3 * MIB, bytesPerDay: 4 * MIB, filesPerDay: 3 });
    const quotas = replica();
    const createdAt = time.now;
    expect(await store(quotas, 3 * MIB)).toBeUndefined();
    for (let round = 0; round < 5; round += 1) expect(await store(quotas, MIB / 2)).toBe('storage_full');
    await quotas.released({ principal: 'ada', size: 3 * MIB, createdAt });
    expect([await store(quotas, MIB / 2), await store(quotas, MIB / 2)]).toEqual([undefined, undefined]);
    expect(await store(quotas, 1)).toBe('day_quota_used');
  });

  it('is reserved while a file arrives, and comes back after a crash', async () => {
    const { replica, time } = lab({ storedBytes: 10 * MIB });
    const tap = replica().open(file());
    for (let at = 0; at < 9; at += 1) await tap?.take(Buffer.alloc(MIB));
    expect(await store(replica(), 2 * MIB)).toBe('storage_full');
    time.now += 11 * 60_000;
    expect(await store(replica(), 2 * MIB)).toBeUndefined();
    // the file goes on after all: it still does not pass the quota
    await expect(tap?.end('digest')).rejects.toMatchObject({
      code: 'storage_full',
      facts: { allowed: 10 * MIB, actual: 11 * MIB },
    });
  });

  it('is free again when files expire, are removed, or turn out to be there already', async () => {
    const { replica, time, state } = lab({ storedBytes: 10 * MIB });
    const quotas = replica();
    const createdAt = time.now;
    expect(await store(quotas, 6 * MIB)).toBeUndefined();
    expect(await store(quotas, 6 * MIB)).toBe('storage_full');
    await quotas.released({ principal: 'ada', size: 6 * MIB, createdAt });
    expect(await store(quotas, 6 * MIB)).toBeUndefined();
    time.now += 23 * HOUR;
    const about = { id: 'f_used', key: 'f/f_used', name: 'a.txt', mimeType: 'text/plain', digest: 'd' };
    await state.create('file:f_used', JSON.stringify({ ...about, principal: 'ada', size: 6 * MIB, createdAt }), HOUR);
    await quotas.used('f_used');
    time.now += 3 * HOUR;
    expect(await store(quotas, 6 * MIB)).toBe('storage_full');
    time.now += 23 * HOUR;
    expect(await store(quotas, 6 * MIB)).toBeUndefined();
  });

  it('is free again when an upload is removed whose requests came hours apart, and counts as long as it is used', async () => {
    const { replica, time, state } = lab({ storedBytes: 10 * MIB });
    const quotas = replica();
    const countedAt = time.now;
    const upload = { ...file(), countedAt };
    const first = quotas.open(upload);
    for (let at = 0; at < 4; at += 1) await first?.take(Buffer.alloc(MIB));
    await first?.end('digest');
    await first?.noted?.();
    time.now += 5 * HOUR;
    const second = quotas.open({ ...upload, continued: 0 });
    for (let at = 0; at < 4; at += 1) await second?.take(Buffer.alloc(MIB));
    await second?.end('digest');
    await second?.noted?.();
    const record = { id: upload.id, key: 'f/f', name: 'a', mimeType: 'text/plain', digest: 'd', principal: 'ada' };
    const whole = { ...record, size: 8 * MIB, createdAt: time.now, countedAt };
    await state.create(`file:${upload.id}`, JSON.stringify(whole), 100 * HOUR);
    time.now += 20 * HOUR;
    await quotas.used(upload.id);
    time.now += 20 * HOUR;
    expect(await store(quotas, 3 * MIB)).toBe('storage_full');
    await quotas.released(whole);
    expect(await store(quotas, 10 * MIB)).toBeUndefined();
  });

  it('does not count a file of a day that turns out to be there already', async () => {
    const { replica, time } = lab({ filesPerDay: 2, bytesPerDay: 3 * MIB });
    const quotas = replica();
    expect(await store(quotas, MIB)).toBeUndefined();
    for (let round = 0; round < 5; round += 1) {
      const again = file();
      const tap = quotas.open(again);
      await tap?.take(Buffer.alloc(MIB));
      await tap?.end('digest');
      await quotas.collapsed(recordOf(again, MIB, time.now));
    }
    expect(await store(quotas, 2 * MIB)).toBeUndefined();
    expect(await store(quotas, 1)).toBe('day_quota_used');
  });

  it('is as before when a file is refused after its last byte: by the antivirus, or by the store', async () => {
    const { replica } = lab({ storedBytes: 3 * MIB, filesPerDay: 2, bytesPerDay: 3 * MIB });
    const quotas = replica();
    for (let round = 0; round < 5; round += 1) {
      const tap = quotas.open(file());
      for (let piece = 0; piece < 3; piece += 1) await tap?.take(Buffer.alloc(MIB));
      const end = tap?.end('digest');
      // another reader refuses it while it is counted, or afterwards
      if (round % 2 === 0) await end;
      tap?.undo?.();
      tap?.abort();
      await end;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await store(quotas, 3 * MIB)).toBeUndefined();
    expect(await store(quotas, 1)).toBe('day_quota_used');
  });

  it('has a number of files and of bytes within 24 hours, and says when there is room', async () => {
    const { replica, time } = lab({ filesPerDay: 2, bytesPerDay: 1000 });
    const quotas = replica();
    expect([await store(quotas, 400), await store(quotas, 700), await store(quotas, 500)]).toEqual([
      undefined,
      'day_quota_used',
      undefined,
    ]);
    const tap = quotas.open(file());
    await tap?.take(Buffer.alloc(50));
    await expect(tap?.end('digest')).rejects.toMatchObject({
      httpStatus: 429,
      facts: { limit: 'limits.filesPerDay', allowed: 2, actual: 3, retryAfter: 86_400 },
    });
    time.now += 25 * HOUR;
    expect(await store(quotas, 900)).toBeUndefined();
  });

  it('has a size of each file, checked as its bytes arrive', async () => {
    const { replica } = lab({ file: 100_000 } as Partial<CallerLimits>);
    expect(await store(replica(), 100_000)).toBeUndefined();
    expect(await store(replica(), 100_001)).toBe('upload_too_large');
  });

  it('refuses at once a file that is longer than all that may be stored, or stored in a day', async () => {
    for (const limits of [{ storedBytes: MIB }, { bytesPerDay: MIB }]) {
      const quotas = lab(limits).replica();
      await quotas.canFit('ada', MIB);
      const [name] = Object.keys(limits);
      await expect(quotas.canFit('ada', MIB + 1)).rejects.toMatchObject({ facts: { limit: `limits.${name}` } });
    }
  });

  it('counts nothing for the record of an upload whose requests have been counted', async () => {
    const quotas = lab({ storedBytes: 4 * MIB }).replica();
    await quotas.holds({ ...recordOf(file(), 3 * MIB, quotas.now()), upload: 'u_1' });
    expect(await store(quotas, 4 * MIB)).toBeUndefined();
  });

  it('is no less than what is stored after a part of an upload that the state store may not have counted', async () => {
    const { replica, state } = lab({ storedBytes: 4 * MIB });
    const quotas = replica();
    expect(await store(quotas, 2 * MIB)).toBeUndefined();
    const { tally } = state;
    state.tally = async () => {
      state.tally = tally;
      throw new GatewayError('state_unavailable');
    };
    const allowance = await quotas.allowance('ada');
    const part = { size: 3 * MIB, files: 0 as const, room: 0, allowance };
    await expect(quotas.take('ada', 'f_part', part)).rejects.toMatchObject({ code: 'state_unavailable' });
    await new Promise((resolve) => setImmediate(resolve));
    expect(await store(quotas, 3 * MIB)).toBe('storage_full');
  });

  it('is not counted for a caller without limits', async () => {
    const { replica } = lab({});
    expect(await store(replica(), 3 * MIB)).toBeUndefined();
  });
});
