import { describe, expect, it } from '@jest/globals';
import { DEFAULT_LIMITS } from '../../../gateway/policy/limits.js';
import { lowestOf } from '../../../gateway/policy/message-limits.js';

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
