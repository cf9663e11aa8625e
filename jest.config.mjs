/** The suites run as compiled by `npm run build`: what is tested is what is shipped. */
export default {
  rootDir: 'dist/test',
  testEnvironment: 'node',
  transform: {},
  testMatch: ['**/*.test.js'],
  testSequencer: '<rootDir>/../../test/helpers/slow-first.mjs',
  globalSetup: './helpers/global-setup.js',
  globalTeardown: './helpers/global-teardown.js',
  setupFilesAfterEnv: ['./helpers/equal-bytes.js'],
  // room for a machine that is busy with other things: a test that hangs is found all the same
  testTimeout: 120_000,
  // most suites wait for other processes: two left 0.75 of two cores unused
  maxWorkers: 3,
  // modules of ES are never given back: a worker that ran a hundred suites had 4.8 GB
  workerIdleMemoryLimit: '1GB',
};
