import type { Log } from '../ports/log.js';

/**
 * SIGHUP, from a closing terminal or an operator, would end the process and every running call. Without a
 * config file there is nothing to reload, and the log says so.
 */
export function goOnAfterHangUp(log: Pick<Log, 'warn'>): void {
  process.on('SIGHUP', () => {
    log.warn({ signal: 'SIGHUP' }, 'There is no config file to reload. Wharf keeps running.');
  });
}
