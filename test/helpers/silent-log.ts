import type { Log } from '../../gateway/ports/log.js';

/** A log that keeps nothing. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLog,
};
