import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { create, settings } from '../../../adapters/state/memory.js';
import { UNSHARED } from '../../../gateway/budget/ledger.js';
import { asGatewayError } from '../../../gateway/errors.js';
import { Consents } from '../../../gateway/files/flow/consents.js';
import { UploadCodes } from '../../../gateway/files/tickets/upload-code.js';
import type { TokenClient } from '../../../gateway/ports/oauth.js';
import type { StateStore } from '../../../gateway/ports/state-store.js';
import { StateKeys } from '../../../gateway/secrets/state-keys.js';
import { grantTarget } from '../../../gateway/upstream-auth/grant-target.js';
import { KeptTokens } from '../../../gateway/upstream-auth/kept-tokens.js';
import { Logins } from '../../../gateway/upstream-auth/logins.js';

const [OLD, NEW] = ['the secret of last year', 'the secret of this year'];

/** The order that the config asks for: first all replicas have the new one as the second, then it comes to the front. */
const ROLLING: readonly (readonly [string, string[], string[]])[] = [
  ['it is the second one', [OLD], [OLD, NEW]],
  ['it is the first one', [OLD, NEW], [NEW, OLD]],
  ['the old one is gone', [NEW, OLD], [NEW]],
];

let state: StateStore;
let now: number;
const clock = { now: () => now, ticks: () => now };

beforeEach(() => {
  now = 1_800_000_000_000;
  state = create(settings.parse({}), { sharing: UNSHARED, clock });
});
afterEach(() => state.close());

describe.each(ROLLING)('two replicas of which one has more of the new secret: %s', (_when, one, other) => {
  const codesOf = (secrets: string[]) => new UploadCodes(state, new StateKeys(secrets), clock);

  it('count the wrong codes of a link together', async () => {
    const replicas = [codesOf(one), codesOf(other)] as const;
    const { code, seal: codeSeal } = replicas[0].make('f_1');
    const guarded = { fileId: 'f_1', codeSeal, expiresAt: now + 60_000, owner: {} };
    const tried = (at: number, text: string) =>
      replicas[at % 2]?.check(guarded, text).then(
        () => 'right',
        (error: unknown) => asGatewayError(error).code,
      );
    const wrong = ['222222', '333333', '444444'].map((text) => (text === code.replace('-', '') ? '555555' : text));
    const said: unknown[] = [];
    for (const [at, text] of wrong.entries()) said.push(await tried(at, text));
    expect(said).toEqual(['upload_code_wrong', 'upload_code_wrong', 'upload_locked']);
    expect([await tried(0, code), await tried(1, code)]).toEqual(['upload_locked', 'upload_locked']);
    expect(await Promise.all(replicas.map((codes) => codes.isLocked('f_1')))).toEqual([true, true]);
  });

  it('give a right code its place back', async () => {
    const { code, seal: codeSeal } = codesOf(one).make('f_1');
    const guarded = { fileId: 'f_1', codeSeal, expiresAt: now + 60_000, owner: {} };
    // each has seen no code yet, as after a start
    for (let tries = 0; tries < 4; tries++)
      for (const secrets of [one, other]) await codesOf(secrets).check(guarded, code);
    expect(await codesOf(other).isLocked('f_1')).toBe(false);
  });

  it('let one of two logins count that are finished at the same time', async () => {
    const target = {
      ...grantTarget('perUser', 'crm', { issuer: 'https://idp.example', clientId: 'wharf' }),
      issuer: 'https://idp.example',
      client: {
        authorizationUrl: async ({ state: sent = '' }: Record<string, string>) => `https://idp.example/?state=${sent}`,
        namesItself: async () => false,
        request: async () => ({ accessToken: 'a', refreshToken: 'r' }),
      } as unknown as TokenClient,
    };
    const audit = { record: async () => undefined, note: () => undefined };
    const replicas = [one, other].map((secrets) => {
      const keys = new StateKeys(secrets);
      const kept = new KeptTokens({ state, clock, keys });
      return new Logins({ state, keys, kept, targetOf: () => target, baseUrl: () => 'https://w.example', audit });
    });
    const begun: { logins: Logins; answer: URLSearchParams }[] = [];
    for (const logins of replicas) {
      const { url } = await logins.begin('ada', 'crm');
      const opened = await logins.open(url.split('/').at(-1) ?? '', 'cookie', {});
      const answer = new URLSearchParams({
        code: 'c',
        state: new URL(opened?.url ?? '').searchParams.get('state') ?? '',
      });
      begun.push({ logins, answer });
    }
    const ends = await Promise.all(begun.map(({ logins, answer }) => logins.finish(answer, 'cookie', {})));
    expect(ends.map(({ kind }) => kind).sort()).toEqual(['done', 'unknown']);
    // the next link works
    for (const logins of replicas) {
      const { url } = await logins.begin('ada', 'crm');
      expect(await logins.open(url.split('/').at(-1) ?? '', 'cookie', {})).toBeDefined();
    }
  });

  it('forget an answer of before when a person gives another one', async () => {
    const about = { principal: 'ada', digest: 'sha-256', to: 'crm' };
    const [before, after] = [one, other].map((secrets) => new Consents(state, new StateKeys(secrets), 86_400_000));
    await before?.note(about, 'yes');
    await after?.note(about, 'no');
    now += 11 * 60_000;
    expect([await before?.said(about), await after?.said(about)]).toEqual([undefined, undefined]);
  });
});
