import { beforeEach, describe, expect, it } from '@jest/globals';
import { create } from '../../../adapters/state/memory.js';
import { GatewayError } from '../../../gateway/errors.js';
import type { Tokens } from '../../../gateway/ports/oauth.js';
import type { StateStore } from '../../../gateway/ports/state-store.js';
import { StateKeys } from '../../../gateway/secrets/state-keys.js';
import { grantTarget } from '../../../gateway/upstream-auth/grant-target.js';
import { KeptTokens, placeOfPerson } from '../../../gateway/upstream-auth/kept-tokens.js';
import { RenewedTokens } from '../../../gateway/upstream-auth/renewed-tokens.js';
import { until } from '../../helpers/wait.js';

let now = 1_000_000;
/** It goes on, so that what ends at once does end. */
const clock = { now: () => now++, ticks: () => now };
const target = (clientId: string) => grantTarget('perUser', 'crm', { issuer: 'https://idp.example', clientId });
const one = target('one');
const other = target('other');
const tokens = (accessToken: string) => ({ accessToken, expiresAt: 2_000_000 });
const never = async () => {
  throw new Error('no token is asked for here');
};

let state: StateStore;
let kept: KeptTokens;
const renewed = (of: typeof one) => new RenewedTokens({ state, clock, kept }, of);

beforeEach(() => {
  state = create({ maxKeys: 100 }, { clock, sharing: { ratio: 1, principals: false, servers: false } });
  kept = new KeptTokens({ state, clock, keys: new StateKeys(['a secret of the operator']) });
});

