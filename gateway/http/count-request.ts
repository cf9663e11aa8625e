import { type Ledger, refusalFacts } from '../budget/ledger.js';
import { GatewayError } from '../errors.js';
import type { Owner } from '../ports/owner.js';

/**
 * Counts a request of a principal's, as soon as it is known whose it is: otherwise one caller could keep every
 * connection busy.
 * @returns what it is counted for, to be given back when it is over
 * @throws GatewayError `sockets_full`
 */
export function countRequest(requests: Ledger, principal: string): Owner {
  const owner = { principal };
  const refusal = requests.take(1, owner);
  if (refusal) throw new GatewayError('sockets_full', refusalFacts(refusal));
  return owner;
}
