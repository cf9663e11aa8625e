import { HOST_KEYS, OWN_KEYS } from './mistakes/host-keys.js';
import { nearest } from './mistakes/nearest.js';
import { mustBeList } from './mistakes/written-values.js';
import { type ConfigProblem, problem } from './problems.js';
import { pathName } from './server-name.js';
import { TRANSPORT_NAMES, type TransportName, transportFacts } from './transports.js';

/** What Gemini CLI and Windsurf call `url`. */
const URL_NAMES = ['httpUrl', 'serverUrl'];
const MAX_TOLD = 5;

/** What `type` may be beside a `url`, and the transport it means. */
const URL_TYPES: ReadonlyMap<unknown, TransportName> = new Map(
  TRANSPORT_NAMES.flatMap((name) => transportFacts(name).hostTypes.map((type) => [type, name])),
);

/** True for the file format of desktop hosts. */
export function isHostFile(value: object): value is { mcpServers: unknown } {
  return Object.hasOwn(value, 'mcpServers');
}

interface HostServers {
  /** The map for `servers:`. */
  servers: Record<string, unknown>;
  /** Wharf's name → the host's name. */
  names: ReadonlyMap<string, string>;
  problems: ConfigProblem[];
  /** What is left out on purpose. */
  warnings: ConfigProblem[];
}

/**
 * Turns a host's `mcpServers` map into a config with `servers:`. Ignores the rest of the file, which is for the host.
 * Omits servers with `disabled: true`.
 */
export function fromHostFile(value: { mcpServers: unknown }): HostServers {
  const map = value.mcpServers;
  if (typeof map !== 'object' || map === null || Array.isArray(map)) {
    return {
      servers: {},
      names: new Map(),
      problems: [problem(['mcpServers'], 'must be a map of servers')],
      warnings: [],
    };
  }
  const servers: Record<string, unknown> = {};
  const names = new Map<string, string>();
  const problems: ConfigProblem[] = [];
  const warnings: ConfigProblem[] = [];
  for (const [hostName, entry] of Object.entries(map)) {
    const path = ['mcpServers', hostName];
    if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) {
      problems.push(problem(path, 'must be a map with "command" or "url"'));
      continue;
    }
    const { disabled, ...rest } = entry as Record<string, unknown>;
    if (disabled === true) {
      warnings.push(problem(path, 'is left out: it is switched off by "disabled": true'));
      continue;
    }
    const name = pathName(hostName);
    if (name === '') {
      problems.push(problem(path, 'needs a name with at least one of a-z and 0-9, which becomes its path'));
      continue;
    }
    if (Object.hasOwn(servers, name)) {
      const other = JSON.stringify(names.get(name)?.slice(0, 64));
      problems.push(problem(path, `needs another name: its path would be "${name}", as that of ${other}`));
      continue;
    }
    names.set(name, hostName);
    servers[name] = serverEntry(rest, path, problems);
  }
  if (names.size === 0 && problems.length === 0) {
    const off = Object.keys(map).map((name) => JSON.stringify(name.slice(0, 64)));
    const text =
      off.length === 0
        ? 'holds no server'
        : `holds no server that is switched on: ${list(off)} ${off.length === 1 ? 'has' : 'have'} "disabled": true`;
    problems.push(problem(['mcpServers'], text));
  }
  return { servers, names, problems, warnings };
}

function list(names: readonly string[]): string {
  const more = names.length > MAX_TOLD ? `, and ${names.length - MAX_TOLD} more` : '';
  return names.slice(0, MAX_TOLD).join(', ') + more;
}

function serverEntry(entry: Record<string, unknown>, path: string[], problems: ConfigProblem[]): unknown {
  const { type, command, args, ...rest } = entry;
  for (const key of HOST_KEYS) delete rest[key];
  for (const key of URL_NAMES) {
    if (!Object.hasOwn(rest, key) || Object.hasOwn(rest, 'url')) continue;
    rest.url = rest[key];
    delete rest[key];
  }
  if (Object.hasOwn(rest, 'envFile')) {
    problems.push(problem([...path, 'envFile'], 'is not read by Wharf; put the variables of that file into "env"'));
    delete rest.envFile;
  }
  for (const key of Object.keys(rest)) {
    const near = nearest(key, OWN_KEYS);
    if (near === undefined) continue;
    problems.push(problem([...path, key], `is not a known key; did you mean "${near}"?`));
    delete rest[key];
  }
  if (command !== undefined) {
    if (type !== undefined && type !== 'stdio')
      problems.push(problem([...path, 'type'], 'must be stdio beside a command', type));
    if (args !== undefined && !Array.isArray(args)) problems.push(problem([...path, 'args'], mustBeList(args)));
    return { command: [command, ...(Array.isArray(args) ? args : [])], ...rest };
  }
  if (type === undefined) return rest;
  const transport = URL_TYPES.get(type);
  if (transport !== undefined) return { ...rest, transport };
  problems.push(problem([...path, 'type'], `must be one of: ${[...URL_TYPES.keys()].join(', ')}`, type));
  return rest;
}
