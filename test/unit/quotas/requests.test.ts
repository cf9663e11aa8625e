import { afterEach, describe, expect, it } from '@jest/globals';
import { create, settings } from '../../../adapters/state/memory.js';
import { UNSHARED } from '../../../gateway/budget/ledger.js';
import type { AllowanceRules } from '../../../gateway/policy/allowance.js';
import type { Identity } from '../../../gateway/ports/identity.js';
import type { StateStore } from '../../../gateway/ports/state-store.js';
import { Allowances } from '../../../gateway/quotas/allowances.js';
import { RequestQuotas, secondsOf } from '../../../gateway/quotas/requests.js';
import { silentLog } from '../../helpers/silent-log.js';

const opened: StateStore[] = [];
afterEach(async () => {
  for (const state of opened.splice(0)) await state.close();
});

const DAY = 24 * 60 * 60 * 1000;

const ADA: Identity = { principal: 'ada', use: 'jwt', groups: ['hr'], scopes: [] };
const BOB: Identity = { principal: 'bob', use: 'jwt', groups: [], scopes: [] };

function lab(rules: Partial<AllowanceRules>) {
  const time = { now: 1_800_000_000_000 };
  const clock = { now: () => time.now, ticks: () => time.now };
  const state = create(settings.parse({}), { sharing: UNSHARED, clock });
  opened.push(state);
  const replica = (changed: Partial<AllowanceRules> = {}) => {
    const all = { ceiling: {}, base: {}, callers: [], keys: new Map(), ...rules, ...changed };
    return new RequestQuotas({ allowances: new Allowances(all, { state, log: silentLog }), state, clock });
  };
  return { time, state, replica };
}

