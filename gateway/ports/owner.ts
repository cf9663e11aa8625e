/**
 * Who something is counted for, beside the whole process: the principal that caused it and the server it is about.
 * A side that is not known, or that has no part in it, is left out.
 */
export interface Owner {
  readonly principal?: string | undefined;
  /** Its name in the config. */
  readonly server?: string | undefined;
}

/** The two sides of an owner. */
export type OwnerSide = 'principal' | 'server';

/** How a total is shared. A side of which there is only one has nobody to share with, and may take all of it. */
export interface Sharing {
  /** `limits.share`: the part of a total that one principal, or one server, may take. */
  readonly ratio: number;
  /** Whether there can be more than one principal. */
  readonly principals: boolean;
  /** Whether there is more than one server. */
  readonly servers: boolean;
}
