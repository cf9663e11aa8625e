import { createHash } from 'node:crypto';
import { platform as systemPlatform } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Environment } from './expand.js';

/** What tells one gateway of this user from another: files that two share would be swept by the one as nobody's. */
export interface Identity {
  /** Real path of the config file. */
  file: string | undefined;
  /** The servers, where the command line names them. */
  servers: unknown;
  /** HOST:PORT; only one process at a time has it. */
  listen: string;
}

/**
 * Where a gateway keeps what nobody has chosen a place for: below the user's state folder, as each system has one, and
 * never in the working directory, which servers are often given.
 * @returns undefined where the user has no home
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
    // the XDG specification: a relative path is to be ignored
    return value !== undefined && isAbsolute(value) ? join(value, ...rest) : undefined;
  };
  if (platform === 'win32') return at('LOCALAPPDATA') ?? at('USERPROFILE', 'AppData', 'Local');
  const own = platform === 'darwin' ? ['Library', 'Application Support'] : ['.local', 'state'];
  return at('XDG_STATE_HOME') ?? at('HOME', ...own);
}
