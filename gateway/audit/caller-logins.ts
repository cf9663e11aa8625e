import { asGatewayError, type GatewayError } from '../errors.js';
import { isToken, KEY_HEADER } from '../identity/bearer.js';
import { RefusedCaller } from '../identity/refused-caller.js';
import { claimedLogin } from '../identity/token-login.js';
import type { Audit, AuditEntry } from '../ports/audit.js';
import type { Authenticate, CredentialRequest, Identity } from '../ports/identity.js';

/** The place in the config of the scopes that a token must have. */
export const SCOPES_RULE = 'auth.jwt.scopes';

/** Errors that refuse a credential. */
const REFUSALS: ReadonlySet<string> = new Set(['unauthorized', 'credentials_invalid', 'insufficient_scope']);

/** Whether an error means that a credential was refused, of which the audit log has a line already. */
export function refusesCredential(code: string): boolean {
  return REFUSALS.has(code);
}

/**
 * Adds to a function that finds out who calls: a line in the audit log for each token that is seen for the first time,
 * and for each credential that it refuses. The line of a token is written before anything is done for its caller.
 */
export function auditedLogins(audit: Audit, authenticate: Authenticate): Authenticate {
  if (!audit.isOn) return authenticate;
  return (request, server) => {
    try {
      const found = authenticate(request, server);
      if (!(found instanceof Promise)) return admitted(audit, found, request, server);
      return found
        .catch((error: unknown) => {
          throw refused(audit, error, request, server);
        })
        .then((identity) => admitted(audit, identity, request, server));
    } catch (error) {
      throw refused(audit, error, request, server);
    }
  };
}

function admitted(
  audit: Audit,
  identity: Identity,
  request: CredentialRequest,
  server: string | undefined,
): Identity | Promise<Identity> {
  const { login: token, principal } = identity;
  if (!token) return identity;
  const about = { what: 'login', subject: 'token', principal, token, server, address: addressOf(request) } as const;
  const written = audit.once(`${principal}\n${token.client}\n${token.id}`, { ...about, allowed: true });
  return written ? written.then(() => identity) : identity;
}

/** @returns the error, once it is noted */
function refused(audit: Audit, thrown: unknown, request: CredentialRequest, server: string | undefined): unknown {
  const error = asGatewayError(thrown);
  if (!refusesCredential(error.code)) return thrown;
  const about = { what: 'login', server, address: addressOf(request), allowed: false, code: error.code } as const;
  audit.note({ ...about, ...whyRefused(error, request) });
  return thrown;
}

function whyRefused(
  { code, facts, cause }: GatewayError,
  { headers }: CredentialRequest,
): Pick<AuditEntry, 'rule' | 'reason' | 'principal' | 'token'> {
  const own = headers[KEY_HEADER];
  const bearer = own === undefined ? /^bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] : undefined;
  const isAboutToken = bearer !== undefined && isToken(bearer) && facts.reason !== undefined;
  const isAbsent = own === undefined && headers.authorization === undefined;
  const reason = facts.reason ?? (isAbsent ? 'there is no credential' : 'it is not a credential that is known here');
  const known = cause instanceof RefusedCaller ? cause.identity : undefined;
  return {
    rule: code === 'insufficient_scope' ? SCOPES_RULE : isAboutToken ? 'auth.jwt' : 'auth',
    reason: String(reason),
    ...(known && { principal: known.principal, token: known.login }),
    ...(isAboutToken && !known && { token: claimedLogin(bearer) }),
  };
}

function addressOf({ socket }: CredentialRequest): string | undefined {
  return socket?.remoteAddress;
}
