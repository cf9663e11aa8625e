import type { Identity } from '../ports/identity.js';
import type { BearerSource } from './bearer-source.js';

/**
 * The caller's own `Authorization` for the server, beside a key of Wharf's: of any scheme, as it came. A single credential
 * counts as Wharf's, and goes no further.
 */
export class Delegate implements BearerSource {
  readonly isCallers = true;
  readonly isWhole = true;

  bearer(identity: Identity | undefined): string | undefined {
    return identity?.use === 'apiKeys' ? identity.authorization : undefined;
  }

  async another(): Promise<undefined> {
    return undefined;
  }
}
