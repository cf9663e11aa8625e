import type { Log } from './ports/log.js';

/**
 * SIGHUP, from a closing terminal or an operator, would end the process and every running call. Wharf does not reload
 * anything on it, and the log says so.
 */
export function goOnAfterHangUp(log: Pick<Log, 'warn'>): void {
  process.on('SIGHUP', () => {
    log.warn({ signal: 'SIGHUP' }, 'Nothing is reloaded: Wharf reads its config only at the start. It keeps running.');
  });
}
