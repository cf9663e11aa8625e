/**
 * The owner that something counts for: the principal that caused it and the server it concerns. A side that is unknown
 * or not involved is absent.
 */
export interface Owner {
  readonly principal?: string | undefined;
  /** Its name in the config. */
  readonly server?: string | undefined;
}

/** The owner of a call or of its answer, of which both sides are known. */
export interface CallOwner extends Owner {
  readonly principal: string;
  readonly server: string;
}

/** The two sides of an owner. */
export type OwnerSide = 'principal' | 'server';

/** How a total is shared. A side with only one member may take all of it. */
export interface Sharing {
  /** `limits.share`: the part of a total that one principal, or one server, may take. */
  readonly ratio: number;
  /** True when there can be several principals. */
  readonly principals: boolean;
  /** True when there are several servers. */
  readonly servers: boolean;
}
