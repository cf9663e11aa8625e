import type { Log } from './ports/log.js';

/**
 * SIGHUP, the end of a terminal or an operator's habit, would end the process and every call under way. Nothing is read
 * again yet, which the log says.
 */
export function goOnAfterHangUp(log: Pick<Log, 'warn'>): void {
  process.on('SIGHUP', () => {
    log.warn({ signal: 'SIGHUP' }, 'Nothing is reloaded: Wharf reads its config when it starts. It goes on.');
  });
}
