import { OWN_AMOUNTS } from '../../policy/allowance.js';
import { CALL_AMOUNTS } from '../../policy/tool-limits.js';
import type { Config, ServerConfig } from '../config.js';
import { type ConfigProblem, problem } from '../problems.js';

/** What they are about. A section with a problem of its own is missing. */
interface Facts {
  servers: readonly ServerConfig[];
  auth?: Config['auth'] | undefined;
  callers?: Config['callers'] | undefined;
  ceiling?: Config['ceiling'] | undefined;
  limits?: Partial<Record<string, unknown>> | undefined;
}

/** What cannot be where the server alone knows its callers. */
export function passthroughProblems(
  { servers, auth, ...rules }: Facts,
  serverNames: readonly string[],
): ConfigProblem[] {
  if (auth?.use !== 'passthrough') return [];
  const problems: ConfigProblem[] = [];
  if (serverNames.length > 1) {
    const text = `is for exactly one server, because a token is for one; this file has ${serverNames.length}`;
    problems.push(problem(['auth', 'use'], text, auth.use));
  }
  for (const { name, transport, settings, upstreamAuth } of servers) {
    const path = ['servers', name];
    if (transport === 'stdio' || transport === 'legacy-sse')
      problems.push(problem(path, `has the transport ${transport}, and auth passthrough is for Streamable HTTP`));
    if (upstreamAuth)
      problems.push(
        problem([...path, 'upstreamAuth'], "cannot be set with auth passthrough, which gives the caller's token"),
      );
    const headers = Object.keys((settings.headers as object | undefined) ?? {});
    if (headers.some((header) => header.toLowerCase() === 'authorization'))
      problems.push(
        problem([...path, 'headers'], 'sets Authorization, which comes from the caller with auth passthrough'),
      );
  }
  return [...problems, ...servers.flatMap(toolProblems), ...limitProblems(rules)];
}

/** What callers may use of a tool is counted by caller too. */
function toolProblems({ name, tools }: ServerConfig): ConfigProblem[] {
  return Object.entries(tools).flatMap(([tool, { limits }]) =>
    CALL_AMOUNTS.filter((amount) => limits?.[amount] !== undefined).map((amount) =>
      problem(['servers', name, 'tools', tool, 'limits', amount], BY_CALLER),
    ),
  );
}

const BY_CALLER = 'counts by caller, and with auth passthrough a person becomes another one by each login';

/** A limit of a caller who can be another one at will limits nothing. */
function limitProblems({ callers = [], ceiling = {}, limits = {} }: Omit<Facts, 'servers' | 'auth'>): ConfigProblem[] {
  const ofCeiling = [...OWN_AMOUNTS, 'sessions', 'processes'] as const;
  return [
    ...OWN_AMOUNTS.filter((name) => limits[name] !== undefined).map((name) => problem(['limits', name], BY_CALLER)),
    ...ofCeiling.filter((name) => ceiling[name] !== undefined).map((name) => problem(['ceiling', name], BY_CALLER)),
    ...(callers.length > 0 ? [problem(['callers'], BY_CALLER)] : []),
  ];
}