describe('what a caller may send', () => {
  it('is a number of requests at one time, which ended ones no longer take', async () => {
    const quotas = lab({ base: { exchanges: 2 } }).replica();
    const end = await quotas.begin(ADA);
    await quotas.begin(ADA);
    await expect(quotas.begin(ADA)).rejects.toMatchObject({
      httpStatus: 429,
      message:
        'You may have 2 requests under way at one time here, and this would be number 3. Try again when one of them has ended.',
      facts: { limit: 'limits.exchanges', allowed: 2, actual: 3 },
    });
    await quotas.begin(BOB);
    end();
    await quotas.begin(ADA);
  });

  it('is given back once, however often a request says that it has ended', async () => {
    const quotas = lab({ base: { exchanges: 2 } }).replica();
    const ends = [await quotas.begin(ADA), await quotas.begin(ADA)];
    for (let at = 0; at < 3; at += 1) ends[0]?.();
    await quotas.begin(ADA);
    await expect(quotas.begin(ADA)).rejects.toMatchObject({ facts: { actual: 3 } });
  });

  it('is a number of requests in any minute; a refused one does not count, nor keep its place', async () => {
    const { replica, time } = lab({ base: { requestsPerMinute: 3, exchanges: 3 } });
    const quotas = replica();
    for (let at = 0; at < 3; at += 1) {
      (await quotas.begin(ADA))();
      time.now += 10_000;
    }
    for (let at = 0; at < 5; at += 1) {
      await expect(quotas.begin(ADA)).rejects.toMatchObject({
        code: 'rate_limited',
        facts: { actual: 4, retryAfter: 30 },
      });
    }
    time.now += 30_000;
    (await quotas.begin(ADA))();
    await expect(quotas.begin(ADA)).rejects.toMatchObject({ code: 'rate_limited' });
  });

  it('counts each request of a batch, and none of one that is refused', async () => {
    const quotas = lab({ base: { requestsPerMinute: 10, exchanges: 6 } }).replica();
    const sendBatch = async (length: number) => {
      const end = await quotas.begin(ADA);
      try {
        return [end, await quotas.beginFurther(ADA, length - 1)];
      } catch (error) {
        end();
        throw error;
      }
    };
    const ends = await sendBatch(6);
    await expect(sendBatch(1)).rejects.toMatchObject({ code: 'requests_limited', facts: { actual: 7 } });
    for (const end of ends) end();
    await expect(sendBatch(5)).rejects.toMatchObject({
      code: 'rate_limited',
      facts: { allowed: 10, actual: 11, retryAfter: 60 },
    });
    for (const end of await sendBatch(4)) end();
    await expect(sendBatch(1)).rejects.toMatchObject({ code: 'rate_limited' });
  });

  it('has no time at which a batch fits that is longer than the limit', async () => {
    const quotas = lab({ base: { requestsPerMinute: 10 } }).replica();
    await quotas.begin(ADA);
    await expect(quotas.beginFurther(ADA, 10)).rejects.toMatchObject({
      message: 'You may send 10 requests a minute here, and this would be number 11. It does not fit at any time.',
      facts: expect.not.objectContaining({ retryAfter: expect.anything() }),
    });
  });

  it('counts no call of a batch that is refused for one of its calls', async () => {
    const quotas = lab({}).replica();
    const call = (tool: string, value: number) => ({
      tool,
      amounts: { requestsPerMinute: { value, source: `tools.${tool}`, entry: tool } },
    });
    const both = [call('free', 2), call('dear', 1)];
    await quotas.beginCalls(ADA, 'hr', both);
    for (let at = 0; at < 5; at += 1)
      await expect(quotas.beginCalls(ADA, 'hr', both)).rejects.toMatchObject({ facts: { tool: 'dear' } });
    await quotas.beginCalls(ADA, 'hr', [call('free', 2)]);
  });

  it('is counted apart for a tool of each server that has limits of its own', async () => {
    const quotas = lab({}).replica();
    const calls = [{ tool: 'dear', amounts: { exchanges: { value: 1, source: 'tools.dear', entry: 'dear' } } }];
    const end = await quotas.beginCalls(ADA, 'hr', calls);
    await quotas.beginCalls(ADA, 'crm', calls);
    await expect(quotas.beginCalls(ADA, 'hr', calls)).rejects.toMatchObject({ facts: { tool: 'dear', actual: 2 } });
    end();
    await quotas.beginCalls(ADA, 'hr', calls);
  });

  it('may be tried again in a second at the earliest', () => {
    expect([0, 1, 1000, 1001].map(secondsOf)).toEqual([1, 1, 1, 2]);
  });

  it('is known for an upload by a link, on every replica, from what its caller’s groups have allowed', async () => {
    const { replica, state } = lab({ callers: [{ match: { group: 'hr' }, limits: { uploads: 1 } }] });
    (await replica().begin(ADA))();
    // remembered beside the request
    await expect(stored(state)).resolves.toContain('callers[0].limits.uploads');
    const other = replica();
    const end = await other.beginUpload('ada');
    await expect(other.beginUpload('ada')).rejects.toMatchObject({ facts: { limit: 'limits.uploads', allowed: 1 } });
    end();
    await other.beginUpload('ada');
    for (let at = 0; at < 3; at += 1) await other.beginUpload('bob');
  });

  it('is kept for 30 days after its last request, on whatever replica that was', async () => {
    const { replica, state, time } = lab({ callers: [{ match: { group: 'hr' }, limits: { uploads: 1 } }] });
    const extended = new Promise<void>((resolve) => {
      const { extend } = state;
      state.extend = (...of) => extend(...of).finally(resolve);
    });
    (await replica().begin(ADA))();
    await stored(state);
    time.now += 20 * DAY;
    (await replica().begin(ADA))();
    await extended;
    time.now += 20 * DAY;
    expect(await stored(state)).toContain('callers[0].limits.uploads');
    time.now += 10 * DAY;
    expect(await stored(state)).toBeUndefined();
  });

  it('is under the ceiling of now, though a higher one was stored before', async () => {
    const { replica, state } = lab({ callers: [{ match: { group: 'hr' }, limits: { uploads: 5 } }] });
    (await replica().begin(ADA))();
    await stored(state);
    const lowered = replica({ ceiling: { uploads: 1 } });
    await lowered.beginUpload('ada');
    await expect(lowered.beginUpload('ada')).rejects.toMatchObject({ facts: { limit: 'limits.uploads', allowed: 1 } });
  });
});

async function stored(state: StateStore): Promise<string | undefined> {
  const { nameFor } = await import('../../../gateway/quotas/allowances.js');
  return state.read(`allowance:${nameFor('ada')}`);
}
