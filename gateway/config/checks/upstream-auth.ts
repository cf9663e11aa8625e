import type { Config, ServerConfig, UpstreamAuthConfig } from '../config.js';
import { type ConfigProblem, type Path, problem } from '../problems.js';
import { brokenRules, isAbsent, type Rule } from './rule.js';

/** What they are about. A section with a problem of its own is missing. */
interface Facts {
  servers: readonly ServerConfig[];
  auth?: Config['auth'] | undefined;
  publicUrl?: string | undefined;
}

/** The `upstreamAuth` of one server. */
interface Own extends UpstreamAuthConfig {
  /** Undefined: a section with problems. */
  use: Config['auth']['use'] | undefined;
  lacksUrl: boolean;
}

const RULES: readonly Rule<Own>[] = [
  {
    when: ({ delegate, use }) => delegate === true && (use === 'none' || use === 'jwt' || use === 'passthrough'),
    path: ['delegate'],
    message: 'needs auth: apiKeys, whose keys come in X-Wharf-Key beside it',
  },
  {
    when: ({ tokenExchange, use }) =>
      tokenExchange !== undefined && (use === 'none' || use === 'apiKeys' || use === 'passthrough'),
    path: ['tokenExchange'],
    message: 'needs auth: jwt, because a token is what is exchanged',
  },
  {
    when: ({ perUser, lacksUrl }) => makesItselfKnown(perUser) && lacksUrl,
    path: ['perUser', 'clientId'],
    message: 'is required without publicUrl',
  },
  {
    when: ({ perUser, use }) => perUser !== undefined && use === 'none',
    path: ['perUser'],
    message: 'needs auth that tells callers apart: with none all of them are one',
  },
  ...(['clientSecret', 'privateKey'] as const).map((member) => ({
    when: ({ perUser }: Own) => makesItselfKnown(perUser) && perUser?.[member] !== undefined,
    path: ['perUser', member],
    message: 'needs clientId: without one Wharf makes itself known, as a client that has none',
  })),
];

function makesItselfKnown(perUser: UpstreamAuthConfig['perUser']): boolean {
  return perUser !== undefined && perUser.clientId === undefined;
}

/** Credentials that could never be sent, or would be no credentials. */
export function upstreamAuthProblems(facts: Facts): ConfigProblem[] {
  const { servers, auth } = facts;
  const lacksUrl = isAbsent(facts, 'publicUrl');
  return servers.flatMap(({ name, transport, settings, upstreamAuth: own }) => {
    if (!own) return [];
    const path = ['servers', name, 'upstreamAuth'];
    if (transport === 'stdio' || transport === 'legacy-sse')
      return [problem(path, `is for Streamable HTTP, and the transport of this server is ${transport}`)];
    return [
      ...brokenRules(RULES, { ...own, use: auth?.use, lacksUrl }, path),
      ...twinHeaders(own.identityHeaders ?? {}, [...path, 'identityHeaders']),
      ...takenHeaders(own, settings, path),
    ];
  });
}

/** Of one header that tells two things a server hears only one. */
function twinHeaders(headers: Readonly<Record<string, string>>, path: Path): ConfigProblem[] {
  const seen = new Map<string, string>();
  return Object.keys(headers).flatMap((header) => {
    const twin = seen.get(header.toLowerCase());
    seen.set(header.toLowerCase(), header);
    return twin === undefined ? [] : [problem([...path, header], `is the same header as "${twin}"`)];
  });
}

/** Headers that the server's own `headers` set. */
function takenHeaders(own: UpstreamAuthConfig, settings: ServerConfig['settings'], path: Path): ConfigProblem[] {
  const fixed = Object.keys((settings.headers as object | undefined) ?? {}).map((header) => header.toLowerCase());
  const sends = own.clientCredentials ?? own.tokenExchange ?? own.perUser ?? own.delegate;
  return [...(sends ? ['authorization'] : []), ...Object.keys(own.identityHeaders ?? {})]
    .filter((header) => fixed.includes(header.toLowerCase()))
    .map((header) => problem(path, `sets the header ${header}, which this server's headers set already`));
}

/** What of a caller each way in can tell; the rest is a header that no server gets, or an empty one. */
const UNTOLD: Readonly<Record<Config['auth']['use'], RegExp>> = {
  none: /^(?:key|groups|scopes|claims\..*)$/s,
  apiKeys: /^(?:groups|scopes|claims\..*)$/s,
  jwt: /^key$/,
  both: /^$/,
  // refused beside it
  passthrough: /^$/,
};

const WHY_UNTOLD: Partial<Record<Config['auth']['use'], string>> = {
  none: 'with auth none, whose only caller has no',
  apiKeys: 'for callers with API keys, which have no',
  jwt: 'for callers with tokens, which have no',
};

/** One header of `identityHeaders`. */
interface Told {
  header: string;
  what: string;
  use: Config['auth']['use'];
}

const OF_HEADERS: readonly Rule<Told>[] = [
  {
    when: ({ what, use }) => UNTOLD[use].test(what),
    path: ({ header }) => [header],
    message: ({ what, use }) => {
      const [fact = ''] = what.split('.', 1);
      const isList = fact === 'groups' || fact === 'scopes';
      return `${isList ? 'is always empty' : 'is never sent'} ${WHY_UNTOLD[use]} ${fact}: remove it, or send another fact`;
    },
  },
];

/** RFC 6749 §4.4: only a client that proves itself may use this grant, but some servers look at its name alone. */
const WITHOUT_PROOF: Rule<UpstreamAuthConfig> = {
  when: ({ clientCredentials: own }) => own?.clientId !== undefined && !own.clientSecret && !own.privateKey,
  path: ['clientCredentials'],
  message:
    'has neither clientSecret nor privateKey, so that the authorization server gets nothing but clientId; nearly all ' +
    'refuse that (RFC 6749, section 4.4): add one of them',
};

/** Credentials and headers that work nowhere, or almost nowhere, but harm nothing. */
export function upstreamAuthWarnings({ servers, auth }: Facts): ConfigProblem[] {
  return servers.flatMap(({ name, upstreamAuth: own }) => {
    if (!own || !auth) return [];
    const path = ['servers', name, 'upstreamAuth'];
    const { use } = auth;
    return [
      ...brokenRules([WITHOUT_PROOF], own, path),
      ...Object.entries(own.identityHeaders ?? {}).flatMap(([header, what]) =>
        brokenRules(OF_HEADERS, { header, what, use }, [...path, 'identityHeaders']),
      ),
    ];
  });
}
