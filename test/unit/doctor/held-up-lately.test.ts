import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { HeldUp } from '../../../gateway/doctor/held-up.js';

const WITHIN_MS = 1000;

let now: number;
let held: HeldUp;

beforeEach(() => {
  now = 0;
  jest.useFakeTimers({ doNotFake: ['performance'] });
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  held = new HeldUp(WITHIN_MS);
});
afterEach(() => {
  held.end();
  jest.restoreAllMocks();
  jest.useRealTimers();
});

/** The next look at the time comes so late. */
function lookAfter(ms: number): void {
  now += ms;
  jest.advanceTimersToNextTimer();
}

it('a timer that is a little late holds up nothing', () => {
  for (let count = 0; count < 20; count++) lookAfter(50);
  expect(held.lately()).toBe(0);
});

it('all waits of late count together', () => {
  lookAfter(250);
  lookAfter(25);
  lookAfter(150);
  expect(held.lately()).toBe(300);
});

it('a wait counts until its end is longer ago than it looks back', () => {
  lookAfter(250);
  for (let count = 0; count < 40; count++) lookAfter(25);
  expect(held.lately()).toBe(200);
  lookAfter(25);
  expect(held.lately()).toBe(0);
});

it('a wait that has not ended yet counts too', () => {
  now += 450;
  expect(held.lately()).toBe(400);
});
