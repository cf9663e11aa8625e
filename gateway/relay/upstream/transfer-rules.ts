import type { TransferRules } from '../../ports/transfer.js';
import type { CommonDeps } from '../common-deps.js';

/** The rules for addresses that this server names. */
export function rulesFor(
  deps: Pick<CommonDeps, 'limits' | 'timeouts' | 'upstreamOrigin' | 'fetchOrigins' | 'ownPorts'>,
): TransferRules {
  const { limits, timeouts, upstreamOrigin, fetchOrigins, ownPorts } = deps;
  return {
    ...(upstreamOrigin && { ownOrigin: upstreamOrigin }),
    origins: fetchOrigins,
    ownPorts: ownPorts(),
    maxBytes: limits.file,
    timeouts: { connect: timeouts.store, idle: timeouts.idle, total: timeouts.upstream },
    redirects: 3,
  };
}

/** The operator's credentials for an address that a server names: only on the server's own origin. */
export function ownCredentials(
  url: string,
  { upstreamOrigin, upstreamHeaders }: Pick<CommonDeps, 'upstreamOrigin' | 'upstreamHeaders'>,
): Record<string, string> {
  if (!URL.canParse(url) || new URL(url).origin !== upstreamOrigin) return {};
  return Object.fromEntries(Object.entries(upstreamHeaders).filter(([name]) => /auth|key|token/i.test(name)));
}

/** At most one line of a server's own text, which is passed on to a model. */
export function brief(message: string): string {
  const line = trimmed(message.replace(/\s+/g, ' '));
  return line.length > 200 ? `${line.slice(0, 200)}…` : line || 'without a reason';
}

/** A peer's sentence as a part of another one: without blanks around it, and without its full stop. */
export function trimmed(text: string): string {
  return text.trim().replace(/\.$/, '');
}
