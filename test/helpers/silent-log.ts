import type { Log } from '../../gateway/ports/log.js';

/** A log that nobody reads. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLog,
};
