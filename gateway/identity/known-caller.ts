import type { Identity } from '../ports/identity.js';

/** The cause of a refusal whose caller is known: its token holds, but not for this. */
export class KnownCaller extends Error {
  override readonly name = 'KnownCaller';
  readonly identity: Identity;

  constructor(identity: Identity) {
    super('the token holds, but not for this');
    this.identity = identity;
  }
}
