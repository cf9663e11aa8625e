import { describe, expect, it } from '@jest/globals';
import { passedText } from '../../../gateway/policy/passed-limit.js';

describe('by how much a limit was passed', () => {
  it.each([
    ['limits.message', 2048, 3098, '2 kB, was 3.1 kB'],
    ['limits.file', 100_000_000, 100_000_001, '100000000 bytes, was 100000001 bytes'],
    ['limits.storedBytes', 5_000_000_000, 5_200_000_000, '5 GB, was 5.2 GB'],
    ['servers.hr.accepts', 102_400, 200_000, '102.4 kB, was 200 kB'],
    ['maxSize of the argument', 1000, 2000, '1 kB, was 2 kB'],
    ['limits.leastRate', 8192, 12, '8.2 kB, was 12 bytes'],
    ['timeouts.upstream', 600_000, undefined, '10 min'],
    ['limits.requestsPerMinute', 60, 61, '60, was 61'],
    ['limits.files', 100, 101, '100, was 101'],
    ['limits.response', 1_000_000, undefined, '1 MB'],
    ['constructor', 1, 2, '1, was 2'],
  ])('is said in the unit of %s', (limit, allowed, actual, text) => {
    expect(passedText({ limit, allowed, actual })).toBe(text);
  });

  it('is not said where it is not known', () => {
    expect(passedText({ limit: 'limits.accept' })).toBe('');
  });
});
