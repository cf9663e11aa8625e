import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Choice, Config, ServerConfig } from './config.js';
import { type ConfigProblem, formatPath, type Path, problem } from './problems.js';

/** A folder that a server's tools may let its callers read and write. */
interface Given {
  /** Without symbolic links. */
  folder: string;
  /** In the config's spelling, without the text around it, which may have secrets. */
  written: string;
  path: Path;
}

/** Folders of the store itself, below the configured one. */
const OF_STORE = ['objects', 'tmp'];

/** Variables with a user's own folders, which a server does not serve. */
const OF_THE_USER = new Set(['HOME', 'PATH', 'TMPDIR', 'PWD', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA', 'TEMP', 'TMP']);

/** Windows takes any case for them. */
function isOfTheUser(variable: string): boolean {
  return OF_THE_USER.has(process.platform === 'win32' ? variable.toUpperCase() : variable);
}

/** What may end a path within a text: first in a list without blanks, as a path may have some, then anywhere. */
const ENDS = sep === '\\' ? [/[=,;]/, /[=,;\s"'`|&<>(){}[\]]/] : [/[=,;:]/, /[=,;:\s"'`|&<>(){}[\]]/];

/**
 * Why files must not be kept in a folder: a stdio server gets it, or a parent of it, as its working directory or in an
 * argument, so its tools could read and change every caller's files. Symbolic links are followed.
 */
export async function exposedBy(
  folder: string,
  { servers, inheritedEnv }: Pick<Config, 'servers' | 'inheritedEnv'>,
): Promise<ConfigProblem[]> {
  const place = await realPathOf(resolve(folder));
  const own = OF_STORE.map((name) => join(place, name));
  const given = await givenBy({ servers, inheritedEnv });
  return given
    .filter(({ folder }) => contains(folder, place) || own.some((inner) => contains(inner, folder)))
    .slice(0, 1)
    .map(({ written, path }) => {
      const text =
        `overlaps with ${written}, which a server is given (${formatPath(path)}): its tools could read and change every ` +
        'stored file. Choose a folder apart from it';
      return problem(['objects', 'path'], text, folder);
    });
}

/**
 * Why the audit log must not be a file: a server's tools could read who did what, write other lines, and stop everything
 * that must be recorded by changing it.
 */
export async function auditExposedBy(
  file: string,
  config: Pick<Config, 'servers' | 'inheritedEnv'>,
): Promise<ConfigProblem[]> {
  const found = await folderWith(file, config);
  if (!found) return [];
  const text =
    `is in ${found.written}, which a server is given (${formatPath(found.path)}): its tools could read and change the ` +
    'audit log. Choose a file apart from it';
  return [problem(['audit', 'path'], text, file)];
}

/** A folder that a server is given and that has this file in it, or what the file is a link to. */
export async function folderWith(
  file: string,
  config: Pick<Config, 'servers' | 'inheritedEnv'>,
): Promise<Given | undefined> {
  const path = resolve(file);
  const places = [join(await realPathOf(dirname(path)), basename(path)), await realPathOf(path)];
  return (await givenBy(config)).find(({ folder }) => places.some((place) => contains(folder, place)));
}

/**
 * The servers, each with a place for the copies of files that it is given by path, where another server is given the system's:
 * that one's tools could read and change what callers send to this one. A server that is given the system's folder itself may
 * be given it for these copies.
 */
export async function withCopiesApart(
  config: Pick<Config, 'servers' | 'inheritedEnv'>,
  { system, apart }: { system: string; apart: string },
): Promise<ServerConfig[]> {
  const given = await givenBy(config);
  const holdersOf = async (folder: string) => {
    const place = await realPathOf(resolve(folder));
    return new Set(given.filter((one) => contains(one.folder, place)).map(({ path }) => path[1]));
  };
  const [holders, holdersApart] = [await holdersOf(system), await holdersOf(apart)];
  return config.servers.map((server) => {
    const isExposed = server.transport === 'stdio' && holders.size > 0 && !holders.has(server.name);
    return isExposed && holdersApart.size === 0 ? { ...server, copies: apart } : server;
  });
}

/** The first of the folders that no server gets; without one, the memory of the process. */
export async function defaultStore(
  folders: readonly (() => string | undefined)[],
  config: Pick<Config, 'servers' | 'inheritedEnv'>,
): Promise<Choice> {
  for (const folderOf of folders) {
    const path = made(folderOf);
    if (path !== undefined && (await exposedBy(path, config)).length === 0)
      return { use: 'filesystem', settings: { path } };
  }
  return { use: 'memory', settings: {} };
}

function made(folderOf: () => string | undefined): string | undefined {
  try {
    return folderOf();
  } catch {
    // a full or read-only disk: try the next place
    return undefined;
  }
}

async function givenBy({ servers, inheritedEnv }: Pick<Config, 'servers' | 'inheritedEnv'>): Promise<Given[]> {
  return (await Promise.all(servers.map((server) => givenTo(server, inheritedEnv)))).flat();
}

async function givenTo({ name, settings }: ServerConfig, inherited: Config['inheritedEnv']): Promise<Given[]> {
  const { command, cwd, env } = settings;
  const from = typeof cwd === 'string' ? resolve(cwd) : process.cwd();
  const own = Object.entries((env ?? {}) as Record<string, unknown>);
  const variables = { ...inherited, PWD: from, ...Object.fromEntries(own) };
  const named: { text: string; path: Path }[] = [];
  const server = ['servers', name];
  if (typeof cwd === 'string') named.push({ text: from, path: [...server, 'cwd'] });
  if (Array.isArray(command)) {
    for (const [index, text] of command.entries())
      if (index > 0 && typeof text === 'string') named.push({ text, path: [...server, 'command', index] });
  }
  for (const [key, text] of own) {
    if (typeof text === 'string' && !isOfTheUser(key)) named.push({ text, path: [...server, 'env', key] });
  }
  const found = await Promise.all(
    named.flatMap(({ text, path }) =>
      [...pathsIn(text, from, variables)].map(([one, written]) => folderAt(one, written, path)),
    ),
  );
  return found.filter((one) => one !== undefined);
}

/**
 * Everything that may be a path, as programs get them: alone, after `--root=`, in `-v HOST:INSIDE` and
 * `src=HOST,dst=INSIDE`, in a list with blanks or lines, in JSON, and in a command for a shell. What is not a folder does
 * not count.
 * @returns how each is written
 */
function pathsIn(text: string, from: string, variables: Readonly<Record<string, unknown>>): Map<string, string> {
  if (text === '' || text.includes('\0')) return new Map();
  const home = typeof variables.HOME === 'string' ? variables.HOME : '~';
  // no shell expands these in an argument of its own, but some servers do
  const expanded = withVariables(text, variables);
  const parts = ENDS.flatMap((end) => expanded.split(end)).filter((part) => part !== '');
  const pathOf = (part: string) => resolve(from, part.replace(/^~(?=[/\\]|$)/, home));
  return new Map([
    ...[text, ...parts].map((part) => [pathOf(part), part] as const),
    ...fileUrisIn(text).map((path) => [path, path] as const),
  ]);
}

function withVariables(text: string, variables: Readonly<Record<string, unknown>>): string {
  return text.replace(/\$(?:(\w+)|\{(\w+)\})/g, (written, plain?: string, braced?: string) => {
    const value = variables[plain ?? braced ?? ''];
    return typeof value === 'string' ? value : written;
  });
}

function fileUrisIn(text: string): string[] {
  return (text.match(/file:\/\/[^\s"',;]*/gi) ?? []).flatMap((uri) => {
    try {
      return [fileURLToPath(uri)];
    } catch {
      return [];
    }
  });
}

async function folderAt(path: string, written: string, at: Path): Promise<Given | undefined> {
  try {
    const folder = await realpath(path);
    return (await stat(folder)).isDirectory() ? { folder, written, path: at } : undefined;
  } catch {
    return undefined;
  }
}

/** The path without symbolic links, as far as it exists. */
async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(await realPathOf(above), path.slice(above.length));
  }
}

function contains(outer: string, inner: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep);
}
