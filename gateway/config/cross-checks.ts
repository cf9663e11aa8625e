import type { Limits } from '../policy/limits.js';
import type { ServerConfig } from './config.js';
import { formatAddress, isLoopback } from './fields.js';
import { type ConfigProblem, problem } from './problems.js';
import type { Sections } from './schema.js';
import { formatSize, formatTime } from './units.js';

/** What parsed so far: a section with a problem of its own is missing, and rules about it are left out. */
export type Parsed = Partial<Sections> & { servers: ServerConfig[] };

/** Rules between values that are fine one by one. */
export function crossCheck(parsed: Parsed): ConfigProblem[] {
  return [
    ...reachability(parsed),
    ...(parsed.limits === undefined ? [] : limitsFit(parsed.limits as unknown as Limits, ['limits'])),
    ...parsed.servers.flatMap((server) => urlProblems(server)),
    ...lifetimes(parsed),
  ];
}

/** A server's limits once they are merged with the global ones. */
export function limitsFit(limits: Limits, path: string[]): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  for (const name of ['inlineImage', 'inlineOther', 'inlineResource'] as const) {
    // Four characters of base64 for three bytes: what stays inline counts in the message.
    const inMessage = Math.ceil(limits[name] / 3) * 4;
    if (inMessage <= limits.response) continue;
    const text = `needs ${inMessage} bytes of base64, more than the ${formatSize(limits.response)} of limits.response`;
    problems.push(problem([...path, name], text, formatSize(limits[name])));
  }
  for (const name of ['message', 'response', 'spool'] as const) {
    if (limits[name] <= limits.held) continue;
    problems.push(
      problem([...path, name], `is more than the ${formatSize(limits.held)} of limits.held`, formatSize(limits[name])),
    );
  }
  return problems;
}

function reachability({ listen, adminListen, publicUrl, auth }: Parsed): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  if (listen !== undefined && !isLoopback(listen.host)) {
    if (auth !== undefined && !auth.allowPublic) problems.push(problem(['listen'], OPEN_TO_ALL, formatAddress(listen)));
    if (publicUrl === undefined) {
      problems.push(
        problem(['publicUrl'], `is required when listening on ${formatAddress(listen)}: links are made from it`),
      );
    }
  }
  if (adminListen === undefined) return problems;
  if (!isLoopback(adminListen.host) && auth !== undefined && !auth.allowPublic) {
    problems.push(problem(['adminListen'], OPEN_TO_ALL, formatAddress(adminListen)));
  }
  if (listen !== undefined && listen.port !== 0 && listen.port === adminListen.port) {
    problems.push(problem(['adminListen'], 'must have another port than listen', formatAddress(adminListen)));
  }
  return problems;
}

const OPEN_TO_ALL =
  'is not a loopback address, and with auth none whoever reaches it is let in. Listen on 127.0.0.1, or put what ' +
  'authenticates callers in front and say so: auth: { use: none, allowPublic: true }';

function lifetimes({ links, retention }: Parsed): ConfigProblem[] {
  if (links === undefined || retention === undefined || links.ttl <= retention) return [];
  const text = `is longer than the ${formatTime(retention)} of retention: the link would outlive its file`;
  return [problem(['links', 'ttl'], text, formatTime(links.ttl))];
}

function urlProblems(server: ServerConfig): ConfigProblem[] {
  const { url } = server.settings;
  if (typeof url !== 'string') return [];
  const path = ['servers', server.name, 'url'];
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol))
    return [problem(path, 'must be an http:// or https:// URL', url)];
  if (parsed.username + parsed.password !== '') {
    return [problem(path, 'must not hold a user or password; send them as a header: headers: { Authorization: … }')];
  }
  return parsed.hash === '' ? [] : [problem(path, 'must not have a fragment (#…)', url)];
}
