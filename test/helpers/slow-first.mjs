import TestSequencer from '@jest/test-sequencer';

/**
 * Rooms whose suites take half a minute and more, most of it waiting. Begun last, such a suite kept one worker at work
 * for a minute and a half after the others had ended.
 */
const SLOW = /\/(faults|matrix|e2e\/(browser|cut|uploads))\//;

/**
 * On a clean checkout Jest knows no durations and begins with the largest files, which are not the slowest. Where it
 * remembers them, its own order stays.
 */
export default class SlowFirst extends TestSequencer {
  async sort(tests) {
    const sorted = await super.sort(tests);
    if (sorted.some(({ duration }) => duration !== undefined)) return sorted;
    const isSlow = ({ path }) => SLOW.test(path);
    return [...sorted.filter(isSlow), ...sorted.filter((test) => !isSlow(test))];
  }
}
