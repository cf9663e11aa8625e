import { describe, expect, it } from '@jest/globals';
import { FileControl } from '../../../../gateway/files/control/control.js';
import { Expiry } from '../../../../gateway/files/retention/expiry.js';
import { createSweep } from '../../../../gateway/files/retention/sweep.js';
import type { AuditEntry } from '../../../../gateway/ports/audit.js';
import type { Metrics } from '../../../../gateway/ports/metrics.js';
import { noAccount } from '../../../helpers/no-account.js';
import { silentLog } from '../../../helpers/silent-log.js';
import { createLab, HOUR, RETENTION } from '../uploads/upload-lab.js';

const metrics = { count: () => {}, gauge: () => {}, observe: () => {} } as Metrics;

async function stored() {
  const lab = createLab();
  const { ticket } = await lab.uploadLinks.authorize({ principal: 'ann' });
  const body = { bytes: one(Buffer.from('bytes')), claims: () => ({}) };
  const record = await lab.uploads.receive(await lab.uploadLinks.admit(ticket), body, new AbortController().signal);
  const clock = { now: () => lab.time.now, ticks: () => lab.time.now };
  const entries: AuditEntry[] = [];
  const note = (entry: AuditEntry) => void entries.push(entry);
  const audit = { record: note, note };
  const { objects, state } = lab;
  const control = new FileControl({ objects, state, audit, account: noAccount, clock, retentionMs: RETENTION });
  const deps = { objects, state, account: noAccount, clock, log: silentLog, metrics, retentionMs: RETENTION };
  return { ...lab, record, control, entries, deps };
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

describe('a held file', () => {
  it('outlives its retention, and the sweeper, until it is released', async () => {
    const { control, record, library, time, objects, deps } = await stored();
    await control.change(record.id, 'hold', 'ann');
    const expiry = new Expiry(deps);
    expiry.watch(record.id, record.key);
    const sweep = createSweep(deps);
    for (let round = 0; round < 4; round++) {
      time.now += RETENTION + HOUR;
      await expiry.look();
      await sweep();
    }
    expect(await objects.head(record.key)).toBeDefined();
    expect(await library.find(record.id)).toBeDefined();
    await control.change(record.id, 'release', 'ann');
    time.now += 2 * RETENTION;
    await expiry.look();
    expect(await objects.head(record.key)).toBeUndefined();
  });

  it('keeps its hold when the same change comes twice, and when it is revoked as well', async () => {
    const { control, record, time } = await stored();
    const held = await control.change(record.id, 'hold', 'ann');
    time.now += 1000;
    expect(await control.change(record.id, 'hold', 'ann')).toEqual(held);
    await control.change(record.id, 'revoke', 'ann');
    expect(await control.remove(record.id, 'ann')).toBe('held');
    expect(await control.show(record.id)).toMatchObject({ heldAt: held?.heldAt, revokedAt: time.now });
  });

  it('is in the audit log where it should have been removed, alone or with all of its caller', async () => {
    const { control, record, entries } = await stored();
    await control.change(record.id, 'hold', 'ann');
    entries.length = 0;
    expect(await control.remove(record.id, 'ben')).toBe('held');
    expect(await control.removeAllOf('ann', 'cid')).toEqual({ removed: 0, held: 1 });
    const files = [expect.objectContaining({ id: record.id })];
    const refused = { what: 'control', subject: 'remove', allowed: false, rule: 'hold', code: 'file_held' };
    expect(entries).toEqual([
      { ...refused, actor: 'ben', principal: 'ann', files },
      { ...refused, actor: 'cid', principal: 'ann', files },
    ]);
  });
});

describe('a search for files', () => {
  it('passes over pages without one, ten at a time, and goes on where it was', async () => {
    const { control: _, record, deps } = await stored();
    const id = (at: number) => `f_${String(at).padStart(22, '0')}`;
    let looks = 0;
    const objects = {
      ...deps.objects,
      keysAfter: async (_: string, after: string, most: number) => {
        looks += 1;
        const first = Number(/\d{22}/.exec(after)?.[0] ?? -1) + 1;
        return Array.from({ length: Math.min(most, 25_000 - first) }, (_, index) => `f/${id(first + index)}/0`);
      },
    };
    const state = {
      ...deps.state,
      read: async (key: string) =>
        JSON.stringify({ ...record, id: key.slice(5), principal: key.endsWith('20500') ? 'bob' : 'ann' }),
    };
    const audit = { record: () => undefined, note: () => undefined };
    const control = new FileControl({ ...deps, objects, state, audit });
    const [first, second] = [await control.search({ principal: 'bob' }, { limit: 5 }), looks];
    expect([first, second]).toEqual([{ files: [], next: id(9999) }, 10]);
    const next = await control.search({ principal: 'bob' }, { after: first.next ?? '', limit: 5 });
    expect(next).toEqual({ files: [], next: id(19_999) });
    const found = await control.search({ principal: 'bob' }, { after: next.next ?? '', limit: 5 });
    expect([found.files.map((file) => file.id), found.next]).toEqual([[id(20_500)], id(20_999)]);
    expect(await control.search({ principal: 'eve' }, { after: id(20_999), limit: 5 })).toEqual({ files: [] });
  });
});

describe('all files of a principal', () => {
  it('are removed in one pass over the store, because each page may cost as much as all of it; held ones stay', async () => {
    const { uploads, uploadLinks, control, record, deps, keys, time } = await stored();
    const bytes = (text: string) => ({ bytes: one(Buffer.from(text)), claims: () => ({}) });
    for (let n = 0; n < 100; n += 1) {
      const { ticket } = await uploadLinks.authorize({ principal: n % 2 ? 'ann' : 'bob' });
      await uploads.receive(await uploadLinks.admit(ticket), bytes(`${n}`), new AbortController().signal);
    }
    await control.change(record.id, 'hold', 'ann');
    let passes = 0;
    const objects = {
      ...deps.objects,
      list: (prefix: string) => {
        passes += 1;
        return deps.objects.list(prefix);
      },
      keysAfter: (...page: Parameters<typeof deps.objects.keysAfter>) => {
        passes += 1;
        return deps.objects.keysAfter(...page);
      },
    };
    const audit = { record: () => undefined, note: () => undefined };
    const clock = { now: () => time.now };
    const counted = new FileControl({ ...deps, objects, audit, clock });
    expect(await counted.removeAllOf('ann', 'ops')).toEqual({ removed: 50, held: 1 });
    expect(passes).toBe(1);
    expect(await keys()).toHaveLength(51);
  });
});

it('removes what a caller has when the removal begins, and ends while it stores more', async () => {
  const { control, record, uploads, uploadLinks, time, objects, deps, library } = await stored();
  const store = async (at: number) => {
    time.now += at;
    const { ticket } = await uploadLinks.authorize({ principal: 'ann' });
    const body = { bytes: one(Buffer.from('later')), claims: () => ({}) };
    return uploads.receive(await uploadLinks.admit(ticket), body, new AbortController().signal);
  };
  const later: string[] = [];
  const growing = {
    keysAfter: objects.keysAfter.bind(objects),
    remove: objects.remove.bind(objects),
    async *list(prefix: string) {
      later.push((await store(60_000)).id);
      yield* objects.list(prefix);
    },
  };
  const audit = { record: () => undefined, note: () => undefined };
  const removing = new FileControl({ ...deps, objects: growing, audit });
  expect(await removing.removeAllOf('ann', 'ops')).toEqual({ removed: 1, held: 0 });
  expect(await library.find(record.id)).toBeUndefined();
  expect((await control.list({}, { limit: 10 })).files.map(({ id }) => id)).toEqual(later);
});

describe('a record over which another program has written', () => {
  it.each(['', 'secret, and no JSON', '{}', '42'])('as "%s" keeps no other from the list', async (text) => {
    const { control, record, state } = await stored();
    const [key, hour] = [`file:${record.id}`, 3_600_000];
    expect((await control.list({}, { limit: 10 })).files).toHaveLength(1);
    await state.remove(key);
    await state.create(key, text, hour);
    expect(await control.list({}, { limit: 10 })).toEqual({ files: [] });
    const failed = control.show(record.id).catch((error: { code: string; cause: Error }) => error);
    expect(await failed).toMatchObject({ code: 'state_unavailable' });
    expect(String(((await failed) as { cause: Error }).cause)).not.toContain('secret');
    await expect(control.remove(record.id, 'ann')).rejects.toMatchObject({ code: 'state_unavailable' });
    expect(await control.removeAllOf('ann', 'ops')).toEqual({ removed: 0, held: 0 });
  });
});

describe('each change', () => {
  it('is recorded before it is made, with the file and its owner', async () => {
    const { control, record, entries } = await stored();
    await control.change(record.id, 'revoke', 'ann');
    await control.remove(record.id, 'ann');
    expect(entries).toMatchObject([
      {
        what: 'control',
        actor: 'ann',
        subject: 'revoke',
        principal: 'ann',
        files: [{ id: record.id, digest: record.digest }],
      },
      { what: 'control', actor: 'ann', subject: 'remove' },
    ]);
  });

  it('is recorded as refused where it is not made: a held file is not removed', async () => {
    const { control, record, entries, library } = await stored();
    await control.change(record.id, 'hold', 'ann');
    entries.length = 0;
    expect(await control.remove(record.id, 'ann')).toBe('held');
    expect(entries.map(({ subject, allowed }) => [subject, allowed])).toEqual([['remove', false]]);
    expect(await library.find(record.id)).toBeDefined();
  });

  it('is not made when it cannot be recorded', async () => {
    const { record, deps, library } = await stored();
    const audit = { record: () => Promise.reject(new Error('full')), note: () => undefined };
    const control = new FileControl({ ...deps, audit });
    await expect(control.change(record.id, 'revoke', 'ann')).rejects.toThrow('full');
    await expect(control.remove(record.id, 'ann')).rejects.toThrow('full');
    expect(await library.find(record.id)).toBeDefined();
  });
});
