import { beforeEach, describe, expect, it } from '@jest/globals';
import { create } from '../../../adapters/state/memory.js';
import { GatewayError } from '../../../gateway/errors.js';
import type { Identity } from '../../../gateway/ports/identity.js';
import type { TokenClient, Tokens } from '../../../gateway/ports/oauth.js';
import type { StateStore } from '../../../gateway/ports/state-store.js';
import { StateKeys } from '../../../gateway/secrets/state-keys.js';
import { grantTarget } from '../../../gateway/upstream-auth/grant-target.js';
import { identityHeaders } from '../../../gateway/upstream-auth/identity-headers.js';
import { KeptRegistration } from '../../../gateway/upstream-auth/kept-registration.js';
import { KeptTokens } from '../../../gateway/upstream-auth/kept-tokens.js';
import { RenewedTokens } from '../../../gateway/upstream-auth/renewed-tokens.js';
import { TokenExchange } from '../../../gateway/upstream-auth/token-exchange.js';

const START = 1_800_000_000_000;
let now: number;
let state: StateStore;
const clock = { now: () => now, ticks: () => now };
const keys = new StateKeys(['a secret of the operator']);

beforeEach(() => {
  now = START;
  state = create({ maxKeys: 100 }, { clock, sharing: { ratio: 1, principals: false, servers: false } });
});

describe('the headers that tell a server who calls', () => {
  const caller = (groups: string[], principal = 'ada'): Identity => ({ principal, use: 'jwt', groups, scopes: [] });

  it('tell a comma in a name from one between two names', () => {
    const headers = identityHeaders({ 'X-Groups': 'groups' }, caller(['hr', 'it, abroad', '100%']));
    expect(headers).toEqual({ 'x-groups': 'hr,it%2C%20abroad,100%25' });
  });

  it('show where half of a character stood', () => {
    expect(identityHeaders({ 'X-User': 'principal' }, caller([], 'a\ud800b'))).toEqual({ 'x-user': 'a%EF%BF%BDb' });
  });

  it('leave out what is longer than servers take', () => {
    const told = (length: number) => identityHeaders({ 'X-User': 'principal' }, caller([], 'a'.repeat(length)));
    expect([told(4096)['x-user']?.length, told(4097)]).toEqual([4096, {}]);
  });
});

describe('a token that is exchanged for that of a caller', () => {
  const target = grantTarget('tokenExchange', 'crm', { issuer: 'https://idp.example', clientId: 'wharf' });
  const callerUntil = (end: number): Identity => ({
    ...{ principal: 'ada', use: 'jwt', token: `until ${end}`, groups: [], scopes: [] },
    claims: { exp: end / 1000 },
  });
  const exchange = (request: () => Promise<Tokens>) => {
    const kept = new KeptTokens({ state, clock, keys });
    return new TokenExchange(
      { request } as unknown as TokenClient,
      new RenewedTokens({ state, clock, kept }, target),
      target,
      clock,
    );
  };

  it('ends no later than the login of the caller', async () => {
    let asked = 0;
    const source = exchange(async () => {
      asked += 1;
      return { accessToken: `token ${asked}`, expiresAt: START + 3_600_000 };
    });
    const caller = callerUntil(START + 600_000);
    expect(await source.bearer(caller)).toBe('token 1');
    now += 500_000;
    expect([await source.bearer(caller), asked]).toEqual(['token 1', 1]);
    now += 50_000;
    expect([await source.bearer(caller), asked]).toEqual(['token 2', 2]);
  });

  it('is refused as the login’s end only where the login has ended', async () => {
    const source = exchange(async () => {
      throw new GatewayError('upstream_login_failed', { server: 'crm', reason: 'refused' });
    });
    const refusal = async (end: number) => source.bearer(callerUntil(end));
    await expect(refusal(START + 1000)).rejects.toMatchObject({ code: 'upstream_login_failed' });
    await expect(refusal(START)).rejects.toMatchObject({ httpStatus: 401 });
  });
});

describe('a registration of Wharf’s at an authorization server', () => {
  const replica = () => new KeptRegistration({ state, keys, clock }, 'crm', 'https://idp.example');
  const never = async () => {
    throw new Error('it registers again');
  };

  it('is one for two replicas that register at one time', async () => {
    const [one, other] = [replica(), replica()];
    const found = await Promise.all([
      one.get(async () => ({ clientId: 'of one' })),
      other.get(async () => ({ clientId: 'of the other' })),
    ]);
    expect(found[0]).toEqual(found[1]);
    expect(await replica().get(never)).toEqual(found[0]);
  });

  it('is not forgotten with one that another replica has replaced', async () => {
    const old = { clientId: 'old' };
    const [one, other] = [replica(), replica()];
    for (const each of [one, other]) await each.get(async () => old);
    await one.forget(old);
    await one.get(async () => ({ clientId: 'new' }));
    await other.forget(old);
    expect(await other.get(never)).toEqual({ clientId: 'new' });
  });
});
