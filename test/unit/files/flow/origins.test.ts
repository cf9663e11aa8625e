import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { create, settings } from '../../../../adapters/state/memory.js';
import { UNSHARED } from '../../../../gateway/budget/ledger.js';
import { Origins } from '../../../../gateway/files/flow/origins.js';
import type { StateStore } from '../../../../gateway/ports/state-store.js';
import { StateKeys } from '../../../../gateway/secrets/state-keys.js';
import { sha256Url } from '../../../helpers/bytes.js';

const DAY = 24 * 3_600_000;
const DIGEST = sha256Url('the payroll');
const KEYS = new StateKeys(['the secret of this test']);

let state: StateStore;
let now: number;

beforeEach(() => {
  now = 1_800_000_000_000;
  state = create(settings.parse({}), { sharing: UNSHARED, clock: { ticks: () => now } });
});
afterEach(() => state.close());

const givers = async (origins: Origins, principal = 'ann') => [...(await origins.of(principal, DIGEST)).keys()];

describe('which servers have given a caller which bytes', () => {
  it.each([
    ['seven days, however short files are kept', DAY / 24, 7],
    ['as long as files are kept, where that is longer', 30 * DAY, 30],
  ])('is known for %s (G32)', async (_how, retentionMs, days) => {
    const origins = new Origins(state, KEYS, retentionMs);
    await origins.note({ principal: 'ann', server: 'hr' }, DIGEST);
    now += days * DAY - 1;
    expect(await givers(origins)).toEqual(['hr']);
    now += 1;
    expect(await givers(origins)).toEqual([]);
  });

  it('is known from the last time on, and of every server that gave them', async () => {
    const origins = new Origins(state, KEYS, DAY);
    await origins.note({ principal: 'ann', server: 'hr' }, DIGEST);
    now += 6 * DAY;
    await origins.note({ principal: 'ann', server: 'hr' }, DIGEST);
    now += 6 * DAY;
    await origins.note({ principal: 'ann', server: 'bank', mimeType: 'text/csv' }, DIGEST);
    now += 6 * DAY;
    expect(await origins.of('ann', DIGEST)).toEqual(
      new Map([
        ['hr', []],
        ['bank', ['text/csv']],
      ]),
    );
  });

  it('is known of that caller alone, and at a replica with the same secret', async () => {
    await new Origins(state, KEYS, DAY).note({ principal: 'ann', server: 'hr' }, DIGEST);
    const replica = new Origins(state, new StateKeys(['a new secret', 'the secret of this test']), DAY);
    expect(await givers(replica)).toEqual(['hr']);
    expect(await givers(replica, 'bob')).toEqual([]);
    expect(await givers(new Origins(state, new StateKeys(['another secret']), DAY))).toEqual([]);
  });

  it('is known of as many as give them at one time', async () => {
    const origins = new Origins(state, KEYS, DAY);
    const servers = ['a', 'b', 'c', 'd', 'e'];
    await Promise.all(servers.map((server) => origins.note({ principal: 'ann', server }, DIGEST)));
    expect((await givers(origins)).sort()).toEqual(servers);
  });
});
