import { createHash } from 'node:crypto';
import { platform as systemPlatform } from 'node:os';
import { join } from 'node:path';
import { userFolder } from '../user-folders.js';
import type { Environment } from './expand.js';

/**
 * What distinguishes one gateway of this user from another. If two shared files, each would sweep the other's as
 * orphans.
 */
interface Identity {
  /** Real path of the config file. */
  file: string | undefined;
  /** The servers, if the command line names them. */
  servers: unknown;
  /** HOST:PORT; only one process at a time can hold it. */
  listen: string;
}

/**
 * Where a gateway keeps its data if the operator has not chosen a place: below the user's state folder of the system,
 * never in the working directory, which servers often have access to.
 * @returns undefined if the user has no home
 */
export function stateFolder(
  identity: Identity,
  environment: Environment,
  platform = systemPlatform(),
): string | undefined {
  const base = userFolder('state', environment, platform);
  if (base === undefined) return undefined;
  const hash = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 16);
  return join(base, 'wharf', hash);
}
