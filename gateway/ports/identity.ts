import type { IncomingHttpHeaders } from 'node:http';
import type { AuditToken } from './audit.js';

/** Who calls, as the config's `auth` has found out. */
export interface Identity {
  /** Who files, links, sessions and shares belong to. */
  readonly principal: string;
  /** How it is known. `absent`: Wharf acts for a caller that does not wait for the answer, of which only the name is kept. */
  readonly use: 'none' | 'apiKeys' | 'jwt' | 'passthrough' | 'console' | 'absent';
  /** The user of the console who tries a tool, for the audit log. */
  readonly actor?: string;
  /** The name of the API key. */
  readonly key?: string;
  /** From the claim that `auth.jwt.groups` names. */
  readonly groups: readonly string[];
  /** OAuth scopes of the token. */
  readonly scopes: readonly string[];
  /** The claims of a verified token. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** This caller without what a single request says: the same object in all requests with its credential. */
  readonly base?: Identity;
  /** The caller's own bearer. Never logged; no server gets it unless its `upstreamAuth` says so. */
  readonly token?: string;
  /** The `Authorization` that stands beside a key of Wharf's, whole: it is for the server behind, by `delegate` alone. */
  readonly authorization?: string;
  /** Where the resource that it has called is described (RFC 9728): a server alone has two addresses. */
  readonly metadataUrl?: string | undefined;
  /** Which verified token it was, for the audit log. */
  readonly login?: AuditToken;
}

/** What of a request tells who sends it. */
export interface CredentialRequest {
  readonly headers: IncomingHttpHeaders;
  /** As they came, because Node keeps only the first of several `Authorization` headers. */
  readonly rawHeaders: readonly string[];
  readonly url?: string | undefined;
  readonly socket?: { readonly remoteAddress?: string | undefined };
}

/**
 * Finds out who sends a request. It answers with a promise only where it must wait for something.
 * @param server name of the server that is asked for; undefined where none is
 * @throws GatewayError `unauthorized`
 */
export type Authenticate = (request: CredentialRequest, server?: string) => Identity | Promise<Identity>;
