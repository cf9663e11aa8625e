import type { Log } from '../ports/log.js';

let cameEarly = false;

const note = (): void => {
  cameEarly = true;
};

/**
 * SIGHUP ends a process that does not handle it, and to a supervisor that is an end without a failure, after which it starts
 * nothing again. So one that comes while Wharf still starts is kept for what handles those that come later.
 */
export function keepHangUps(): void {
  process.on('SIGHUP', note);
}

/**
 * Handles each SIGHUP from now on, and one that was kept.
 * @returns ends that
 */
export function onHangUp(handle: () => void): () => void {
  process.on('SIGHUP', handle);
  process.off('SIGHUP', note);
  if (cameEarly) handle();
  cameEarly = false;
  return () => void process.off('SIGHUP', handle);
}

/**
 * SIGHUP, from a closing terminal or an operator, would end the process and every running call. Without a
 * config file there is nothing to reload, and the log says so.
 */
export function goOnAfterHangUp(log: Pick<Log, 'warn'>): void {
  onHangUp(() => log.warn({ signal: 'SIGHUP' }, 'There is no config file to reload. Wharf keeps running.'));
}
