import type { Config, ServerConfig } from './config.js';
import { type ConfigProblem, problem } from './problems.js';

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
    const sends = own.clientCredentials ?? own.tokenExchange ?? own.perUser ?? own.delegate;
    const taken = [...(sends ? ['authorization'] : []), ...Object.keys(own.identityHeaders ?? {})];
    for (const header of taken)
      if (fixed.includes(header.toLowerCase()))
        problems.push(problem(path, `sets the header ${header}, which this server's headers set already`));
    return problems;
  });
}
