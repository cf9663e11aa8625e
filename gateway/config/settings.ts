import { countText } from '../policy/amounts.js';
import { formatSize, formatTime } from '../policy/units.js';
import type { Setting, SettingSource } from '../ports/console.js';
import { redactFields, redactText } from '../redact.js';
import type { Config, ServerConfig } from './config.js';
import { formatAddress } from './schema/fields.js';
import { limitText } from './schema/limits.js';

/** Deepest path that has a source of its own; a list is one value. */
const DEPTH = 4;

/** Characters of a value. */
const MAX_VALUE = 300;

/** What is shown by numbers and names alone, or not at all. */
const ELSEWHERE = new Set([
  'servers',
  'secrets',
  'sources',
  'warnings',
  'inheritedEnv',
  'withheldEnv',
  'clients',
  'console',
  'auth',
]);

/**
 * Where each setting was written. A text with `${NAME}` in it is of the environment.
 * @param written the file's values before variables are put in
 * @param overridden keys that options of the command line set
 */
export function sourcesOf(written: object, overridden: readonly string[]): Map<string, SettingSource> {
  const found = new Map<string, SettingSource>();
  const look = (value: unknown, path: string, depth: number): void => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value) && depth < DEPTH) {
      for (const [key, member] of Object.entries(value)) look(member, path === '' ? key : `${path}.${key}`, depth + 1);
    } else if (value !== undefined) {
      found.set(path, JSON.stringify(value)?.includes('${') ? 'environment' : 'file');
    }
  };
  look(written, '', 0);
  for (const key of overridden) found.set(key, 'command line');
  return found;
}

/** The settings in force, in the order of their sections. Values with secret names, and secrets in URLs, are redacted. */
export function settingsOf(config: Config): Setting[] {
  const { sources, limits, timeouts, servers, auth, console: pages, clients, secrets } = config;
  const listed: [path: string, value: unknown][] = [
    ...Object.entries(config).flatMap(([key, value]) => (ELSEWHERE.has(key) ? [] : sectionOf(key, value))),
    ['servers', servers.map(({ name }) => name)],
    ['auth.use', auth.use === 'both' ? ['apiKeys', 'jwt'] : auth.use],
    ...('keys' in auth ? [['auth.keys', auth.keys.map(({ name }) => name)] as [string, unknown]] : []),
    ['console.users', pages.users.map(({ name, role }) => `${name} (${role})`)],
    ['clients', countText(clients.length, 'profile')],
    ['secret', secrets.length === 0 ? 'none' : `set (${secrets.length})`],
  ];
  const spelled: Record<string, string> = Object.fromEntries([
    ...Object.entries(limits).map(([name, value]) => [`limits.${name}`, limitText(name, value)]),
    ...Object.entries(timeouts).map(([name, ms]) => [`timeouts.${name}`, formatTime(ms)]),
    ['retention', formatTime(config.retention)],
    [
      'links.ttl',
      config.links.lasting
        ? `as long as their files; presigned ones ${formatTime(config.links.ttl)}`
        : formatTime(config.links.ttl),
    ],
    ...spelledOf('audit', config.audit.settings),
  ]);
  return listed
    .filter(([path]) => !UNWRITTEN.has(path))
    .map(([path, value]) => ({
      path,
      value: (spelled[path] ?? textOf(value)).slice(0, MAX_VALUE),
      source: sourceOf(path, sources),
    }));
}

/** What follows from other settings, and cannot be written. */
const UNWRITTEN: ReadonlySet<string> = new Set(['links.lasting', 'links.endWithProcess']);

/** Sizes and times of an adapter by the names that they have there. */
const SPELLED: Readonly<Record<string, (value: number) => string>> = {
  maxSize: formatSize,
  maxAge: formatTime,
  wait: formatTime,
};

function spelledOf(section: string, settings: object): [path: string, text: string][] {
  return Object.entries(settings).flatMap(([name, value]) => {
    const spell = SPELLED[name];
    return spell && typeof value === 'number' ? [[`${section}.${name}`, spell(value)]] : [];
  });
}

/** Where a server is: its URL without secrets, or its program. What stands behind the program may hold a key. */
export function placeOf({ settings: { url, command } }: Pick<ServerConfig, 'settings'>): string {
  const [program] = Array.isArray(command) ? command : [];
  return redactText(String(url ?? program)).slice(0, MAX_VALUE);
}

/** The settings of one section, by their paths. */
function sectionOf(key: string, value: unknown): [path: string, value: unknown][] {
  if (value === undefined) return [];
  if (isAddress(value)) return [[key, formatAddress(value)]];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[key, value]];
  const { settings, ...own } = redactFields(value as Record<string, unknown>);
  const flat = typeof settings === 'object' && settings !== null ? { ...own, ...settings } : own;
  return Object.entries(flat).flatMap(([name, member]) => (member === undefined ? [] : [[`${key}.${name}`, member]]));
}

function isAddress(value: unknown): value is { host: string; port: number } {
  return typeof value === 'object' && value !== null && 'host' in value && 'port' in value;
}

/** The source of a setting: its own, that of what is below it, or of what it is a part of. */
export function sourceOf(path: string, sources: ReadonlyMap<string, SettingSource>): Setting['source'] {
  const own = sources.get(path);
  if (own) return own;
  for (const [written, source] of sources) {
    if (written.startsWith(`${path}.`) || path.startsWith(`${written}.`)) return source;
  }
  return 'default';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
