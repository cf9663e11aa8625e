import { existsSync } from 'node:fs';
import { descriptorsExhausted } from '../../../gateway/errors/system.js';
import { GatewayError } from '../../../gateway/errors.js';
import { NO_INTERPRETER } from './find-command.js';

const KINDS: Readonly<Record<string, string>> = {
  ENOENT: 'its command was not found',
  [NO_INTERPRETER]: 'the interpreter that its command names was not found',
  EACCES: 'its command may not be executed',
  ENOEXEC: 'its command is not a program',
  E2BIG: 'its command line or environment is too long',
  EAGAIN: 'no more processes can be started here',
};

/**
 * The error for a server whose program could not be started. Clients see the kind of failure; the command and the
 * folder are in the cause, for the log.
 * @param isThere whether the system has the command all the same
 */
export function notStarted(server: string, cwd: string | undefined, cause: unknown, isThere = false): GatewayError {
  const exhausted = descriptorsExhausted(cause);
  if (exhausted) return exhausted;
  const { code } = (typeof cause === 'object' && cause !== null ? cause : {}) as { code?: unknown };
  // the system reports ENOENT for each of the three
  const lack = code === 'ENOENT' && isThere ? NO_INTERPRETER : code;
  const reason = typeof lack === 'string' ? KINDS[lack] : undefined;
  const noFolder = code === 'ENOENT' && cwd !== undefined && !existsSync(cwd);
  const told = noFolder ? 'its working directory does not exist' : reason;
  return new GatewayError('upstream_unreachable', told === undefined ? { server } : { server, reason: told }, cause);
}
