import { descriptorsExhausted } from '../../../gateway/errors/system.js';
import { GatewayError } from '../../../gateway/errors.js';
import { UNTRUSTED } from '../../http/broken.js';

/**
 * The kind of failure, by the system's or the TLS library's code. Clients see it, so it names no address, no command
 * and nothing of the machine; these are in the cause, for the log.
 */
const KINDS: readonly [RegExp, string][] = [
  [/^ECONNREFUSED$/, 'connection refused'],
  [/^(?:ENOTFOUND|EAI_)/, 'its host name is not known'],
  [/^(?:ETIMEDOUT|ERR_SOCKET_CONNECTION_TIMEOUT)$/, 'no connection in time'],
  [/^(?:EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL)$/, 'no route to its host'],
  [/^(?:ECONNRESET|ECONNABORTED|EPIPE)$/, 'the connection was closed at once'],
  [/^CERT_HAS_EXPIRED$/, 'its certificate has expired'],
  [/^CERT_NOT_YET_VALID$/, 'its certificate is not valid yet'],
  [/^(?:ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/, 'its certificate is for another host'],
  [UNTRUSTED, 'its certificate is not trusted'],
  [/^(?:EPROTO|ERR_SSL_|ERR_TLS_)/, 'no TLS connection could be made'],
];

/** The error for a server that could not be connected to, unless Wharf itself is out of connections. */
export function unreachable(server: string, cause: unknown): GatewayError {
  const exhausted = descriptorsExhausted(cause);
  if (exhausted) return exhausted;
  const code = codeOf(cause);
  const reason = KINDS.find(([codes]) => codes.test(code))?.[1];
  return new GatewayError('upstream_unreachable', reason === undefined ? { server } : { server, reason }, cause);
}

/** An error's code; for an error that combines several attempts, one per address, the code of the first. */
function codeOf(error: unknown): string {
  const { code, errors } = (typeof error === 'object' && error !== null ? error : {}) as AggregateError & {
    code?: unknown;
  };
  if (typeof code === 'string') return code;
  return Array.isArray(errors) && errors.length > 0 ? codeOf(errors[0]) : '';
}
