import { fits } from '../../policy/pattern.js';
import { keysOf } from '../access.js';
import type { ServerConfig } from '../config.js';
import { nearest } from '../mistakes/nearest.js';
import { type ConfigProblem, problem } from '../problems.js';
import { formatAddress, isLoopback } from '../schema/fields.js';
import type { Sections } from '../schema/schema.js';
import { accessProblems } from './access.js';
import { callerProblems, clientProblems, type WaysIn } from './callers.js';
import { hiddenByKeys, hiddenCallers } from './callers-in-order.js';
import { passthroughProblems } from './passthrough.js';
import { isAbsent } from './rule.js';
import { upstreamAuthProblems, upstreamAuthWarnings } from './upstream-auth.js';

/**
 * What has parsed so far. A section with a wrong value is missing, and rules about it are skipped; of lists, and of `limits` and
 * `ceiling`, only what is wrong is missing.
 */
export type Parsed = Partial<Sections> & Pick<WaysIn, 'lacksNames'> & { servers: ServerConfig[] };

/**
 * Checks rules between values that are valid one by one.
 * @param serverNames every server of the file, including those that did not parse; undefined where `servers` itself is wrong
 */
export function crossCheck(parsed: Parsed, serverNames: readonly string[] | undefined): ConfigProblem[] {
  const { clients = [] } = parsed;
  return [
    ...reachability(parsed),
    ...parsed.servers.flatMap((server) => ownPortProblems(server, parsed)),
    ...secrecy(parsed),
    ...consolePlace(parsed),
    ...flowNames(parsed, serverNames),
    ...handoffNames(parsed, serverNames),
    ...clients.flatMap(({ match }, index) => clientProblems(match, ['clients', index, 'match'], parsed)),
    ...scopeServers(parsed, serverNames),
    ...upstreamAuthProblems(parsed),
    ...passthroughProblems(parsed, serverNames ?? []),
    ...uploadToolNames(parsed),
    ...accessProblems(parsed, serverNames),
  ];
}

/** Rules between values that break nothing, but can never do what they were written for. */
export function crossWarnings(parsed: Parsed): ConfigProblem[] {
  const { auth, callers = [] } = parsed;
  return [
    ...upstreamAuthWarnings(parsed),
    ...hiddenCallers(callers),
    ...(auth ? hiddenByKeys(callers, keysOf(auth)) : []),
  ];
}

function reachability(parsed: Parsed): ConfigProblem[] {
  const { listen, adminListen, adminAllowPublic, auth } = parsed;
  const problems: ConfigProblem[] = [];
  // a wrong value is absent
  const letsAllIn = auth?.use === 'none' && auth.allowPublic === false;
  if (listen !== undefined && !isLoopback(listen.host)) {
    if (letsAllIn) problems.push(problem(['listen'], OPEN_TO_ALL, formatAddress(listen)));
    if (isAbsent(parsed, 'publicUrl')) {
      problems.push(
        problem(['publicUrl'], `is required when listening on ${formatAddress(listen)}: links are made from it`),
      );
    }
  }
  if (adminListen === undefined) return problems;
  const isAllowed =
    adminAllowPublic !== false || auth === undefined || (auth.use === 'none' && auth.allowPublic !== false);
  if (!isLoopback(adminListen.host) && !isAllowed) {
    problems.push(problem(['adminListen'], ADMIN_OPEN_TO_ALL, formatAddress(adminListen)));
  }
  if (listen !== undefined && listen.port !== 0 && listen.port === adminListen.port) {
    problems.push(problem(['adminListen'], 'must have another port than listen', formatAddress(adminListen)));
  }
  return problems;
}

const OPEN_TO_ALL =
  'is not a loopback address, and with auth none every client that reaches it is let in. Listen on 127.0.0.1, or put ' +
  'what authenticates callers in front and say so: auth: { use: none, allowPublic: true }';

const ADMIN_OPEN_TO_ALL =
  'is not a loopback address, and the admin port never asks for a key: health and metrics are open to every client that ' +
  'reaches it. Listen on 127.0.0.1, or see to it that the network keeps others away and say so: adminAllowPublic: true';

