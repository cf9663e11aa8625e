import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { create, settings } from '../../../adapters/state/memory.js';
import { UNSHARED } from '../../../gateway/budget/ledger.js';
import type { StateStore } from '../../../gateway/ports/state-store.js';
import { createUnderAll, StateKeys } from '../../../gateway/secrets/state-keys.js';

let state: StateStore;
const clock = { now: () => 1_800_000_000_000, ticks: () => 0 };

beforeEach(() => {
  state = create(settings.parse({}), { sharing: UNSHARED, clock });
});
afterEach(() => state.close());

describe('a thing that is created under each of its keys', () => {
  const keys = ['by one secret', 'by the other secret'];
  const given = { value: 'new', ttlMs: 60_000, owner: {} };

  it.each(keys)('is under none of them where one is taken: %s', async (taken) => {
    await state.create(taken, 'old', 60_000, {});
    expect(await createUnderAll(state, keys, given)).toBe(false);
    expect(await Promise.all(keys.map((key) => state.read(key)))).toEqual(
      keys.map((key) => (key === taken ? 'old' : undefined)),
    );
  });
});

describe('the name of a secret thing', () => {
  it('has another hash for each kind of thing, so that a store that is written to cannot make one of another', () => {
    const keys = new StateKeys(['a secret']);
    const [session, ticket] = [keys.of('session', 'the same'), keys.of('ticket', 'the same')];
    expect(ticket.slice('ticket:'.length)).not.toBe(session.slice('session:'.length));
  });
});