describe('the tokens of a server', () => {
  it('are kept under its settings, for each person', async () => {
    await kept.put(placeOfPerson(one, 'ada'), tokens('of one'));
    expect((await renewed(one).get(placeOfPerson(one, 'ada'), never))?.accessToken).toBe('of one');
    for (const place of [placeOfPerson(other, 'ada'), placeOfPerson(one, 'bob')]) {
      expect(await kept.read(place)).toBeUndefined();
      expect(await renewed(other).get(place, async () => undefined)).toBeUndefined();
    }
  });

  it('are used until a minute before their end, and short ones for half of their life', async () => {
    const life = (seconds: number) => ({ accessToken: 'a', givenAt: now, expiresAt: now + seconds * 1000 });
    const [short, long] = [life(60), life(3600)];
    const start = now;
    const isGoodAt = (seconds: number) => {
      now = start + seconds * 1000;
      return [kept.isGood(short), kept.isGood(long)];
    };
    expect([0, 29, 31, 3539, 3541].map(isGoodAt)).toEqual([
      [true, true],
      [true, true],
      [false, true],
      [false, true],
      [false, false],
    ]);
    now = start;
  });

  it('without an end are used for ten minutes where others can be had, and a login that none can renew until it is refused', async () => {
    const ofPerson = placeOfPerson(one, 'ada');
    const ofWharf = { name: 'own', owner: { server: 'crm' }, keptMs: 1000_000 };
    const given: [typeof ofPerson, Tokens][] = [
      [ofWharf, { accessToken: 'own' }],
      [ofPerson, { accessToken: 'with a refresh token', refreshToken: 'r' }],
      [placeOfPerson(one, 'bob'), { accessToken: 'alone' }],
    ];
    for (const [place, tokens] of given) await renewed(one).get(place, async () => tokens);
    const start = now;
    const other = new KeptTokens({ state, clock, keys: new StateKeys(['a secret of the operator']) });
    const readBy = async (kept: KeptTokens) => {
      const found = await Promise.all(given.map(async ([place]) => kept.at(place) ?? (await kept.read(place))));
      return found.map((tokens) => tokens !== undefined && kept.isGood(tokens));
    };
    for (const replica of [kept, other]) expect(await readBy(replica)).toEqual([true, true, true]);
    now = start + 11 * 60_000;
    for (const replica of [kept, other]) expect(await readBy(replica)).toEqual([false, false, true]);
    now = start;
  });

  it('are in the state store no longer than until their end, if nothing renews them', async () => {
    const kept = new Map<string, number>();
    const counting: StateStore = {
      ...state,
      create: async (key, value, ttlMs, owner) => {
        kept.set(key, ttlMs);
        return state.create(key, value, ttlMs, owner);
      },
    };
    const keys = new StateKeys(['a secret of the operator']);
    const store = new KeptTokens({ state: counting, clock, keys });
    const life = async (tokens: Tokens, name: string) => {
      const place = { name, owner: { server: 'crm' }, keptMs: 3_600_000 };
      await store.put(place, tokens);
      return kept.get(keys.of('token', name)) ?? 0;
    };
    const expiresAt = now + 300_000;
    expect(await life({ accessToken: 'a', expiresAt }, 'short')).toBeLessThanOrEqual(300_000);
    expect(await life({ accessToken: 'a', expiresAt: now - 5 }, 'over')).toBe(1);
    expect(await life({ accessToken: 'a', expiresAt, refreshToken: 'r' }, 'renewed')).toBe(3_600_000);
  });

  it('of this process are dropped when another replica has put newer ones there at the same moment', async () => {
    const place = placeOfPerson(one, 'ada');
    await kept.put(place, tokens('before'));
    const { replace } = state;
    state.replace = async () => false;
    await kept.put(place, tokens('too late'));
    state.replace = replace;
    expect(kept.at(place)).toBeUndefined();
  });

  it('of a new login stay when the login before it is found to have ended', async () => {
    const place = placeOfPerson(one, 'ada');
    const before = { ...tokens('before'), refreshToken: 'of before' };
    const after = { ...tokens('after'), refreshToken: 'of after' };
    await kept.put(place, before);
    await kept.put(place, after);
    await kept.end(place, before);
    expect(await kept.read(place)).toEqual(after);
  });

  it('are one set while a secret is replaced, whichever secret a replica prefers', async () => {
    const place = placeOfPerson(one, 'ada');
    const by = (...secrets: string[]) => new KeptTokens({ state, clock, keys: new StateKeys(secrets) });
    await by('old', 'new').put(place, tokens('before'));
    await by('new', 'old').put(place, tokens('after'));
    expect((await by('old', 'new').read(place))?.accessToken).toBe('after');
  });

  it('are renewed by a replica that knows one of two secrets, while another one waits for the second', async () => {
    const place = placeOfPerson(one, 'ada');
    const [first = '', second = ''] = new KeptTokens({ state, clock, keys: new StateKeys(['a', 'b']) }).keysOf(place);
    const firstSecret = new StateKeys(['a']).of('token', place.name) === first ? 'a' : 'b';
    const [ofBoth, ofOne] = [['a', 'b'], [firstSecret]].map((secrets) => {
      const kept = new KeptTokens({ state, clock, keys: new StateKeys(secrets) });
      return new RenewedTokens({ state, clock, kept }, one);
    });
    await state.create(`${second}:renewal`, 'of a third', 30_000, {});
    const { create: make } = state;
    const tried = new Promise<void>((resolve) => {
      state.create = async (key, ...given) => {
        if (key === `${second}:renewal`) resolve();
        return make(key, ...given);
      };
    });
    const waits = ofBoth?.get(place, never);
    await tried;
    await new Promise((resolve) => setImmediate(resolve));
    expect(await state.read(`${first}:renewal`)).toBeUndefined();
    expect((await ofOne?.get(place, async () => tokens('new')))?.accessToken).toBe('new');
    expect((await waits)?.accessToken).toBe('new');
  });

  it('leave this process with their server, and those of other settings stay', async () => {
    const [own, others] = [placeOfPerson(one, 'ada'), placeOfPerson(other, 'ada')];
    await kept.put(own, tokens('of one'));
    await kept.put(others, tokens('of the other'));
    renewed(one).forget();
    expect([kept.at(own), kept.at(others)?.accessToken]).toEqual([undefined, 'of the other']);
    // the state store has them, should these settings come back
    expect((await renewed(one).get(own, never))?.accessToken).toBe('of one');
  });

  it('are good although the state store fails once they are kept', async () => {
    const place = placeOfPerson(one, 'ada');
    const failing: StateStore = {
      ...state,
      replace: async (key, ...rest) => {
        if (key.endsWith(':renewal')) throw new GatewayError('state_unavailable');
        return state.replace(key, ...rest);
      },
    };
    const found = await new RenewedTokens({ state: failing, clock, kept }, one).get(place, async () => tokens('new'));
    expect(found?.accessToken).toBe('new');
  });

  it('are held where they are used, although another replica had them renewed while this one waited for its turn', async () => {
    const place = placeOfPerson(one, 'ada');
    await kept.put(place, tokens('refused'));
    const others = new KeptTokens({ state, clock, keys: new StateKeys(['a secret of the operator']) });
    const busy: StateStore = {
      ...state,
      create: async (key, ...rest) => {
        // the other one ends its renewal between this one's look and its lock
        if (key.endsWith(':renewal')) await others.put(place, tokens('new'));
        return state.create(key, ...rest);
      },
    };
    const waiting = new RenewedTokens({ state: busy, clock, kept }, one);
    expect((await waiting.get(place, never, 'refused'))?.accessToken).toBe('new');
    expect(kept.at(place)?.accessToken).toBe('new');
    // it was found, and not renewed: it may be as old as the one before
    expect(waiting.refusedAgain(place, 'new')).toBe(true);
    expect((await waiting.get(place, async () => tokens('newest'), 'new'))?.accessToken).toBe('newest');
    expect([waiting.refusedAgain(place, 'newest'), waiting.isHopeless(place, 'newest')]).toEqual([false, true]);
  });

  it('are asked for once a second where none are given, for each person, and used as soon as another replica has some', async () => {
    const asked: string[] = [];
    const failure = new GatewayError('upstream_login_failed', { server: 'crm', reason: 'it is down' });
    const refuse = (who: string) => async () => {
      asked.push(who);
      throw failure;
    };
    const [own, bobs] = [placeOfPerson(one, 'ada'), placeOfPerson(one, 'bob')];
    const here = renewed(one);
    for (const _ of [1, 2, 3]) await expect(here.get(own, refuse('ada'))).rejects.toBe(failure);
    await expect(here.get(bobs, refuse('bob'))).rejects.toBe(failure);
    expect(asked).toEqual(['ada', 'bob']);
    const others = new KeptTokens({ state, clock, keys: new StateKeys(['a secret of the operator']) });
    await others.put(bobs, tokens('of another replica'));
    expect((await here.get(bobs, refuse('bob')))?.accessToken).toBe('of another replica');
    now += 1000;
    expect((await here.get(own, async () => tokens('new')))?.accessToken).toBe('new');
  });

  it('are asked for again at once where it is the state store that has failed', async () => {
    const place = placeOfPerson(one, 'ada');
    const here = renewed(one);
    const failure = new GatewayError('state_unavailable');
    await expect(here.get(place, () => Promise.reject(failure))).rejects.toBe(failure);
    expect((await here.get(place, async () => tokens('new')))?.accessToken).toBe('new');
  });

  it('are not renewed by what a server has asked for that was replaced', async () => {
    const place = placeOfPerson(one, 'ada');
    let refuse: (() => void) | undefined;
    const [before, after] = [renewed(one), renewed(one)];
    const old = before.get(
      place,
      () =>
        new Promise((_, reject) => {
          refuse = () => reject(new Error('the old secret is refused'));
        }),
    );
    const refused = expect(old).rejects.toThrow('the old secret');
    const next = after.get(place, async () => tokens('by the new secret'));
    await until(() => refuse !== undefined);
    refuse?.();
    await refused;
    expect((await next)?.accessToken).toBe('by the new secret');
  });
});
