import { isUint8Array } from 'node:util/types';
import { expect } from '@jest/globals';

/**
 * Bytes are equal when they are the same ones. Jest compares each of them as a property, which takes 15 s for a megabyte.
 * Loaded before every suite, by jest.config.mjs.
 */
function areEqualBytes(one: unknown, other: unknown): boolean | undefined {
  if (!isUint8Array(one) || !isUint8Array(other)) return undefined;
  // a Buffer and a plain array are compared as ever: for some matchers they differ
  if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return undefined;
  return Buffer.compare(one, other) === 0;
}

expect.addEqualityTesters([areEqualBytes]);
