import { describe, expect, it } from '@jest/globals';
import { Lately } from '../../../gateway/http/console/lately.js';
import { noFacts } from '../../../gateway/relay/exchange.js';

const TICKET = 'eLZIlAEcF63_J2MBXsEqOosYFsXn3le8JEI-bgT9Yv0';

describe('the last refusals, as the console shows them', () => {
  it('are one where a caller is refused the same again and again, which drives out no other', () => {
    let now = 1000;
    const lately = new Lately({ now: () => now });
    const note = (principal: string, actual: number) =>
      lately.note('s', {
        principal,
        facts: { ...noFacts(), error: 'rate_limited', limit: 'limits.requestsPerMinute', allowed: 60, actual },
      });
    note('ann', 61);
    for (let n = 1; n <= 300; n += 1) {
      now += 1000;
      note('ci', 60 + n);
    }
    const [last, first] = lately.refusals;
    expect(lately.refusals).toHaveLength(2);
    expect(last).toMatchObject({ principal: 'ci', times: 300, since: 2000, at: 301_000, actual: 360 });
    expect(first).toMatchObject({ principal: 'ann', times: 1, at: 1000 });
  });

  it('are two hundred at the most, the newest first', () => {
    const lately = new Lately({ now: () => 1000 });
    for (let n = 0; n <= 200; n += 1)
      lately.note('s', { principal: `p${n}`, facts: { ...noFacts(), error: 'rate_limited' } });
    expect(lately.refusals.map(({ principal }) => principal)).toEqual(
      Array.from({ length: 200 }, (_, at) => `p${200 - at}`),
    );
  });

  it('name the place in the config that refused them, where the name of the limit does not say it', () => {
    const lately = new Lately({ now: () => 1000 });
    const note = (facts: object) => lately.note('s', { principal: 'p', facts: { ...noFacts(), ...facts } });
    const limit = 'limits.requestsPerMinute';
    note({ error: 'rate_limited', limit, source: 'servers.hr.tools.echo.limits.requestsPerMinute', allowed: 3 });
    note({ error: 'rate_limited', limit, allowed: 3 });
    note({ error: 'tool_unknown', rule: 'servers.hr.allow' });
    expect(lately.refusals.map(({ rule }) => rule)).toEqual([
      'servers.hr.allow',
      undefined,
      'servers.hr.tools.echo.limits.requestsPerMinute',
    ]);
  });

  it('name a resource without the right that its link is', () => {
    const lately = new Lately({ now: () => 1000 });
    const facts = { ...noFacts(), error: 'stream_refused' as const };
    const links = [`https://w.example/u/${TICKET}`, `https://s3.example/b/f?X-Amz-Signature=${TICKET}`];
    for (const name of links)
      for (const field of ['name', 'method', 'client'])
        lately.note('s', { principal: 'p', facts: { ...facts, [field]: name } });
    expect(lately.refusals).toHaveLength(6);
    expect(JSON.stringify(lately.refusals)).not.toContain(TICKET);
    expect(lately.refusals.at(-1)?.name).toBe('https://w.example/u/[redacted]');
  });
});
