/** The suites run as compiled by `npm run build`: what is tested is what is shipped. */
export default {
  rootDir: 'dist/test',
  testEnvironment: 'node',
  transform: {},
  testMatch: ['**/*.test.js'],
  globalSetup: './helpers/global-setup.js',
  globalTeardown: './helpers/global-teardown.js',
  testTimeout: 30_000,
  maxWorkers: 2,
};
