import { describe, expect, it } from '@jest/globals';
import { Lately } from '../../../gateway/http/console/lately.js';
import { noFacts } from '../../../gateway/relay/exchange.js';

const TICKET = 'eLZIlAEcF63_J2MBXsEqOosYFsXn3le8JEI-bgT9Yv0';

describe('the last refusals, as the console shows them', () => {
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
