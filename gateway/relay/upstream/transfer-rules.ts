import type { TransferRules } from '../../ports/transfer.js';
import type { CommonDeps } from '../common-deps.js';

/** What may be asked of addresses that this server named. */
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

/** A server's own words, which go on to a model: not more than a line of them. */
export function brief(message: string): string {
  const line = trimmed(message.replace(/\s+/g, ' '));
  return line.length > 200 ? `${line.slice(0, 200)}…` : line || 'without a reason';
}

export function trimmed(text: string): string {
  return text.trim().replace(/\.$/, '');
}
