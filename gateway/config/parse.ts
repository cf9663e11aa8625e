import type { z } from 'zod';
import type { AllowRule } from '../policy/access.js';
import { DEFAULT_LIMITS, type Limits } from '../policy/limits.js';
import type { ExchangeLimits, TypeLimit } from '../policy/message-limits.js';
import type { ToolSettings, UploadTool } from '../ports/file-slot.js';
import type { AdapterList } from './adapter-list.js';
import { type Left, parsedAsFar, placedAsWritten } from './as-far.js';
import { crossCheck, crossWarnings, type Parsed } from './checks/across.js';
import { bareSizes } from './checks/bare-sizes.js';
import { raisedLimit } from './checks/raised-limit.js';
import { shellVariables } from './checks/shell-variables.js';
import { toolProblems } from './checks/tools.js';
import type { Address, Config, ServerConfig, UpstreamAuthConfig } from './config.js';
import { type Environment, expand } from './expand.js';
import { nearest } from './mistakes/nearest.js';
import { asServer } from './mistakes/written-values.js';
import { pathAsWritten, withTodaysNames } from './old-names.js';
import { type ConfigProblem, explainIssue, formatPath, type Path, problem, valueAt } from './problems.js';
import { knownKeysOf } from './reference/reference.js';
import { authSchemaFor } from './schema/auth.js';
import { isLoopback } from './schema/fields.js';
import { uploadToolOf } from './schema/peers.js';
import { sectionSchemas } from './schema/schema.js';
import { nameProblem, schemaFor, serverSchema } from './schema/servers.js';

/** Milliseconds that a link works which others may obtain. */
const LINK_TTL = 15 * 60 * 1000;

/** Most keys of a server that a problem lists. */
const MAX_TOLD = 5;

/** What a file says; the rest is known of the process. */
type ParsedConfig = Omit<Config, 'inheritedEnv' | 'withheldEnv' | 'sources'>;

type ParseResult = { ok: true; config: ParsedConfig } | { ok: false; problems: ConfigProblem[] };

/**
 * Parses plain values, as a file holds them, into a config. Reports every problem, not only the first: sections are
 * parsed one by one, and rules between sections check those that parsed.
 */
export function parseConfig(file: object, adapters: AdapterList, environment: Environment): ParseResult {
  const { value: written, warnings, ...names } = withTodaysNames(file);
  const expanded = expand(written, environment);
  const { lacking } = expanded;
  let found = parseSections(expanded.value as Record<string, unknown>, adapters, lacking);
  // A variable is always text. Where the schema wants a number or a boolean, text that spells one is accepted.
  if (convertExpanded(expanded.value, found.issues, expanded.fromEnvironment)) {
    found = parseSections(expanded.value as Record<string, unknown>, adapters, lacking);
  }
  const knownKeys = knownKeysOf(adapters);
  const across = crossCheck(found.parsed, namesOf(expanded.value));
  const inSections = [
    ...found.issues.flatMap((issue) => explainIssue(issue, written, (path) => knownKeys(path, expanded.value))),
    ...found.problems,
    ...across.map((one) => placedAsWritten(one, found.left)),
  ];
  const problems = [
    ...expanded.problems,
    ...names.problems,
    ...inSections.filter((one) => !expanded.problems.some((missing) => isAbout(one.path, missing.path))),
  ];
  if (problems.length > 0) {
    return { ok: false, problems: problems.map((one) => ({ ...one, path: pathAsWritten(one.path, names.written) })) };
  }
  // Without a problem every section exists; limits and time-outs have exactly the names of their tables.
  const { secret: secrets, links, ...sections } = found.parsed;
  const lives = { ...links, ttl: links?.ttl ?? LINK_TTL, lasting: links?.ttl === undefined && isPrivate(sections) };
  const asShells = shellVariables(written, namesOf(written) ?? []);
  const config = {
    ...sections,
    links: lives,
    secrets,
    warnings: [...warnings, ...crossWarnings(found.parsed), ...bareSizes(written), ...asShells],
  };
  return { ok: true, config: config as unknown as ParsedConfig };
}

