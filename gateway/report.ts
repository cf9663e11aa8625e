import type { AdapterList } from './config/adapter-list.js';
import type { Choice, Config } from './config/config.js';
import { type ConfigProblem, withValue } from './config/problems.js';
import { formatAddress } from './config/schema/fields.js';
import { TRANSPORTS } from './config/transports.js';
import { warningsOf } from './config/warnings.js';
import { adviceIn, causesOf, linesOf } from './errors/causes.js';
import { formatSize, formatTime } from './policy/units.js';
import type { Log } from './ports/log.js';
import { redactText } from './redact.js';

/** What people read on the terminal. None of it may contain a secret: it is pasted into issues. */

interface Started {
  urls: { name: string; mcp: string }[];
  /** Empty without an admin port. */
  adminUrl: string;
}

const PROBED = 'HTTP; which transport is found out when it is first used';

/** One line per problem: `path: message (it is "value")`. */
export function problemsText(problems: readonly ConfigProblem[]): string {
  return problems.map(({ path, ...found }) => `${path}: ${withValue(found)}\n`).join('');
}

/** The output of `wharf check` for a config without problems. */
export function summaryText(config: Config, adapters: AdapterList): string {
  const servers = config.servers
    .map(({ name, transport }) => `${name} (${transport === 'probed' ? PROBED : TRANSPORTS[transport].title})`)
    .join(', ');
  return [
    'ok',
    `  servers     ${servers}`,
    `  listen      ${formatAddress(config.listen)}, ${config.adminListen ? `admin ${formatAddress(config.adminListen)}` : 'no admin port'}`,
    `  files       ${placeOf(config.objects)}, up to ${formatSize(config.limits.file)}, kept ${formatTime(config.retention)}`,
    `  state       ${config.state.use}`,
    `  links       ${styleOf(config, adapters)}, live ${lifeOf(config, presigns(config, adapters))}`,
    ...(config.links.lasting && presigns(config, adapters)
      ? ["              Wharf's own, which models read, as long as their files"]
      : []),
    '  Nothing was started, and no server and no store was contacted.',
    ...warningsOf(config, adapters).map((found) => `  ${warningLine(found)}`),
    '',
  ].join('\n');
}

/** The warnings of a config for a command that asks its servers. */
export function warningsText(config: Config, adapters: AdapterList): string {
  return warningsOf(config, adapters)
    .map((found) => `${warningLine(found)}\n`)
    .join('');
}

function warningLine({ path, message }: ConfigProblem): string {
  return `warning: ${path} ${message}.`;
}

/**
 * Logs warnings, because operators read the log once Wharf runs.
 * @param before the config that this one replaces, whose warnings the log has
 */
export function logWarnings(config: Config, adapters: AdapterList, log: Pick<Log, 'warn'>, before?: Config): void {
  const known = new Set(before && warningsOf(before, adapters).map(warningText));
  for (const found of warningsOf(config, adapters)) {
    const text = warningText(found);
    if (!known.has(text)) log.warn({ path: found.path }, text);
  }
}

function warningText({ path, ...found }: ConfigProblem): string {
  return `${path} ${withValue(found)}.`;
}

/** The output of a start: the URLs to paste, where files go and what to do next. */
export function startedText(version: string, started: Started, config: Config, adapters: AdapterList): string {
  const width = Math.max(...started.urls.map(({ name }) => name.length), 5);
  return [
    `Wharf ${version} is up. Paste a URL into your MCP client; opened in a browser, it says how:`,
    ...started.urls.map(({ name, mcp }) => `  ${name.padEnd(width)}  ${mcp}`),
    '',
    ...(started.adminUrl === ''
      ? []
      : [`  ${'admin'.padEnd(width)}  ${started.adminUrl} (console, /healthz, /readyz, /metrics)`]),
    `  ${'files'.padEnd(width)}  ${placeOf(config.objects)}; kept ${formatTime(config.retention)}, links live ${lifeOf(config, presigns(config, adapters))}`,
    '',
  ].join('\n');
}

/** The option that chooses the port which a start was refused. */
export function portOption(error: unknown, { listen, adminListen }: Pick<Config, 'listen' | 'adminListen'>): string {
  const { port } = Object(error) as { port?: unknown };
  return port === adminListen?.port && port !== listen.port ? '--admin-listen' : '--listen';
}

/**
 * Why a start failed, in one or two lines.
 * @param option of the command that chooses the port
 */
export function startFailureText(error: unknown, option = '--listen'): string {
  const facts = error as { code?: unknown; address?: unknown; port?: unknown };
  const where =
    typeof facts.address === 'string'
      ? formatAddress({ host: facts.address, port: Number(facts.port) })
      : 'The address';
  if (facts.code === 'EADDRINUSE') {
    return `${where} is already in use. Choose another port with ${option}.\n`;
  }
  if (facts.code === 'EACCES' && facts.address !== undefined)
    return `${where} may not be listened on: permission denied. Choose one above 1023, or run Wharf where this one is allowed.\n`;
  if (facts.code === 'EADDRNOTAVAIL') return `${where} is not an address of this machine.\n`;
  const causes = causesOf(error);
  const texts = linesOf(causes).map(redactText);
  const todo = adviceIn(causes);
  return `Wharf could not start: ${texts.join('\n  because: ') || 'unknown error'}\n${todo === undefined ? '' : `  → ${todo}\n`}`;
}

/** The kind of link that clients really get: a store without URLs of its own has no presigned ones. */
function styleOf(config: Config, adapters: AdapterList): string {
  if (config.links.style === 'gateway') return 'gateway';
  return presigns(config, adapters) ? 'presigned' : `gateway (${config.objects.use} has no presigned ones)`;
}

function presigns({ links, objects }: Config, adapters: AdapterList): boolean {
  return links.style === 'presigned' && adapters.objects[objects.use]?.presigns === true;
}

/** How long a link really works: it ends with its file. */
function lifeOf({ links, retention }: Config, isPresigned: boolean): string {
  if (links.lasting && !isPresigned) return 'as long as their files';
  if (links.ttl <= retention) return formatTime(links.ttl);
  return `${formatTime(retention)} (links.ttl is ${formatTime(links.ttl)}, and no link outlives its file: retention)`;
}

function placeOf(objects: Choice): string {
  // A store is identified by its folder or bucket; its other settings may be secret.
  const place = objects.settings.path ?? objects.settings.bucket;
  return typeof place === 'string' ? `${objects.use} ${place}` : objects.use;
}
