import { type Ledger, refusalFacts } from '../budget/ledger.js';
import { GatewayError } from '../errors.js';
import type { Owner } from '../ports/owner.js';

/**
 * Counts a request for its principal as soon as that is known: otherwise one caller could keep every connection busy.
 * @returns the owner it counts for, to be released when the request ends
 * @throws GatewayError `sockets_full`
 */
export function countRequest(requests: Ledger, principal: string): Owner {
  const owner = { principal };
  const refusal = requests.take(1, owner);
  if (refusal) throw new GatewayError('sockets_full', refusalFacts(refusal));
  return owner;
}
