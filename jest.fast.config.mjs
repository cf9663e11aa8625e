import all from './jest.config.mjs';

/**
 * `npm run test:fast`: what needs neither a service nor a right: the unit and property suites, and the contract suites
 * of the stores in memory and on disk. How much less they do is WHARF_TEST_EFFORT, in test/helpers/effort.ts.
 */
const { globalSetup, globalTeardown, ...rest } = all;
process.env.WHARF_TEST_EFFORT ??= '0.02';

export default {
  ...rest,
  testMatch: ['**/unit/**/*.test.js', '**/property/**/*.test.js', '**/contract/*/{memory,filesystem}.test.js'],
  // measures turns of a gateway of its own, which takes a quiet machine
  testPathIgnorePatterns: ['property/event-loop'],
};
