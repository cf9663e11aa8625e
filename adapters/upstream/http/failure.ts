import { GatewayError } from '../../../gateway/errors.js';
import { unreachable } from '../common/unreachable.js';

function codeOf(error: object): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** Errors of a connection that stood: the peer, or what lies between, ended it. */
const CLOSED: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ERR_STREAM_PREMATURE_CLOSE']);

/**
 * Why no head arrived. llhttp's codes say the answer was not HTTP; a broken connection that once stood is
 * `upstream_closed`; all the rest (DNS, refused, certificate) means that it cannot be reached.
 */
export function headFailure(server: string, error: Error): GatewayError {
  if (error instanceof GatewayError) return error;
  const code = codeOf(error);
  if (code.startsWith('HPE_')) {
    return new GatewayError('upstream_invalid', { server, reason: 'its answer is not valid HTTP' }, error);
  }
  const { syscall } = error as NodeJS.ErrnoException;
  const stood = CLOSED.has(code) && syscall !== 'connect';
  return stood ? new GatewayError('upstream_closed', { server }, error) : unreachable(server, error);
}

/** Why a body ended before its end. */
export function bodyFailure(server: string, error: unknown): GatewayError {
  return error instanceof GatewayError ? error : new GatewayError('upstream_closed', { server }, error);
}

/** What an aborted exchange ends with: the aborter's own GatewayError, or else `upstream_closed`. */
export function abortFailure(server: string, signal: AbortSignal): GatewayError {
  return bodyFailure(server, signal.reason);
}
