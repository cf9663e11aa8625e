import { GatewayError } from '../errors.js';

/**
 * The value of `WWW-Authenticate` for an error that asks for other credentials; undefined for any other error. All its
 * parts are the config's, or texts of this program, so that none needs to be escaped (RFC 6750 §3, RFC 9728 §5.1).
 */
export function challengeOf({ code, facts }: GatewayError): string | undefined {
  if (code === 'login_needed' || code === 'caller_forbidden') {
    // the server's own, or made of its parts
    return typeof facts.challenge === 'string' ? facts.challenge : undefined;
  }
  if (code !== 'unauthorized' && code !== 'insufficient_scope' && code !== 'credentials_invalid') return undefined;
  const parts = [
    code === 'credentials_invalid' && 'error="invalid_request"',
    code === 'insufficient_scope' && 'error="insufficient_scope"',
    code === 'unauthorized' && facts.reason !== undefined && 'error="invalid_token"',
    facts.reason !== undefined && `error_description="${facts.reason}"`,
    facts.scope !== undefined && facts.scope !== '' && `scope="${facts.scope}"`,
    facts.resourceMetadata !== undefined && `resource_metadata="${facts.resourceMetadata}"`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? 'Bearer' : `Bearer ${parts.join(', ')}`;
}

/** The error, with what its caller should ask an authorization server for. */
export function withChallenge(error: GatewayError, scope: readonly string[], resourceMetadata: string): GatewayError {
  if (challengeOf(error) === undefined) return error;
  return new GatewayError(error.code, { ...error.facts, scope: scope.join(' '), resourceMetadata }, error.cause);
}
