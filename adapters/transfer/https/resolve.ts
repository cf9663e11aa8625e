import { lookup, Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { judgeAddresses, type Target } from '../../../gateway/policy/addresses.js';
import { failed, forbidden } from './failure.js';

/** Finds the addresses of a name; rejects, or returns an empty list, when it has none. */
export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

/** Time-out of one query to one name server, and the number of attempts. */
const DNS_MS = 3000;
const DNS_TRIES = 2;

/** Connections are tried in turn; later addresses of a name are ignored. */
const MAX_ADDRESSES = 8;

/**
 * Queries the name servers. Not getaddrinfo: a hostile name server could occupy all four threads, which file access
 * needs too.
 * @param servers instead of the system's, for tests
 */
export const askNameServers = async (host: string, signal: AbortSignal, servers?: string[]): Promise<string[]> => {
  const resolver = new Resolver({ timeout: DNS_MS, tries: DNS_TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  const cancel = (): void => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const [first] = answers;
    if (found.length === 0 && first?.status === 'rejected') throw first.reason;
    return found;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
};

/**
 * Uses the system's resolver, including hosts file and search domains, like the MCP connection: the operator named this
 * host, or it is localhost.
 */
export const askSystem: Resolve = async (host) => {
  const answers = await lookup(host, { all: true });
  return answers.map(({ address }) => address);
};

/**
 * The addresses of a target, all of them judged. The connection is pinned to them, so a name that changes afterwards
 * has no effect.
 * @throws GatewayError `fetch_forbidden`, `fetch_failed`
 */
export async function resolveTarget(target: Target, resolve: Resolve, signal: AbortSignal): Promise<string[]> {
  if (target.literal) return [target.host];
  let addresses: readonly string[];
  try {
    addresses = await resolve(target.host, signal);
  } catch (error) {
    throw failed(target.authority, 'its name cannot be resolved', error);
  }
  if (addresses.length === 0) throw failed(target.authority, 'its name cannot be resolved');
  const refusal = judgeAddresses(target, addresses);
  if (refusal !== undefined) throw forbidden(refusal);
  return addresses.slice(0, MAX_ADDRESSES);
}

/** A `lookup` for node:net with a fixed answer. */
export function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  return (_host, options, callback) => {
    const fitting = found.filter(({ family }) => !options.family || options.family === family);
    const [first] = fitting;
    if (first === undefined) callback(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), '');
    else if (options.all) callback(null, fitting);
    else callback(null, first.address, first.family);
  };
}
