import { realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { inheritedFrom, withheldFrom } from '../inherited-env.js';
import type { AdapterList } from './adapter-list.js';
import type { Config, ServerConfig } from './config.js';
import type { Environment } from './expand.js';
import { fromHostFile, isHostFile } from './mcp-servers.js';
import { parseConfig } from './parse.js';
import { preflight } from './preflight.js';
import { type ConfigProblem, formatPath } from './problems.js';
import { readConfigFile } from './read-file.js';
import { formatAddress } from './schema/fields.js';
import { DEFAULT_STORE } from './schema/schema.js';
import { sourcesOf } from './settings.js';
import { stateFolder } from './state-folder.js';
import { auditExposedBy, defaultStore, exposedBy, folderWith, withCopiesApart } from './store-place.js';

/** Settings that the command line can override, each with the spelling of its option. */
export interface Overrides {
  listen?: string;
  adminListen?: string;
  publicUrl?: string;
  logLevel?: string;
}

export interface LoadOptions {
  /** A config file: Wharf's own YAML, or the `mcpServers` JSON of desktop hosts. */
  file?: string;
  /** Servers named on the command line, in the form of `servers:` in a file. Excludes `file`. */
  servers?: Record<string, unknown>;
  /** The stored files belong to this process alone, unless the config sets a place for the files or the state. */
  isPrivate?: boolean;
  /**
   * Creates a folder that only this user can enter and that is removed with the process. @param root parent, instead of
   * the system's
   */
  privateFolder?: (root?: string) => string;
  overrides?: Overrides;
  /** Also check that this machine has what the servers need to start: what is missing is a problem, or only a warning. */
  preflight?: 'refuse' | 'warn';
}

export type LoadResult =
  /** `isServed`: the file is in a folder that a stdio server is given, so the server may change it. */
  { ok: true; config: Config; isServed?: boolean } | { ok: false; problems: ConfigProblem[] };

/**
 * Reads, expands and checks a config. Starts nothing and contacts nothing. Only this function reads the process's
 * environment.
 */
export async function loadConfig(
  options: LoadOptions,
  adapters: AdapterList,
  environment: Environment = process.env,
): Promise<LoadResult> {
  try {
    return await readAndCheck(options, adapters, environment);
  } catch (error) {
    // started in a folder that has been removed, to which a relative path or a stdio server belongs
    if ((error as NodeJS.ErrnoException).syscall !== 'uv_cwd') throw error;
    return { ok: false, problems: [{ path: 'working directory', message: 'is gone: start Wharf in one that exists' }] };
  }
}

async function readAndCheck(
  options: LoadOptions,
  adapters: AdapterList,
  environment: Environment,
): Promise<LoadResult> {
  const read = await readWritten(options);
  if (!read.ok) return read;
  const { written, host } = read;
  const overridden = Object.entries(options.overrides ?? {}).filter(([, value]) => value !== undefined);
  const names = overridden.map(([name]) => name);
  const optionOf = optionsOf(names, options.servers);
  const told = (problems: readonly ConfigProblem[]) => problems.map((found) => asWritten(found, optionOf, host?.names));
  const result = parseConfig({ ...written, ...Object.fromEntries(overridden) }, adapters, environment);
  const problems = [...(host?.problems ?? []), ...(result.ok ? [] : result.problems)];
  if (!result.ok || problems.length > 0) return { ok: false, problems: told(problems) };
  const servers = result.config.servers.map((server) => withHostName(server, host?.names));
  const sources = sourcesOf(written, names);
  const withheldEnv = withheldFrom(environment);
  const parsed = { ...result.config, servers, sources, inheritedEnv: inheritedFrom(environment), withheldEnv };
  const isPrivate = options.isPrivate === true && !('objects' in written) && !('state' in written);
  const config = await withPlaces(parsed, { ...options, isPrivate }, adapters, environment);
  const missing = options.preflight === undefined ? [] : await preflight(config, adapters);
  const faults = [...(options.preflight === 'refuse' ? missing : []), ...(await exposedPlaces(config))];
  if (faults.length > 0) return { ok: false, problems: told(faults) };
  const served = options.file === undefined ? [] : await servedFile(options.file, config);
  const warnings = [...told(config.warnings), ...(host?.warnings ?? []), ...told(missing), ...served];
  return { ok: true, config: { ...config, warnings }, isServed: served.length > 0 };
}

/** A config as its author wrote it, in Wharf's own form; `host`: what it was made of, if it is the file of a host. */
interface Written {
  ok: true;
  written: object;
  host: ReturnType<typeof fromHostFile> | undefined;
}

async function readWritten({
  file,
  servers,
}: LoadOptions): Promise<Written | { ok: false; problems: ConfigProblem[] }> {
  if (file === undefined) return { ok: true, written: { servers }, host: undefined };
  const read = await readConfigFile(file);
  if (!read.ok) return read;
  await nextTurn();
  if (!isHostFile(read.value)) return { ok: true, written: read.value, host: undefined };
  const host = fromHostFile(read.value);
  if (Object.keys(host.servers).length === 0) return { ok: false, problems: host.problems };
  return { ok: true, written: { servers: host.servers }, host };
}

/** How the command line spells the settings that it gives, by their paths. */
function optionsOf(overridden: readonly string[], servers: LoadOptions['servers'] = {}): Map<string, string> {
  const options = new Map(
    overridden.map((name) => [name, `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`]),
  );
  for (const [name, { env = {} }] of Object.entries(servers as Record<string, { env?: object }>)) {
    for (const variable of Object.keys(env)) options.set(formatPath(['servers', name, 'env', variable]), '--env');
    options.set(formatPath(['servers', name, 'url']), '--upstream');
    for (const of of [[], [0]]) options.set(formatPath(['servers', name, 'command', ...of]), 'the command after --');
  }
  return options;
}

/** A server of a host's file, with the name that it has there. */
function withHostName(server: ServerConfig, names: ReadonlyMap<string, string> | undefined): ServerConfig {
  const hostName = names?.get(server.name);
  return hostName === undefined || hostName === server.name ? server : { ...server, hostName };
}

/** The stored files and the audit log, where a server has access to their place. */
async function exposedPlaces(config: Config): Promise<ConfigProblem[]> {
  const { path: objects } = config.objects.settings;
  const { path: audit } = config.audit.settings;
  const [ofObjects, ofAudit] = [
    typeof objects === 'string' ? await exposedBy(objects, config) : [],
    typeof audit === 'string' ? await auditExposedBy(audit, config) : [],
  ];
  return [...ofObjects, ...ofAudit];
}

/** What to say of a config in a folder that a server is given: its commands are run, with its secrets. */
async function servedFile(file: string, config: Config): Promise<ConfigProblem[]> {
  const found = await folderWith(file, config);
  if (!found) return [];
  const message =
    `is in ${found.written}, which a server is given (${formatPath(found.path)}): its tools could read the secrets in it, ` +
    'and decide what Wharf runs. Keep it apart; where it is, a change is read only on SIGHUP';
  return [{ path: file, message }];
}

/** Adds places for files, each where no server reads what is not its own. */
async function withPlaces(
  config: Config,
  options: LoadOptions,
  adapters: AdapterList,
  environment: Environment,
): Promise<Config> {
  const { file, servers } = options;
  const listen = formatAddress(config.listen);
  const folder = stateFolder({ file: file && (await placeOf(file)), servers, listen }, environment);
  if (folder === undefined) return withStore(config, folder, options, adapters);
  const placed = await withCopiesApart(config, { system: tmpdir(), apart: dirname(folder) });
  return withStore({ ...config, servers: placed }, folder, options, adapters);
}

/** Adds a place for the files to a config that names none. @param folder in the user's state folder */
async function withStore(
  config: Config,
  folder: string | undefined,
  { isPrivate, privateFolder = (root = tmpdir()) => join(root, 'wharf-…') }: LoadOptions,
  adapters: AdapterList,
): Promise<Config> {
  const { use, settings } = config.objects;
  if (use !== DEFAULT_STORE || settings.path !== undefined) return config;
  const ofProcess = [() => privateFolder(), () => folder && privateFolder(dirname(folder))];
  // when the system chooses the port, two gateways of one config can run at the same time
  const places = isPrivate || config.listen.port === 0 ? ofProcess : [() => folder, ...ofProcess];
  const chosen = await defaultStore(places, config);
  const store = adapters.objects[chosen.use];
  return { ...config, objects: { ...chosen, settings: store?.settings.parse(chosen.settings) ?? chosen.settings } };
}

/**
 * The path of a config itself, not of the file that it may link to: Kubernetes replaces a config by pointing the link to
 * another file, and the gateway is the same.
 */
async function placeOf(file: string): Promise<string> {
  const folder = dirname(resolve(file));
  return join(await realpath(folder).catch(() => folder), basename(file));
}

/** Rewrites a problem's path to the one its author knows: an option, or the host's own name of a server. */
function asWritten(
  found: ConfigProblem,
  options: ReadonlyMap<string, string>,
  hostNames: ReadonlyMap<string, string> | undefined,
): ConfigProblem {
  const option = options.get(found.path);
  // a default is something that only a file can give
  if (option === '--env') return { ...found, path: option, message: found.message.replace(/;.*$/s, '') };
  if (option !== undefined) return { ...found, path: option };
  for (const [name, hostName] of hostNames ?? []) {
    const prefix = formatPath(['servers', name]);
    if (found.path !== prefix && !found.path.startsWith(`${prefix}.`)) continue;
    // a host's file separates the program from its arguments
    const rest = found.path.slice(prefix.length).replace(/^\.command\[0\]$/, '.command');
    return { ...found, path: formatPath(['mcpServers', hostName]) + rest };
  }
  return found;
}
