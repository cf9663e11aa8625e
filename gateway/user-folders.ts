import { isAbsolute, join } from 'node:path';

/** What a program keeps for a user: what it needs again, and what it can make again. */
type UserFolder = 'state' | 'cache';

interface Place {
  /** The variable of the XDG base directory specification. */
  xdg: string;
  /** Below the user's home. */
  unix: readonly string[];
  darwin: readonly string[];
}

const PLACES: Readonly<Record<UserFolder, Place>> = {
  state: { xdg: 'XDG_STATE_HOME', unix: ['.local', 'state'], darwin: ['Library', 'Application Support'] },
  cache: { xdg: 'XDG_CACHE_HOME', unix: ['.cache'], darwin: ['Library', 'Caches'] },
};

/** The folder in which the system wants it. @returns undefined if the user has no home */
export function userFolder(
  kind: UserFolder,
  environment: Readonly<NodeJS.ProcessEnv>,
  platform: string,
): string | undefined {
  const at = (name: string, ...rest: readonly string[]) => {
    const value = environment[name];
    // XDG specification: a relative path must be ignored
    return value !== undefined && isAbsolute(value) ? join(value, ...rest) : undefined;
  };
  if (platform === 'win32') return at('LOCALAPPDATA') ?? at('USERPROFILE', 'AppData', 'Local');
  const { xdg, unix, darwin } = PLACES[kind];
  return at(xdg) ?? at('HOME', ...(platform === 'darwin' ? darwin : unix));
}
