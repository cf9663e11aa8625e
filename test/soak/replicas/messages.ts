/** What the process of the clients tells, beside each call, and what it is told. */

/** Once, when every client has left and what they were given has been asked for again. */
export interface Found {
  type: 'found';
  /** Links that were handed out, and uploads that were acknowledged. */
  links: number;
  uploads: number;
  /** Why each of those is not what it was. */
  lost: readonly string[];
  /** Files that were refused, or belong to another caller. */
  refused: number;
  /** Each of those that could be read. */
  readable: readonly string[];
}

/** Lets the clients leave, and asks for everything again. */
export const LEAVE = 'leave';