/** Whether a setting is another one, holds it, or is held by it: without the value of that, nothing is known of it. */
function isAbout(setting: string, other: string): boolean {
  const holds = (whole: string, part: string) => part.startsWith(whole) && /^[.[]/.test(part.slice(whole.length));
  return setting === other || holds(setting, other) || holds(other, setting);
}

/**
 * True when only programs of this machine can reach Wharf. A program that gets hold of a link there could request the
 * file anyway.
 */
function isPrivate({ listen, publicUrl }: Parsed): boolean {
  if (listen === undefined || !isLoopback(listen.host)) return false;
  return publicUrl === undefined || isLoopback(new URL(publicUrl).hostname.replace(/^\[(.*)\]$/, '$1'));
}

interface Found {
  parsed: Parsed;
  left: Left;
  issues: z.core.$ZodIssue[];
  problems: ConfigProblem[];
}

function parseSections(root: Record<string, unknown>, adapters: AdapterList, lacking: readonly Path[]): Found {
  const schemas = sectionSchemas(adapters);
  const issues: z.core.$ZodIssue[] = [];
  const sections: Record<string, unknown> = {};
  const lefts: Left[] = [];
  let lacksNames = false;
  for (const [key, schema] of Object.entries(schemas)) {
    const own = parsedAsFar(key === 'auth' ? authSchemaFor(root.auth) : schema, root[key], [key], lacking);
    const isClear = own.unclear.size === 0;
    // an optional one that is absent is there as undefined
    if ((own.issues.length === 0 && isClear) || (own.data !== undefined && isClear)) sections[key] = own.data;
    else if (AMOUNTS.has(key)) sections[key] = withoutThose(own.data, own.unclear);
    else if (key === 'auth')
      sections.auth = own.data === undefined ? wayOf(root.auth) : withoutThose(own.data, OF_AUTH);
    if (key === 'auth' && own.data === undefined) lacksNames = true;
    lefts.push(own.left);
    issues.push(...own.issues);
  }
  if (root.adminListen === undefined) sections.adminListen = adminByDefault(sections as Parsed);
  const unknown = Object.keys(root).filter((key) => key !== 'servers' && !Object.hasOwn(schemas, key));
  if (unknown.length > 0) issues.push({ code: 'unrecognized_keys', keys: unknown, path: [], message: '' });
  const servers = parseServers(root.servers, adapters, sections as GlobalParts, lacking);
  return {
    parsed: {
      ...sections,
      servers: servers.servers,
      ...((lacksNames || lefts.some((left) => NAMERS.some((list) => left.has(list)))) && { lacksNames: true }),
    },
    left: new Map([...lefts, ...servers.lefts].flatMap((left) => [...left])),
    issues: [...issues, ...servers.issues],
    problems: servers.problems,
  };
}

/** Sections in which each member counts by itself: without one of them the others mean the same. */
const AMOUNTS: ReadonlySet<string> = new Set(['limits', 'ceiling']);

/** Lists without whose items not every name of a caller is known. */
const NAMERS = ['auth.keys', 'auth.jwt.issuers'];

/** Without a wrong value `auth` has these defaults, and rules would judge whether it lets every caller in. */
const OF_AUTH: ReadonlySet<string> = new Set(['allowPublic']);

/** Ways in without their keys and issuers, some of which are not known. Rules about callers ask first which way it is. */
const WAYS: Readonly<Record<Config['auth']['use'], object>> = {
  none: {},
  apiKeys: { keys: [] },
  jwt: { jwt: { issuers: [], scopes: {} } },
  both: { keys: [], jwt: { issuers: [], scopes: {} } },
  passthrough: {},
};

/** The way in that a wrong `auth` says; undefined where that is wrong too. */
function wayOf(written: unknown): object | undefined {
  const said = valueAt(written, ['use']);
  const use = Array.isArray(said) && String(said) === 'apiKeys,jwt' ? 'both' : said;
  if (typeof use !== 'string' || !Object.hasOwn(WAYS, use) || (use === 'both' && use === said)) return undefined;
  return { use, ...WAYS[use as keyof typeof WAYS] };
}

/** A wrong value would become a default, and rules would judge that. */
function withoutThose(data: unknown, keys: ReadonlySet<string>): object | undefined {
  if (typeof data !== 'object' || data === null) return undefined;
  return Object.fromEntries(Object.entries(data).filter(([key]) => !keys.has(key)));
}

/** An operator of a public gateway needs health and metrics; several gateways of one person must not want one port. */
function adminByDefault({ listen }: Parsed): Address | undefined {
  return listen === undefined || isLoopback(listen.host) ? undefined : { host: '127.0.0.1', port: 9090 };
}

/** What a server takes from the top level; a member is absent when it has a problem there. */
interface GlobalParts {
  limits?: Limits;
  uploadTool?: UploadTool | 'off';
}

function parseServers(written: unknown, adapters: AdapterList, global: GlobalParts, lacking: readonly Path[]) {
  const servers: ServerConfig[] = [];
  const issues: z.core.$ZodIssue[] = [];
  const lefts: Left[] = [];
  const problems: ConfigProblem[] = [];
  if (!isMapOfSome(written)) {
    const state = Array.isArray(written) ? 'must be a map, not a list, of' : 'is required: a map of';
    problems.push(problem(['servers'], `${state} at least one server, NAME: { url: … } or NAME: { command: […] }`));
    return { servers, lefts, issues, problems };
  }
  for (const [name, value] of Object.entries(written)) {
    const path = ['servers', name];
    const wrongName = nameProblem(name);
    if (wrongName !== undefined) problems.push(problem(path, wrongName));
    const chosen = schemaFor(value);
    if (chosen.name === 'streamable-http' && !hasUrl(value)) {
      problems.push(
        problem(path, `must be a map with "url" (an HTTP server) or "command" (a stdio server)${itHas(value)}`),
      );
      continue;
    }
    const own = parsedAsFar(serverSchema(adapters.upstream, chosen.name), value, path, lacking);
    // of a login each member decides what the others mean
    const data = own.unclear.has(LOGIN) ? withoutThose(own.data, new Set([LOGIN])) : own.data;
    const section = data as ServerSection | undefined;
    const merged = global.limits && lowered(global.limits, section?.limits ?? {}, [...path, 'limits'], problems);
    const { tools } = value as { tools?: unknown };
    problems.push(...toolProblems(tools, [...path, 'tools'], { transport: chosen.transport, limits: merged }));
    issues.push(...own.issues);
    lefts.push(own.left);
    if (!section) continue;
    const {
      limits: _,
      transport: __,
      accepts,
      tools: ofTools,
      allow,
      uploadTool: ownTools,
      fetch,
      upstreamAuth,
      ...settings
    } = section;
    const uploadTool = global.uploadTool && uploadToolOf(ownTools, global.uploadTool);
    if (merged === undefined || uploadTool === undefined) continue;
    servers.push({
      name,
      transport: chosen.transport,
      settings,
      accepts,
      limits: merged,
      tools: Object.assign(Object.create(null), ofTools),
      ...(allow && { allow }),
      ...(upstreamAuth && { upstreamAuth }),
      fetchOrigins: fetch?.origins ?? [],
      uploadTool,
    });
  }
  return { servers, lefts, issues, problems };
}

const LOGIN = 'upstreamAuth';

interface ServerLimits extends Partial<Limits>, Partial<Record<TypeLimit, readonly string[]>> {}

/** What every server's section holds besides the settings of its adapter. */
interface ServerSection {
  limits?: ServerLimits;
  transport?: string;
  accepts: number;
  tools: Record<string, ToolSettings>;
  allow?: AllowRule[];
  uploadTool?: Partial<UploadTool> | 'off';
  fetch?: { origins: string[] };
  upstreamAuth?: UpstreamAuthConfig;
}

/** The names of all servers in the file, including those with problems; undefined where `servers` is not a map of some. */
function namesOf(root: unknown): string[] | undefined {
  const servers = valueAt(root, ['servers']);
  return isMapOfSome(servers) ? Object.keys(servers) : undefined;
}

function isMapOfSome(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
}

function hasUrl(server: unknown): boolean {
  return typeof server === 'object' && server !== null && Object.hasOwn(server, 'url');
}

/** What a server without `url` and `command` has: one of its keys is probably misspelt. */
function itHas(server: unknown): string {
  if (typeof server !== 'object' || server === null) return asServer(server);
  if (Array.isArray(server)) return '';
  const keys = Object.keys(server).slice(0, MAX_TOLD);
  if (keys.length === 0) return '; it is empty';
  const near = keys.map((key) => nearest(key, ['url', 'command'])).find((key) => key !== undefined);
  const hint = near === undefined ? '' : `: did you mean "${near}"?`;
  return `; it has ${keys.map((key) => JSON.stringify(key.slice(0, 64))).join(', ')}${hint}`;
}

/** The limits of one server. Raising one is a problem: a server's own section must never be the weaker bound. */
function lowered(
  global: Limits,
  { accept, acceptResults, ...own }: ServerLimits,
  path: string[],
  problems: ConfigProblem[],
): ExchangeLimits {
  // `limits` also holds what each caller may use
  const names = Object.keys(DEFAULT_LIMITS) as (keyof Limits)[];
  const merged: ExchangeLimits = {
    ...(Object.fromEntries(names.map((name) => [name, global[name]])) as unknown as Limits),
    ...(accept && { accept: [{ types: accept, source: formatPath([...path, 'accept']) }] }),
    ...(acceptResults && { acceptResults: [{ types: acceptResults, source: formatPath([...path, 'acceptResults']) }] }),
  };
  for (const [name, value] of Object.entries(own) as [keyof Limits, number | undefined][]) {
    if (value === undefined) continue;
    if (value > global[name]) {
      problems.push(raisedLimit([...path, name], value, { name, most: global[name], of: 'limits' }));
    }
    merged[name] = value;
  }
  return merged;
}

/** Returns true when it changed `root`. */
function convertExpanded(root: unknown, issues: readonly z.core.$ZodIssue[], expanded: ReadonlySet<string>): boolean {
  let changed = false;
  for (const issue of issues) {
    if (issue.code !== 'invalid_type') continue;
    const path = issue.path as Path;
    const key = path.at(-1);
    if (key === undefined || !expanded.has(formatPath(path))) continue;
    const text = valueAt(root, path);
    const converted = convert(text, issue.expected);
    if (converted === undefined) continue;
    (valueAt(root, path.slice(0, -1)) as Record<string | number, unknown>)[key] = converted;
    changed = true;
  }
  return changed;
}

function convert(text: unknown, expected: string): number | boolean | undefined {
  if (typeof text !== 'string') return undefined;
  if (expected === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined;
  return /^(number|int)$/.test(expected) && /^-?\d{1,15}(\.\d{1,6})?$/.test(text) ? Number(text) : undefined;
}
