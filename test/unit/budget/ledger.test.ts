import { describe, expect, it } from '@jest/globals';
import { Ledger, UNSHARED } from '../../../gateway/budget/ledger.js';
import type { Sharing } from '../../../gateway/ports/owner.js';

const SHARED: Sharing = { ratio: 0.25, principals: true, servers: true };
const ann = { principal: 'ann', server: 'one' };

const ledger = (sharing: Sharing, unit = 1) => new Ledger({ limit: 'limits.held', total: 100, sharing, unit });

describe('a ledger', () => {
  it('lets no principal and no server take more than its share, and says which of them is full', () => {
    const held = ledger(SHARED);
    expect(held.take(12, ann)).toBeUndefined();
    expect(held.take(12, { principal: 'ann', server: 'two' })).toBeUndefined();
    expect(held.take(2, { principal: 'ann', server: 'three' })).toEqual({
      full: 'principal',
      limit: 'limits.held',
      allowed: 25,
      actual: 26,
      share: 0.25,
    });
    expect(held.take(12, { principal: 'bob', server: 'one' })).toBeUndefined();
    expect(held.take(2, { principal: 'cid', server: 'one' })).toEqual({
      full: 'server',
      limit: 'limits.held',
      allowed: 25,
      actual: 26,
      share: 0.25,
      server: 'one',
    });
    expect(held.used).toBe(36);
    expect(held.largest('principal')).toBe(24);
  });

  it('lets no principal take all that a server may have', () => {
    const held = ledger(SHARED);
    expect(held.take(12, ann)).toBeUndefined();
    const refusal = { full: 'principal', limit: 'limits.held', allowed: 12, actual: 13, share: 0.25 };
    expect(held.take(1, ann)).toEqual(refusal);
    expect(held.take(12, { principal: 'bob', server: 'one' })).toBeUndefined();
    held.give(12, ann);
    expect(held.take(12, ann)).toBeUndefined();
  });

  it('says when it is the whole process that is full', () => {
    const held = ledger(SHARED);
    for (const principal of ['a', 'b', 'c', 'd']) expect(held.take(25, { principal })).toBeUndefined();
    expect(held.take(1, { principal: 'e', server: 'e' })).toEqual({
      full: 'process',
      limit: 'limits.held',
      allowed: 100,
      actual: 101,
    });
  });

  it.each([
    ['the only principal', { ...SHARED, principals: false }, { principal: 'ann' }],
    ['the only server', { ...SHARED, servers: false }, { server: 'one' }],
    ['what has no owner', SHARED, {}],
  ])('lets %s take all', (_, sharing, owner) => {
    const held = ledger(sharing);
    expect(held.take(100, owner)).toBeUndefined();
    expect(held.take(1, owner)).toMatchObject({ full: 'process', allowed: 100, actual: 101 });
  });

  it('has room in each share for what one honest use needs, and never for more than the total', () => {
    const large = ledger(SHARED, 60);
    expect(large.take(60, ann)).toBeUndefined();
    expect(large.take(1, ann)).toMatchObject({ full: 'principal', allowed: 60 });
    expect(ledger(SHARED, 1000).allowed('server')).toBe(100);
  });

  it('counts what is there already even where it refuses it', () => {
    const held = ledger(SHARED);
    expect(held.add(30, ann)).toMatchObject({ full: 'principal', actual: 30 });
    expect(held.used).toBe(30);
    held.give(30, ann);
    expect(held.used).toBe(0);
    expect(held.add(12, ann)).toBeUndefined();
  });

  it('forgets an owner that has nothing left', () => {
    const held = ledger(UNSHARED);
    held.take(5, ann);
    held.give(5, ann);
    expect(held.usedBy('principal', 'ann')).toBe(0);
    expect(held.largest('server')).toBe(0);
  });

  it('counts against another total from one moment to the next, and keeps what is in use', () => {
    const held = ledger(UNSHARED);
    expect(held.take(80, ann)).toBeUndefined();
    held.resize({ total: 50 });
    expect(held.take(1, ann)).toMatchObject({ full: 'process', allowed: 50, actual: 81 });
    held.give(40, ann);
    expect(held.take(10, ann)).toBeUndefined();
    held.resize({ total: 1000 });
    expect(held.take(900, ann)).toBeUndefined();
    expect(held.used).toBe(950);
  });
});
