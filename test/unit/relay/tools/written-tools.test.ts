import { describe, expect, it } from '@jest/globals';
import { Ledger, UNSHARED } from '../../../../gateway/budget/ledger.js';
import type { Sharing } from '../../../../gateway/ports/owner.js';
import { KeptViews } from '../../../../gateway/relay/tools/kept-views.js';

const KB = 1000;
const MOST = 100 * KB;
const ADA = { principal: 'ada', server: 'up' };

function keeping(sharing: Sharing = UNSHARED) {
  const time = { now: 0, ticks: () => time.now };
  const ledger = new Ledger({ limit: 'limits.catalog', total: MOST, sharing });
  const kept = new KeptViews<string>(ledger, time);
  const keep = (key: string, bytes = 10 * KB, owner = ADA) => {
    time.now += 1;
    kept.written.keep(owner, key, { text: Buffer.alloc(bytes, key), isPersonal: false });
  };
  const has = (key: string, server = 'up') => kept.written.find(server, key) !== undefined;
  return { time, ledger, kept, keep, has };
}

const keys = (count: number) => Array.from({ length: count }, (_, at) => `key${at}`);

describe('tools as clients see them', () => {
  it('are kept with bytes of their own, or as being what the server wrote', () => {
    const { kept } = keeping();
    const text = Buffer.from('shown');
    kept.written.keep(ADA, 'changed', { text, isPersonal: true });
    kept.written.keep(ADA, 'same', { text: undefined, isPersonal: false });
    text.fill('x');
    expect(kept.written.find('up', 'changed')).toMatchObject({ text: Buffer.from('shown'), isPersonal: true });
    expect(kept.written.find('up', 'same')).toMatchObject({ text: undefined, isPersonal: false });
    expect(kept.written.find('other', 'same')).toBeUndefined();
  });

  it('never take more than the total: the ones unused longest go, of whichever server', () => {
    const { ledger, keep, has } = keeping();
    keep('first', 10 * KB, { principal: 'ada', server: 'other' });
    for (const key of keys(50)) {
      keep(key);
      expect(ledger.used).toBeLessThanOrEqual(MOST);
      expect(has('key0')).toBe(true);
    }
    expect([has('first', 'other'), has('key40'), has('key49')]).toEqual([false, false, true]);
  });

  it('of one server never take the room of the others', () => {
    const { ledger, keep, has } = keeping({ ratio: 0.25, principals: false, servers: true });
    keep('good', 10 * KB, { principal: 'ada', server: 'other' });
    for (const key of keys(50)) keep(key);
    expect(ledger.usedBy('server', 'up')).toBeLessThanOrEqual(MOST / 4);
    expect([has('good', 'other'), has('key0'), has('key49')]).toEqual([true, false, true]);
  });

  it('of one caller never take the room of the others', () => {
    const { ledger, keep, has } = keeping({ ratio: 0.25, principals: true, servers: false });
    const bob = { principal: 'bob', server: 'up' };
    keep('good', 10 * KB);
    for (const key of keys(50)) keep(key, 10 * KB, bob);
    expect(ledger.usedBy('principal', 'bob')).toBeLessThanOrEqual(MOST / 4);
    expect([has('good'), has('key0'), has('key49')]).toEqual([true, true, false]);
  });

  it('are dropped five minutes after their last use, when others are kept', () => {
    const { time, keep, has } = keeping();
    for (const key of ['unused', 'used']) keep(key);
    time.now = 4 * 60_000;
    expect(has('used')).toBe(true);
    time.now = 6 * 60_000;
    keep('other');
    expect([has('unused'), has('used')]).toEqual([false, true]);
  });

  it('make room for what is known of tools, and never take it from that', () => {
    const { ledger, kept, keep, has } = keeping();
    const view = kept.open('up', 'v');
    kept.keep(view, 'tool', 'x'.repeat(20 * KB), MOST);
    for (const key of keys(20)) keep(key);
    expect([view.get('tool') !== undefined, has('key19')]).toEqual([true, true]);
    kept.keep(kept.open('up', 'w'), 'tool', 'y'.repeat(25 * KB), MOST);
    expect(kept.find('up', 'v')?.get('tool')).toBeDefined();
    expect(kept.find('up', 'w')?.get('tool')).toBeDefined();
    expect([has('key15'), ledger.used <= MOST]).toEqual([false, true]);
    keep('too long', MOST);
    expect([has('too long'), kept.find('up', 'v') !== undefined]).toEqual([false, true]);
  });

  it('go with their server, and are counted exactly', () => {
    const { ledger, kept, keep, has } = keeping();
    for (const key of ['a', 'b', 'a']) keep(key);
    keep('a', 10 * KB, { principal: 'ada', server: 'other' });
    const [all, ofOther] = [ledger.used, ledger.usedBy('server', 'other')];
    expect(all).toBe(3 * ofOther);
    kept.forgetServer('up');
    expect([has('a'), has('b'), has('a', 'other'), ledger.used]).toEqual([false, false, true, ofOther]);
    kept.forgetServer('other');
    expect(ledger.used).toBe(0);
  });
});
