import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Ledger, UNSHARED } from '../../../../gateway/budget/ledger.js';
import { MadePreviews } from '../../../../gateway/files/previews/made-previews.js';
import type { Preview } from '../../../../gateway/ports/dialect.js';

const MINUTE = 60_000;
const MIB = 1024 * 1024;
const ANN = { principal: 'ann', server: 'shots' };

/** A picture with base64 of 100 kB. */
function picture(): Preview {
  return { facts: {}, image: { mimeType: 'image/jpeg', base64: 'a'.repeat(100_000), width: 4, height: 3 } };
}

/** @param total `limits.previewMemory` */
function lab({ total = 8 * MIB, sharing = UNSHARED } = {}) {
  const pictures = new Ledger({ limit: 'limits.previewMemory', total, sharing });
  return { made: new MadePreviews(pictures), pictures };
}

describe('previews that were made', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('are found with the same bytes, and no others', () => {
    const { made } = lab();
    const preview = picture();
    made.keep(ANN, 'one', preview);
    expect(made.find(ANN, 'one')).toBe(preview);
    expect(made.find(ANN, 'two')).toBeUndefined();
  });

  it.each([
    ['another caller', { principal: 'bob', server: 'shots' }],
    ['another server', { principal: 'ann', server: 'charts' }],
    ['a caller without a name', { server: 'shots' }],
  ])('are not found for %s', (_who, other) => {
    const { made } = lab();
    made.keep(ANN, 'one', picture());
    expect(made.find(other, 'one')).toBeUndefined();
  });

  it('stay as long as they are asked for, and go after a minute or two', () => {
    const { made, pictures } = lab();
    made.keep(ANN, 'one', picture());
    for (let minute = 0; minute < 9; minute++) {
      jest.advanceTimersByTime(MINUTE);
      expect(made.find(ANN, 'one')).toBeDefined();
    }
    jest.advanceTimersByTime(2 * MINUTE);
    expect(made.find(ANN, 'one')).toBeUndefined();
    expect(pictures.used).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('count in limits.previewMemory, of which they take an eighth at most', () => {
    const { made, pictures } = lab();
    for (let at = 0; at < 50; at++) made.keep(ANN, String(at), picture());
    expect(pictures.used).toBeLessThanOrEqual(MIB);
    expect(pictures.used).toBeGreaterThan(MIB / 2);
  });

  it('give way to newer ones of the same owner, the one first that was asked for longest ago', () => {
    const { made } = lab();
    made.keep(ANN, 'looked at', picture());
    for (let at = 0; at < 50; at++) {
      made.keep(ANN, String(at), picture());
      expect(made.find(ANN, 'looked at')).toBeDefined();
    }
    expect(made.find(ANN, '0')).toBeUndefined();
    expect(made.find(ANN, '49')).toBeDefined();
  });

  it('never give way to those of another owner', () => {
    const { made } = lab();
    for (let at = 0; at < 50; at++) made.keep(ANN, String(at), picture());
    made.keep({ principal: 'bob', server: 'shots' }, 'one', picture());
    expect(made.find({ principal: 'bob', server: 'shots' }, 'one')).toBeUndefined();
    expect(made.find(ANN, '49')).toBeDefined();
  });

  it('are not kept while pictures that wait for theirs take all of it', () => {
    const { made, pictures } = lab();
    pictures.take(8 * MIB, ANN);
    made.keep(ANN, 'one', picture());
    expect(made.find(ANN, 'one')).toBeUndefined();
    pictures.give(8 * MIB, ANN);
    made.keep(ANN, 'one', picture());
    expect(made.find(ANN, 'one')).toBeDefined();
  });

  it('of one caller leave room for those of others', () => {
    const { made } = lab({ sharing: { ratio: 0.25, principals: true, servers: false } });
    for (let at = 0; at < 50; at++) made.keep(ANN, String(at), picture());
    const bob = { principal: 'bob', server: 'shots' };
    made.keep(bob, 'one', picture());
    expect(made.find(bob, 'one')).toBeDefined();
  });

  it('are counted once when two calls make the same one', () => {
    const { made, pictures } = lab();
    made.keep(ANN, 'one', picture());
    const { used } = pictures;
    made.keep(ANN, 'one', picture());
    expect(pictures.used).toBe(used);
  });

  it('are kept only where there is a picture', () => {
    const { made } = lab();
    made.keep(ANN, 'one', { facts: {}, text: { of: 'lines', text: 'a,b', isWhole: true } });
    expect(made.find(ANN, 'one')).toBeUndefined();
  });
});
