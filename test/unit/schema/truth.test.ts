import { expect, it } from '@jest/globals';
import { count } from '../../../gateway/schema/truth.js';

it('what cannot be decided may hold or not', () => {
  expect(count([true, undefined, false, undefined])).toEqual({ least: 1, most: 3 });
});
