import type { AdapterList } from './adapter-list.js';
import type { Config } from './config.js';
import type { Environment } from './expand.js';
import { fromHostFile, isHostFile } from './mcp-servers.js';
import { parseConfig } from './parse.js';
import { type ConfigProblem, formatPath } from './problems.js';
import { readConfigFile } from './read-file.js';

/** What the command line may say about a config, each with the spelling of its option. */
export interface Overrides {
  listen?: string;
  adminListen?: string;
  publicUrl?: string;
  logLevel?: string;
}

export interface LoadOptions {
  /** A config file: Wharf's own YAML, or the `mcpServers` JSON of desktop hosts. */
  file?: string;
  /** Servers named on the command line, as a file would write them under `servers:`. Without `file`. */
  servers?: Record<string, unknown>;
  /** Sections that hold where the file names none of them. */
  defaults?: Record<string, unknown>;
  overrides?: Overrides;
}

export type LoadResult = { ok: true; config: Config } | { ok: false; problems: ConfigProblem[] };

/** What a stdio server may need to run at all. Everything else it must be given in `env:`, secrets above all. */
const INHERITED = ['HOME', 'LANG', 'PATH', 'TMPDIR', 'USER'];

/**
 * Reads, expands and checks a config; nothing is started and nothing is contacted. This is the only place that reads
 * the process's environment.
 */
export async function loadConfig(
  options: LoadOptions,
  adapters: AdapterList,
  environment: Environment = process.env,
): Promise<LoadResult> {
  let written: object = { servers: options.servers };
  if (options.file !== undefined) {
    const read = await readConfigFile(options.file);
    if (!read.ok) return read;
    written = read.value as object;
  }
  const host = isHostFile(written) ? fromHostFile(written) : undefined;
  if (host !== undefined) {
    if (host.problems.length > 0) return { ok: false, problems: host.problems };
    written = { servers: host.servers };
  }
  const defaults = options.defaults ?? {};
  if (!Object.keys(defaults).some((key) => Object.hasOwn(written, key))) written = { ...defaults, ...written };
  const overridden = Object.entries(options.overrides ?? {}).filter(([, value]) => value !== undefined);
  const result = parseConfig({ ...written, ...Object.fromEntries(overridden) }, adapters, environment);
  if (!result.ok) {
    const optionOf = new Map(
      overridden.map(([key]) => [key, `--${key.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}`]),
    );
    for (const name of Object.keys(options.servers ?? {})) {
      optionOf.set(formatPath(['servers', name, 'url']), '--upstream');
    }
    return { ok: false, problems: result.problems.map((found) => asWritten(found, optionOf, host?.names)) };
  }
  const inherited = INHERITED.flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const servers = result.config.servers.map((server) => {
    const hostName = host?.names.get(server.name);
    return hostName === undefined || hostName === server.name ? server : { ...server, hostName };
  });
  return { ok: true, config: { ...result.config, servers, inheritedEnv: Object.fromEntries(inherited) } };
}

/** The problem with the path that its writer knows: an option, or the host's own name of a server. */
function asWritten(
  found: ConfigProblem,
  options: ReadonlyMap<string, string>,
  hostNames: ReadonlyMap<string, string> | undefined,
): ConfigProblem {
  const option = options.get(found.path);
  if (option !== undefined) return { ...found, path: option };
  for (const [name, hostName] of hostNames ?? []) {
    const prefix = formatPath(['servers', name]);
    if (found.path !== prefix && !found.path.startsWith(`${prefix}.`)) continue;
    return { ...found, path: formatPath(['mcpServers', hostName]) + found.path.slice(prefix.length) };
  }
  return found;
}
