import type { ClientFacts } from '../../../ports/client.js';

/**
 * True where a model reads what a result says: a host that is known has one, and it reads nothing of base64. Behind any other
 * client may be a program that wants base64 which nothing declares.
 */
export function isReadByModel({ host }: Pick<ClientFacts, 'host'>): boolean {
  return host?.structured === 'drop' || host?.structured === 'with-blocks';
}