/**
 * A state store outside the process can be read by others, so protecting its contents needs a key of the operator's.
 */
function secrecy({ state, secret }: Parsed): ConfigProblem[] {
  if (state === undefined || state.use === 'memory' || secret === undefined || secret.length > 0) return [];
  const text = `is required with state: { use: ${state.use} }, the same on every replica; make one with: openssl rand -base64 48`;
  return [problem(['secret'], text)];
}

/** The pages are on the admin port, which is not there by default where `listen` is a loopback address. */
function consolePlace(parsed: Parsed): ConfigProblem[] {
  const { console: pages, listen } = parsed;
  if (listen === undefined || !isAbsent(parsed, 'adminListen') || (pages?.users ?? []).length === 0) return [];
  return [problem(['adminListen'], 'is required with console.users: the pages are on the admin port')];
}

/** A server that may fetch from Wharf's own ports could read its metrics and trigger an operator's actions. */
function ownPortProblems({ name, fetchOrigins }: ServerConfig, { listen, adminListen }: Parsed): ConfigProblem[] {
  return fetchOrigins.flatMap((text, index) => {
    const { hostname, port, protocol } = new URL(text);
    const asked = Number(port || (protocol === 'https:' ? 443 : 80));
    const host = hostname.replace(/^\[|\]$/g, '');
    const isOwn = [listen, adminListen].some(
      (own) => own !== undefined && own.port === asked && (isLoopback(host) || host === own.host),
    );
    if (!isOwn) return [];
    return [problem(['servers', name, 'fetch', 'origins', index], "is a port of Wharf's own", text)];
  });
}

/** A rule about a missing server would silently protect nothing. */
function handoffNames({ handoff = [] }: Parsed, serverNames: readonly string[] | undefined): ConfigProblem[] {
  if (!serverNames) return [];
  return handoff.flatMap((rule, index) =>
    (['from', 'to'] as const)
      .filter((side) => rule[side] !== '*' && !serverNames.includes(rule[side]))
      .map((side) => {
        const text = `is not a server of this file; ${hintFor(rule[side], serverNames)}`;
        return problem(['handoff', index, side], text, rule[side]);
      }),
  );
}

/** Scopes of a server that is missing would silently protect nothing. */
function scopeServers({ auth }: Parsed, serverNames: readonly string[] | undefined): ConfigProblem[] {
  if (!serverNames) return [];
  if (auth?.use !== 'jwt' && auth?.use !== 'both') return [];
  return Object.keys(auth.jwt.scopes).flatMap((place) => {
    const [server = ''] = place.split('.');
    if (server === '*' || serverNames.includes(server)) return [];
    const text = `does not begin with a server of this file; ${hintFor(server, serverNames)}`;
    return [problem(['auth', 'jwt', 'scopes', place], text)];
  });
}

/** A misspelt name would protect nothing. */
function flowNames({ flow = [], ...parsed }: Parsed, serverNames: readonly string[] | undefined): ConfigProblem[] {
  return flow.flatMap((rule, index) => {
    const path = ['flow', index, rule.does];
    const names = (['from', 'to'] as const).flatMap((side) => {
      const name = rule[side];
      if (name === undefined || !serverNames || serverNames.some((one) => fits(name, one))) return [];
      return [problem([...path, side], `is not a server of this file; ${hintFor(name, serverNames)}`, name)];
    });
    return [...names, ...callerProblems(rule, path, parsed)];
  });
}

/** What to write instead of a name that no server has. */
function hintFor(name: string, serverNames: readonly string[]): string {
  const near = nearest(name, serverNames);
  return near === undefined ? '"*" is any' : `did you mean "${near}"?`;
}

function uploadToolNames({ uploadTool, servers }: Parsed): ConfigProblem[] {
  const isDouble = (tool: typeof uploadTool) => tool !== undefined && tool !== 'off' && tool.request === tool.link;
  const text = 'must have two different names';
  if (isDouble(uploadTool)) return [problem(['uploadTool'], text)];
  return servers
    .filter((server) => isDouble(server.uploadTool))
    .map(({ name }) => problem(['servers', name, 'uploadTool'], text));
}
