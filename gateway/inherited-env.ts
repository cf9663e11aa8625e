/** What a program may need to run at all. Everything else in the environment may be another program's secret. */
const OF_UNIX = ['HOME', 'LANG', 'PATH', 'TMPDIR', 'USER'] as const;

/**
 * Without SYSTEMROOT a program finds no sockets, without PATHEXT `cmd.exe` finds no script, and each of the others leads to
 * what npm, uv or Python keep of a user. None is a secret.
 */
const OF_WINDOWS = [
  'APPDATA',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'PATH',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'TMP',
  'USERNAME',
  'USERPROFILE',
  'WINDIR',
] as const;

/** Names and values; on Windows names that differ only in their case are one. */
type Variables = Readonly<Record<string, string | undefined>>;

/** What a program gets of Wharf's environment, in words. */
export const INHERITED_WORDS =
  process.platform === 'win32'
    ? 'APPDATA, PATH, TEMP, USERPROFILE and what else Windows itself sets'
    : 'HOME, LANG, PATH, TMPDIR and USER';

/** The variables that every program gets which Wharf starts, under the names of the lists above. */
export function inheritedFrom(environment: Variables, platform: string = process.platform): Record<string, string> {
  const inherited: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (isInherited(name, platform) && value !== undefined) inherited[nameOn(platform, name)] = value;
  }
  return inherited;
}

/** The variables that only Wharf has: what names one of them may miss it. */
export function withheldFrom(environment: Variables, platform: string = process.platform): string[] {
  return Object.keys(environment).filter((name) => !isInherited(name, platform));
}

/** A program's whole environment: what it inherits, and over that what its config names. */
export function environmentOf(
  inherited: Variables,
  own: Readonly<Record<string, string>>,
  platform: string = process.platform,
): Record<string, string> {
  const all = inheritedFrom(inherited, platform);
  for (const [name, value] of Object.entries(own))
    all[isInherited(name, platform) ? nameOn(platform, name) : name] = value;
  return all;
}

function isInherited(name: string, platform: string): boolean {
  const names: readonly string[] = platform === 'win32' ? OF_WINDOWS : OF_UNIX;
  return names.includes(nameOn(platform, name));
}

/** Windows has `Path` and `SystemRoot`, and takes any case for them. */
function nameOn(platform: string, name: string): string {
  return platform === 'win32' ? name.toUpperCase() : name;
}
