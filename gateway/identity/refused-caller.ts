import type { Identity } from '../ports/identity.js';

/** The cause of a refusal whose caller is known: its token is valid, but not for what it asks. */
export class RefusedCaller extends Error {
  override readonly name = 'RefusedCaller';
  readonly identity: Identity;

  constructor(identity: Identity) {
    super('the token is valid, but not for this');
    this.identity = identity;
  }
}
