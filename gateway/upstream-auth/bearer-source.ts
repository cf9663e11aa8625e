import type { Identity } from '../ports/identity.js';

/** Where the bearer of a server's requests comes from. */
export interface BearerSource {
  /** True when it is the caller's own. */
  readonly isCallers: boolean;
  /** True when it is a whole `Authorization`, with its scheme. */
  readonly isWhole?: boolean;
  /**
   * The bearer for a caller; undefined: the server is asked without one.
   * @throws GatewayError `upstream_login_failed`
   */
  bearer(identity: Identity | undefined): string | undefined | Promise<string | undefined>;
  /**
   * Another bearer, because the server has refused this one.
   * @returns undefined when there is no other
   * @throws GatewayError `upstream_login_failed`, `upstream_login_needed`
   */
  another(identity: Identity | undefined, refused: string | undefined): Promise<string | undefined>;
  /**
   * The server has refused this one too, which it was given instead of another one. Absent where nothing is renewed.
   * @returns true when it was not renewed for that, so that `another` may still find one that holds
   */
  refusedAgain?(identity: Identity | undefined, bearer: string): boolean;
  /** Drops what this process keeps for it, because the server has gone. Absent where nothing is kept. */
  forget?(): void;
}
