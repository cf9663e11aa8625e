import { describe, expect, it } from '@jest/globals';
import { create as createState, settings } from '../../../adapters/state/memory.js';
import { UNSHARED } from '../../../gateway/budget/ledger.js';
import type { Registered } from '../../../gateway/ports/oauth.js';
import type { StateStore } from '../../../gateway/ports/state-store.js';
import { StateKeys } from '../../../gateway/secrets/state-keys.js';
import { KeptRegistration } from '../../../gateway/upstream-auth/kept-registration.js';

const OLD = { clientId: 'old', expiresAt: 1000 } as Registered;
const NEW = { clientId: 'new' } as Registered;

function lab() {
  const time = { now: 0 };
  const clock = { now: () => time.now, ticks: () => time.now };
  const state = createState(settings.parse({}), { clock, sharing: UNSHARED });
  const keys = new StateKeys([]);
  const replica = (store: StateStore = state) => new KeptRegistration({ state: store, keys, clock }, 'one', 'place');
  return { time, state, replica };
}

const made = (registered: Registered) => async () => registered;
const never = async (): Promise<Registered> => {
  throw new Error('one was registered in vain');
};

/** A store in which something else happens once, before what is kept is replaced or removed. */
function interrupted(state: StateStore, meanwhile: () => Promise<unknown>): StateStore {
  let isDue = true;
  const before = async () => {
    if (!isDue) return;
    isDue = false;
    await meanwhile();
  };
  const replace: StateStore['replace'] = async (...of) => {
    await before();
    return state.replace(...of);
  };
  const remove: StateStore['remove'] = async (...of) => {
    await before();
    return state.remove(...of);
  };
  return { ...state, replace, remove };
}

describe('a registration that replicas share', () => {
  it('is made once, and again when it is forgotten', async () => {
    const { time, replica } = lab();
    const [one, two] = [replica(), replica()];
    expect([await one.get(made(OLD)), await two.get(never)]).toEqual([OLD, OLD]);
    await one.forget(OLD);
    time.now += 2;
    expect([await one.get(made(NEW)), await replica().get(never)]).toEqual([NEW, NEW]);
    await two.forget(OLD);
    expect([await one.get(never), await two.get(never)]).toEqual([NEW, NEW]);
  });

  it('is not lost with the one that it has replaced while that is forgotten', async () => {
    const { time, state, replica } = lab();
    await replica().get(made(OLD));
    const meanwhile = async () => {
      await replica().forget(OLD);
      time.now += 2;
      await replica().get(made(NEW));
    };
    const slow = replica(interrupted(state, meanwhile));
    await slow.forget(OLD);
    time.now += 2;
    expect([await slow.get(never), await replica().get(never)]).toEqual([NEW, NEW]);
  });

  it('is the one that another replica has kept first, when the old one has expired for both', async () => {
    const { time, state, replica } = lab();
    await replica().get(made(OLD));
    time.now = 1001;
    const slow = replica(interrupted(state, () => replica().get(made(NEW))));
    expect(await slow.get(made({ clientId: 'late' } as Registered))).toEqual(NEW);
  });
});
