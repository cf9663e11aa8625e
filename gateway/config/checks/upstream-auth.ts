import type { Config, ServerConfig, UpstreamAuthConfig } from '../config.js';
import { type ConfigProblem, type Path, problem } from '../problems.js';
import { brokenRules, type Rule } from './rule.js';

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
  publicUrl: string | undefined;
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
    when: ({ perUser, publicUrl }) => makesItselfKnown(perUser) && publicUrl === undefined,
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
export function upstreamAuthProblems({ servers, auth, publicUrl }: Facts): ConfigProblem[] {
  return servers.flatMap(({ name, transport, settings, upstreamAuth: own }) => {
    if (!own) return [];
    const path = ['servers', name, 'upstreamAuth'];
    if (transport === 'stdio' || transport === 'legacy-sse')
      return [problem(path, `is for Streamable HTTP, and the transport of this server is ${transport}`)];
    return [
      ...brokenRules(RULES, { ...own, use: auth?.use, publicUrl }, path),
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
