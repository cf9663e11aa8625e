import { GatewayError } from '../../../gateway/errors.js';
import { WireError } from '../../../gateway/wire/errors.js';
import { CLOSED } from '../../http/broken.js';
import { unreachable } from '../common/unreachable.js';

function codeOf(error: object): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

/**
 * Why no head arrived. A WireError means that the answer was not HTTP. A broken connection that had been open is
 * `upstream_closed`. Everything else (DNS, refused, certificate) means that the server is unreachable.
 */
export function headFailure(server: string, error: Error): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof WireError) {
    return new GatewayError('upstream_invalid', { server, reason: 'its answer is not valid HTTP' }, error);
  }
  const code = codeOf(error);
  const { syscall } = error as NodeJS.ErrnoException;
  const wasOpen = CLOSED.has(code) && syscall !== 'connect';
  return wasOpen ? new GatewayError('upstream_closed', { server }, error) : unreachable(server, error);
}

/** Why a body broke off. */
export function bodyFailure(server: string, error: unknown): GatewayError {
  return error instanceof GatewayError ? error : new GatewayError('upstream_closed', { server }, error);
}

/** The error of an aborted exchange: the abort's own GatewayError, otherwise `upstream_closed`. */
export function abortFailure(server: string, signal: AbortSignal): GatewayError {
  return bodyFailure(server, signal.reason);
}
