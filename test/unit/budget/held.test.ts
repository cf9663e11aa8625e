import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { HeldRequest, HeldTogether } from '../../../gateway/budget/held.js';
import { DEFAULT_LIMITS } from '../../../gateway/policy/limits.js';
import { inputLines } from '../../../gateway/stdio/input.js';
import { heldBudget } from '../../helpers/budgets.js';

const OWNER = { principal: 'ann', server: 'one' };
const SHARED = { ratio: 0.25, principals: true, servers: true };

describe('the held budget', () => {
  it('refuses past its limit and recovers', () => {
    const held = heldBudget(10);
    held.add(8, OWNER);
    expect(() => held.add(3, OWNER)).toThrow(expect.objectContaining({ code: 'held_full' }));
    held.add(-11, OWNER);
    expect(held.used).toBe(0);
    held.add(10, OWNER);
  });
});

describe('bytes that are held together', () => {
  it('are released together, also those that were too much', () => {
    const held = heldBudget(10);
    const together = new HeldTogether(held, OWNER);
    together.hold(8);
    expect(() => together.hold(3)).toThrow(expect.objectContaining({ code: 'held_full' }));
    expect(held.used).toBe(11);
    together.release();
    together.release();
    expect(held.used).toBe(0);
  });
});

describe('what a request counts of the held budget', () => {
  const MESSAGE = 100;

  it('is its bytes, and four times as many once it is longer than limits.message', () => {
    const held = heldBudget(10_000);
    const request = new HeldRequest(held, { message: MESSAGE }, OWNER);
    request.grow(60);
    request.grow(40);
    expect(held.used).toBe(100);
    request.grow(1);
    expect(held.used).toBe(404);
    request.grow(99);
    expect(held.used).toBe(800);
    request.release();
    request.release();
    expect(held.used).toBe(0);
  });

  it('counts until it is released, also where it was too much', () => {
    const held = heldBudget(300);
    const request = new HeldRequest(held, { message: MESSAGE }, OWNER);
    request.grow(100);
    expect(() => request.grow(1)).toThrow(expect.objectContaining({ code: 'held_full' }));
    request.release();
    expect(held.used).toBe(0);
  });

  it('is the same on standard input', async () => {
    const limits = { ...DEFAULT_LIMITS, message: 40_000 };
    const line = `{"id":1,"method":"tools/call","params":{"arguments":{"file":"${'A'.repeat(100_000)}"}}}`;
    const read = async (budget: number) => {
      const held = heldBudget(budget);
      const lines = [];
      for await (const one of inputLines(Readable.from([Buffer.from(`${line}\n`)]), limits, held, OWNER))
        lines.push(one);
      expect(held.used).toBe(0);
      return lines;
    };
    expect(await read(line.length * 4)).toEqual([{ bytes: Buffer.from(line) }]);
    expect(await read(line.length * 4 - 1)).toEqual([
      { error: expect.objectContaining({ code: 'held_full' }), id: '1' },
    ]);
  });
});

describe('a share of the held budget', () => {
  it('is told to its owner, and to the operator with the setting that says how large it is', () => {
    const held = heldBudget(100, SHARED);
    held.add(12, OWNER);
    held.add(12, { principal: 'ann', server: 'two' });
    const ofAnn = { principal: 'ann', server: 'three' };
    const text =
      'You already have your share of the messages under way here, 25 bytes. ' +
      'Try again when something of yours has ended.';
    const forOperator = `${text} [limits.held, limits.share = 0.25]`;
    expect(() => held.add(2, ofAnn)).toThrow(expect.objectContaining({ message: text, forOperator }));
    held.add(-2, ofAnn);
    held.add(12, { principal: 'bob', server: 'one' });
    const ofCid = { principal: 'cid', server: 'one' };
    expect(() => held.add(2, ofCid)).toThrow(
      'The server "one" already has its share of the messages under way here, 25 bytes.',
    );
    held.add(-2, ofCid);
    held.add(12, { principal: 'bob', server: 'two' });
  });
});
