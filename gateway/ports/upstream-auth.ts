import type { Identity } from './identity.js';

/** What a server is told about who calls, for each request that Wharf sends it. */
export interface UpstreamCredentials {
  /** True when `Authorization` comes from the caller, so that the server's refusals are the caller's as well. */
  readonly isCallers: boolean;
  /**
   * The headers of a request, with lower-case names. No promise where none is needed.
   * @param identity the caller; undefined for what Wharf asks for itself
   * @throws GatewayError `upstream_login_failed`, `upstream_login_needed`
   */
  headersFor(identity: Identity | undefined): Record<string, string> | Promise<Record<string, string>>;
  /**
   * The server has refused these headers.
   * @returns the headers to try once more with; undefined when they would be the same
   * @throws GatewayError `upstream_login_failed`, `upstream_login_needed`
   */
  refused(identity: Identity | undefined, sent: Record<string, string>): Promise<Record<string, string> | undefined>;
  /**
   * The server has refused these too, which it was tried once more with.
   * @returns true when they were found and not renewed, so that `refused` may still have some that hold
   */
  refusedAgain(identity: Identity | undefined, sent: Record<string, string>): boolean;
  /** Drops what this process keeps of them, because the server has gone. */
  forget(): void;
}
