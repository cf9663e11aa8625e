import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { create as createObjects, settings as objectSettings } from '../../../../adapters/objects/memory.js';
import { create as createState, settings as stateSettings } from '../../../../adapters/state/memory.js';
import { UNSHARED } from '../../../../gateway/budget/ledger.js';
import { newFileId, objectKey } from '../../../../gateway/files/handles/handle.js';
import { startSweeper } from '../../../../gateway/files/retention/sweep.js';
import type { ObjectStore } from '../../../../gateway/ports/object-store.js';
import type { StateStore } from '../../../../gateway/ports/state-store.js';
import { silentLog } from '../../../helpers/silent-log.js';

const NEVER = new AbortController().signal;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

describe('gateways that have one state and live for minutes', () => {
  let now: number;
  let objects: ObjectStore;
  let state: StateStore;
  let lists: number;
  const clock = { now: () => now, ticks: () => now };
  const metrics = { count() {}, observe() {}, gauge() {} };

  beforeEach(() => {
    jest.useFakeTimers();
    now = 1_800_000_000_000;
    lists = 0;
    const all = createObjects(objectSettings.parse({}), { clock });
    objects = {
      ...all,
      list: (...of) => {
        lists += 1;
        return all.list(...of);
      },
    };
    state = { ...createState(stateSettings.parse({}), { sharing: UNSHARED, clock }), time: async () => now };
  });
  afterEach(async () => {
    await state.close();
    jest.useRealTimers();
  });

  async function put(key: string): Promise<string> {
    const writer = await objects.create(key, NEVER);
    await writer.writeLast(Buffer.from(key));
    await writer.commit();
    return key;
  }

  async function keys(): Promise<string[]> {
    const found: string[] = [];
    for await (const { key } of objects.list('')) found.push(key);
    return found.sort();
  }

  const recordOf = (key: string) =>
    JSON.stringify({
      ...{ id: 'f_x', principal: 'ann', name: 'a', mimeType: 'text/plain' },
      size: 1,
      digest: 'd',
      key,
      createdAt: 0,
    });

  /** A gateway that ends after so many minutes. */
  async function live(minutes: number): Promise<void> {
    const sweeper = startSweeper({ objects, state, clock, metrics, log: silentLog });
    for (let minute = 0; minute < minutes; minute += 1) {
      now += MINUTE;
      await jest.advanceTimersByTimeAsync(MINUTE);
    }
    await sweeper.stop();
  }

  it('remove what two of them, an hour apart, have seen without a record', async () => {
    await live(1);
    const [lost, kept] = [await put(objectKey(newFileId())), await put(objectKey(newFileId()))];
    await state.create(`file:${kept.slice(2)}`, recordOf(kept), 30 * DAY);
    now += DAY;
    await live(2);
    expect(await keys()).toEqual([lost, kept].sort());
    now += DAY;
    await live(2);
    expect(await keys()).toEqual([kept]);
  });

  it('remove it though one follows another, at the earliest after 48 minutes', async () => {
    const lost = await put(objectKey(newFileId()));
    await live(1);
    now += DAY;
    await live(2);
    for (let minutes = 2; minutes < 48; minutes += 2) {
      expect(await keys()).toEqual([lost]);
      await live(2);
    }
    await live(2);
    expect(await keys()).toEqual([]);
  });

  it('keep an object whose record is made after its first sighting, and another try to upload the same file', async () => {
    const id = newFileId();
    const lost = await put(objectKey(id, 'A'.repeat(22)));
    const late = await put(objectKey(newFileId()));
    await live(1);
    now += DAY;
    await live(2);
    const won = await put(objectKey(id, 'B'.repeat(22)));
    await state.create(`file:${late.slice(2)}`, recordOf(late), 30 * DAY);
    now += 2 * 60 * MINUTE;
    await live(2);
    expect(await keys()).toEqual([late, won].sort());
    expect(lost).not.toBe(won);
  });

  it('list objects soon where the last sweep was noted 48 minutes ago, else within a quarter of an hour', async () => {
    const random = jest.spyOn(Math, 'random').mockReturnValue(0.9);
    await live(13);
    expect(lists).toBe(0);
    now += 48 * MINUTE;
    await live(1);
    expect(lists).toBe(1);
    await live(13);
    expect(lists).toBe(1);
    await live(14);
    expect(lists).toBe(2);
    random.mockRestore();
  });

  it.each(['', 'no JSON', '{}', '{"at":"now","seen":[]}'])('take the place of a note that says "%s"', async (text) => {
    await put(objectKey(newFileId()));
    await state.create('sweep', text, DAY);
    now += 2 * 60 * MINUTE;
    await live(2);
    now += DAY;
    await live(2);
    expect(await keys()).toEqual([]);
  });

  it('note no more than the state store should hold, and remove the rest later', async () => {
    for (let n = 0; n < 5_100; n += 1) await put(objectKey(newFileId()));
    await live(1);
    now += DAY;
    await live(2);
    expect((await state.read('sweep'))?.length).toBeLessThan(51_000);
    now += DAY;
    await live(2);
    expect(await keys()).toHaveLength(100);
    now += DAY;
    await live(2);
    expect(await keys()).toEqual([]);
  });
});
