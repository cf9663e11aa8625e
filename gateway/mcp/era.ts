/**
 * What each revision of MCP has and lacks. Every difference in Wharf's behaviour between revisions is in this table, so
 * a new revision is a new row.
 */
export interface Era {
  /** The revision's name: a date. */
  readonly version: string;
  /** `initialize` opens a session, which the client may end. Without sessions each request is independent. */
  readonly hasSessions: boolean;
  /** Each request states in its `_meta` its version, the client's identity and its capabilities. */
  readonly describesClient: boolean;
  /** HTTP headers repeat the method, the name and marked arguments of a request, and must agree with it (SEP-2243). */
  readonly repeatsInHeaders: boolean;
  /** Every result states by `resultType` whether it is complete. */
  readonly completesResults: boolean;
  /** Results state by `cacheScope` and `ttlMs` who may cache them, and for how long. */
  readonly hasCacheFields: boolean;
  /** Tools have `annotations`. */
  readonly hasToolAnnotations: boolean;
  /** Tools have a `title`. */
  readonly hasTitles: boolean;
  /** Tools have a `_meta`. */
  readonly hasToolMeta: boolean;
  /** Tools have an `outputSchema`, and their results `structuredContent`. */
  readonly hasStructuredContent: boolean;
  /** Results may contain a `resource_link`; an older client rejects the whole result. */
  readonly hasResourceLinks: boolean;
  /** An extension may use -32000 to -32019 for its own errors. */
  readonly hasExtensionCodes: boolean;
  /**
   * How a server asks the client's person for something while it answers: not at all, by a request of its own on the
   * call's stream, or by a result that wants input, after which the client calls again (SEP-2322).
   */
  readonly elicitsBy: 'nothing' | 'request' | 'result';
  /** It may send that person to a web page. */
  readonly hasUrlElicitation: boolean;
  /** The error code for a missing resource. */
  readonly missingResourceCode: number;
  /** HTTP status of JSON-RPC errors that have their own, by code. */
  readonly statusOfError: ReadonlyMap<number, number>;
}

/** What holds before the first revision. */
const BEFORE: Omit<Era, 'version'> = {
  hasSessions: true,
  describesClient: false,
  repeatsInHeaders: false,
  completesResults: false,
  hasCacheFields: false,
  hasToolAnnotations: false,
  hasTitles: false,
  hasToolMeta: false,
  hasStructuredContent: false,
  hasResourceLinks: false,
  hasExtensionCodes: true,
  elicitsBy: 'nothing',
  hasUrlElicitation: false,
  missingResourceCode: -32002,
  statusOfError: new Map(),
};

/** The revisions, oldest first, each with its changes. Everything else is as in the row above. */
const REVISIONS: readonly (Partial<Era> & Pick<Era, 'version'>)[] = [
  { version: '2024-10-07' },
  { version: '2024-11-05' },
  { version: '2025-03-26', hasToolAnnotations: true },
  {
    version: '2025-06-18',
    hasTitles: true,
    hasToolMeta: true,
    hasStructuredContent: true,
    hasResourceLinks: true,
    elicitsBy: 'request',
  },
  { version: '2025-11-25', hasUrlElicitation: true },
  {
    version: '2026-07-28',
    hasSessions: false,
    describesClient: true,
    repeatsInHeaders: true,
    completesResults: true,
    hasCacheFields: true,
    hasExtensionCodes: false,
    elicitsBy: 'result',
    missingResourceCode: -32602,
    statusOfError: new Map([
      [-32601, 404],
      [-32020, 400],
      [-32021, 400],
      [-32022, 400],
    ]),
  },
];

/** The revisions that Wharf knows, oldest first. */
export const ERAS: readonly Era[] = REVISIONS.map(
  (_, index) => Object.assign({}, BEFORE, ...REVISIONS.slice(0, index + 1)) as Era,
);

/** Assumed for a client without a version: the last revision before `MCP-Protocol-Version` existed. */
export const ASSUMED_ERA = named('2025-03-26');

/** The version of a session that Wharf itself opens to fetch a file that a client requests by a link. */
export const OWN_VERSION = named('2025-06-18').version;

const WITH_SESSIONS = ERAS.filter(({ hasSessions }) => hasSessions);
const STATELESS = ERAS.filter(({ hasSessions }) => !hasSessions);

/** The newest revision with sessions: every older server with sessions can negotiate it down to its own. */
export const NEWEST_WITH_SESSIONS = WITH_SESSIONS.at(-1) as Era;

/** The newest revision. It has no sessions. */
export const NEWEST = STATELESS.at(-1) as Era;

/** Versions with sessions that Wharf knows. */
export const VERSIONS_WITH_SESSIONS: readonly string[] = WITH_SESSIONS.map(({ version }) => version);

/** Versions without sessions that Wharf knows. A client with another one is refused, as MCP requires. */
export const STATELESS_VERSIONS: readonly string[] = STATELESS.map(({ version }) => version);

/**
 * The revision whose rules apply to a peer's version. A peer may name any number of versions, and what Wharf keeps per
 * version must not grow with them. For an unknown version this is the latest earlier revision with sessions.
 */
export function eraOf(version: string): Era {
  const stateless = STATELESS.find((era) => era.version === version);
  if (stateless) return stateless;
  if (!/^\d{4}-\d{2}-\d{2}$/.test(version)) return ASSUMED_ERA;
  // versions are dates, so comparing them as text orders them
  return WITH_SESSIONS.findLast((era) => era.version <= version) ?? ASSUMED_ERA;
}

/**
 * The revision of a message, by the version in its own `_meta`. A message in a session has none: its era then only
 * answers questions that are the same for every revision with sessions.
 */
export function eraOfMessage(statelessVersion: string | undefined): Era {
  if (statelessVersion === undefined) return ASSUMED_ERA;
  return STATELESS.find(({ version }) => version === statelessVersion) ?? NEWEST;
}

/** True when a peer's version is one without sessions, known or not. */
export function namesStateless(version: unknown): version is string {
  return typeof version === 'string' && version >= (STATELESS[0] as Era).version;
}

function named(version: string): Era {
  const era = ERAS.find((one) => one.version === version);
  if (!era) throw new Error(`no row for ${version}`);
  return era;
}
