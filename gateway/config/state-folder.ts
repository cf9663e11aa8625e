import { createHash } from 'node:crypto';
import { platform as systemPlatform } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Environment } from './expand.js';

/**
 * What distinguishes one gateway of this user from another. If two shared files, each would sweep the other's as
 * orphans.
 */
export interface Identity {
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
  const base = stateHome(environment, platform);
  if (base === undefined) return undefined;
  const hash = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 16);
  return join(base, 'wharf', hash);
}

function stateHome(environment: Environment, platform: string): string | undefined {
  const at = (name: string, ...rest: string[]) => {
    const value = environment[name];
    // XDG specification: a relative path must be ignored
    return value !== undefined && isAbsolute(value) ? join(value, ...rest) : undefined;
  };
  if (platform === 'win32') return at('LOCALAPPDATA') ?? at('USERPROFILE', 'AppData', 'Local');
  const own = platform === 'darwin' ? ['Library', 'Application Support'] : ['.local', 'state'];
  return at('XDG_STATE_HOME') ?? at('HOME', ...own);
}
