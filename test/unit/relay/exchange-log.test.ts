import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../../gateway/errors.js';
import { type Exchange, noFacts } from '../../../gateway/relay/exchange.js';
import { noteFailure } from '../../../gateway/relay/exchange-log.js';
import { silentLog } from '../../helpers/silent-log.js';

describe('an exchange that failed', () => {
  const fail = (hasGone: boolean, thrown: unknown) => {
    const gone = new AbortController();
    if (hasGone) gone.abort();
    const counted: unknown[] = [];
    const metrics = {
      count: (...args: unknown[]) => void counted.push(args),
      observe: () => undefined,
      gauge: () => undefined,
    };
    const exchange = { facts: noFacts(), signal: gone.signal } as Exchange;
    noteFailure({ log: silentLog, metrics }, thrown, exchange);
    return { error: exchange.facts.error, limit: exchange.facts.limit, counted };
  };

  it('because its client has gone is no fault of Wharf and no error', () => {
    const thrown = new GatewayError('internal', {}, 'the client has gone');
    expect(fail(true, thrown)).toEqual({ error: 'client_gone', limit: undefined, counted: [] });
  });

  it('for another reason has the code that its client is told', () => {
    const thrown = new GatewayError('held_full', { limit: 'limits.held', allowed: 1, actual: 2, full: 'process' });
    const counted = [['wharf_errors_total', { code: 'held_full' }]];
    expect(fail(false, thrown)).toEqual({ error: 'held_full', limit: 'limits.held', counted });
  });
});
