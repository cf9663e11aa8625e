import type { Config, ServerConfig } from './config.js';
import { type ConfigProblem, type Path, problem } from './problems.js';

/** What they are about. A section with a problem of its own is missing. */
interface Facts {
  servers: readonly ServerConfig[];
  auth?: Config['auth'] | undefined;
  publicUrl?: string | undefined;
}

/** Credentials that could never be sent, or would be no credentials. */
export function upstreamAuthProblems({ servers, auth, publicUrl }: Facts): ConfigProblem[] {
  return servers.flatMap(({ name, transport, settings, upstreamAuth: own }) => {
    if (!own) return [];
    const path = ['servers', name, 'upstreamAuth'];
    if (transport === 'stdio' || transport === 'legacy-sse')
      return [problem(path, `is for Streamable HTTP, and the transport of this server is ${transport}`)];
    const problems: ConfigProblem[] = [];
    const usesKeys = auth === undefined || auth.use === 'apiKeys' || auth.use === 'both';
    const usesTokens = auth === undefined || auth.use === 'jwt' || auth.use === 'both';
    if (own.delegate && !usesKeys)
      problems.push(problem([...path, 'delegate'], 'needs auth: apiKeys, whose keys come in X-Wharf-Key beside it'));
    if (own.tokenExchange && !usesTokens)
      problems.push(problem([...path, 'tokenExchange'], 'needs auth: jwt, because a token is what is exchanged'));
    const fixed = Object.keys((settings.headers as object | undefined) ?? {}).map((header) => header.toLowerCase());
    if (own.perUser && own.perUser.clientId === undefined && publicUrl === undefined)
      problems.push(problem([...path, 'perUser', 'clientId'], 'is required without publicUrl'));
    if (own.perUser && auth?.use === 'none')
      problems.push(
        problem([...path, 'perUser'], 'needs auth that tells callers apart: with none all of them are one'),
      );
    if (own.perUser && own.perUser.clientId === undefined)
      for (const member of ['clientSecret', 'privateKey'] as const)
        if (own.perUser[member] !== undefined)
          problems.push(
            problem(
              [...path, 'perUser', member],
              'needs clientId: without one Wharf makes itself known, as a client that has none',
            ),
          );
    problems.push(...twinHeaders(own.identityHeaders ?? {}, [...path, 'identityHeaders']));
    const sends = own.clientCredentials ?? own.tokenExchange ?? own.perUser ?? own.delegate;
    const taken = [...(sends ? ['authorization'] : []), ...Object.keys(own.identityHeaders ?? {})];
    for (const header of taken)
      if (fixed.includes(header.toLowerCase()))
        problems.push(problem(path, `sets the header ${header}, which this server's headers set already`));
    return problems;
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
