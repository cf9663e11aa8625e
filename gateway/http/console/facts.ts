import type { FileControl } from '../../files/control/control.js';
import type { Audit } from '../../ports/audit.js';
import type { Setting } from '../../ports/console.js';
import type { CounterName } from '../../ports/metrics.js';
import type { Session } from '../../relay/session.js';
import { toneOf, UNKNOWN } from '../part-state.js';
import type { RefusedExchange } from './lately.js';

/** What the console shows, as data: its pages are made from it, and `/api/*` answers with it. */

export interface Overview {
  version: string;
  gatewayId: string;
  publicUrl: string;
  /** RFC 3339. */
  startedAt: string;
  status: 'ready' | 'draining' | 'unavailable';
  /** Whatever is wrong now: its name, and the cause in words. */
  problems: { part: string; cause: string }[];
  now: { name: string; value: number; limit?: number; unit: 'bytes' | 'count' }[];
  since: { exchanges: number; failed: number; files: number; fileBytes: number };
  /** Limits that ended a request since the start, the most frequent first. */
  limits: { limit: string; count: number }[];
}

export interface ServerFacts {
  name: string;
  /** Its MCP endpoint for clients. */
  url: string;
  transport: string;
  /** Where Wharf finds it: its own URL, or its program. */
  place: string;
  /** `ok`, or what is wrong. */
  state: string;
  sessions: number;
}

export interface SessionFacts {
  /** A name for it that is not its id, which is a credential. */
  tag: string;
  server: string;
  principal: string;
  client: string;
  version: string;
  /** RFC 3339. */
  usedAt: string;
}

/** A counter's values by their labels. */
type Counted = readonly { labels: Readonly<Record<string, string>>; value: number }[];

/** Where the console reads. */
export interface ConsoleSources {
  version: string;
  gatewayId: string;
  publicUrl: () => string;
  startedAt: number;
  readiness: () => Promise<Readiness>;
  /** Why the config's file says something else than what counts; undefined while it does not. */
  whyRefused: () => string | undefined;
  /** Totals in use now, each with its limit if it has one. */
  now: () => Overview['now'];
  counted: (name: CounterName) => Counted;
  servers: () => readonly { name: string; transport: string; place: string; mcp: () => string }[];
  sessions: () => readonly (Session & { usedAt: number })[];
  /** @param actor who ends it, for the audit log */
  endSession: (session: Session, actor: string) => Promise<void>;
  lately: () => readonly RefusedExchange[];
  files: Pick<FileControl, 'search' | 'change' | 'remove'>;
  /** The audit log, as far as this process can read it. */
  audit: Pick<Audit, 'name' | 'newest'>;
  config: () => readonly Setting[];
}

export interface Readiness {
  status: Overview['status'];
  parts: Readonly<Record<string, string>>;
  previews: string;
  servers: Readonly<Record<string, string>>;
  /** Authorization servers whose tokens are taken, if there are any. */
  issuers?: Readonly<Record<string, string>>;
}

/** The first page: what is wrong now, and what runs. */
export async function overviewOf(sources: ConsoleSources): Promise<Overview> {
  const ready = await sources.readiness();
  const exchanges = sources.counted('wharf_exchanges_total');
  const servers = Object.entries(ready.servers).map(([name, state]) => [`server ${name}`, state] as const);
  const issuers = Object.entries(ready.issuers ?? {}).map(([name, state]) => [`issuer ${name}`, state] as const);
  const whyRefused = sources.whyRefused();
  const parts = [...Object.entries(ready.parts), ['previews', ready.previews] as const, ...issuers, ...servers];
  return {
    version: sources.version,
    gatewayId: sources.gatewayId,
    publicUrl: sources.publicUrl(),
    startedAt: new Date(sources.startedAt).toISOString(),
    status: ready.status,
    problems: [
      ...parts.filter(([, state]) => toneOf(state) === 'bad').map(([part, cause]) => ({ part, cause })),
      ...(whyRefused === undefined ? [] : [{ part: 'config', cause: `its file is not followed: ${whyRefused}` }]),
    ],
    now: sources.now(),
    since: {
      exchanges: sum(exchanges),
      failed: sum(exchanges.filter(({ labels }) => labels.outcome !== 'ok')),
      files: sum(sources.counted('wharf_files_total')),
      fileBytes: sum(sources.counted('wharf_file_bytes_total')),
    },
    limits: sources
      .counted('wharf_limits_total')
      .map(({ labels, value }) => ({ limit: String(labels.limit), count: value }))
      .sort((one, other) => other.count - one.count),
  };
}

/** Each server, whether it can be reached, and how many sessions this process has open with it. */
export async function serversOf(sources: ConsoleSources): Promise<ServerFacts[]> {
  const { servers: states } = await sources.readiness();
  const open = new Map<string, number>();
  for (const { server } of sources.sessions()) open.set(server, (open.get(server) ?? 0) + 1);
  return sources.servers().map(({ name, transport, place, mcp }) => ({
    name,
    transport,
    place,
    url: mcp(),
    state: states[name] ?? UNKNOWN,
    sessions: open.get(name) ?? 0,
  }));
}

/** Sessions that one page lists; the rest is counted. */
export const MAX_SESSIONS = 500;

/**
 * The sessions used last, at most `MAX_SESSIONS`.
 * @param tagOf what an id is called here, because it is a credential
 */
export function sessionsOf(sources: ConsoleSources, tagOf: (id: string) => string): SessionFacts[] {
  const used = [...sources.sessions()].sort((one, other) => other.usedAt - one.usedAt);
  return used.slice(0, MAX_SESSIONS).map((session) => ({
    tag: tagOf(session.id),
    server: session.server,
    principal: session.principal,
    client: [session.clientName, session.clientVersion].filter(Boolean).join(' ') || 'unnamed',
    version: session.version,
    usedAt: new Date(session.usedAt).toISOString(),
  }));
}

function sum(counted: Counted): number {
  return counted.reduce((all, { value }) => all + value, 0);
}
