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
  // modules of ES are never given back, and each collection of garbage marks all that are left of earlier suites: with up to
  // 750 MB of them a suite of large bodies took 22 s of processor time, which takes 7 s in a new worker
  workerIdleMemoryLimit: '200MB',
};
