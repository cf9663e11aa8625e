import { describe, expect, it } from '@jest/globals';
import { DEFAULT_LIMITS } from '../../../gateway/policy/limits.js';
import { acceptedWithin, keptLists, lowestOf } from '../../../gateway/policy/message-limits.js';

const SERVER = {
  ...DEFAULT_LIMITS,
  response: 5000,
  accept: [{ types: ['image/*'], source: 'servers.a.limits.accept' }],
};
const OF_KEY = { types: ['image/png'], source: 'auth.keys, a: limits.accept' };

describe('the limits of an exchange', () => {
  it('are the least of what server, caller and host say', () => {
    const limits = lowestOf(SERVER, { response: 3000, inlineImage: 10 }, { response: 4000, files: 2 });
    expect(limits).toEqual({ ...SERVER, response: 3000, inlineImage: 10, files: 2 });
    expect(lowestOf(SERVER, { response: 4000 }, { response: 3000 }).response).toBe(3000);
  });

  it('are never raised by any side', () => {
    expect(lowestOf(SERVER, { response: 6000 }, { message: Number.MAX_SAFE_INTEGER })).toBe(SERVER);
  });

  it('ask each list of media types', () => {
    expect(lowestOf(SERVER, { accept: [OF_KEY] }, {}).accept).toEqual([...SERVER.accept, OF_KEY]);
    expect(lowestOf(SERVER, {}).accept).toBe(SERVER.accept);
  });
});

describe('the lists of media types behind what a place accepts', () => {
  const named = ({ types, source }: typeof OF_KEY) => ({ types, source, limit: 'limits.accept' });
  const types = (count: number) => Array.from({ length: count }, (_, index) => `application/x-${index}`);

  it('are named beside what all of them accept', () => {
    const own = { types: ['image/png', 'text/csv'], limit: 'accept of the argument' };
    expect(acceptedWithin(own.types, [OF_KEY])).toEqual({ accept: ['image/png'], acceptBy: [own, named(OF_KEY)] });
    expect(acceptedWithin(undefined)).toEqual({});
  });

  it('are left out where a server writes long ones: clients get them in errors, and give them back in states', () => {
    const kept = { accept: ['image/png'], acceptBy: [named(OF_KEY)] };
    expect(acceptedWithin([...types(2000), 'image/png'], [OF_KEY])).toEqual(kept);
    expect(acceptedWithin(['image/png', `image/${'x'.repeat(300)}`], [OF_KEY])).toEqual(kept);
    expect(acceptedWithin(types(101))).toEqual({ accept: types(101) });
    const lists = [60, 41, 40].map((count) => ({ types: types(count), limit: 'accept' }));
    expect(keptLists(lists)).toEqual({ acceptBy: [lists[0], lists[2]] });
  });
});
