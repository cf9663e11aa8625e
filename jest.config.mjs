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
  // most of a suite is waiting for other processes and for limits of time: three used 1.3 of two cores. Five would leave
  // too little for processes of previews, which yield to all others
  maxWorkers: 4,
  // modules of ES are never given back: a worker that ran a hundred suites had 4.8 GB
  workerIdleMemoryLimit: '750MB',
};
