import type { Tracer } from '../ports/telemetry.js';
import type { Session } from '../relay/session.js';

/** Records how long sessions lasted: those of clients with Wharf, and those of Wharf with servers that have sessions. */
export function sessionDurations(tracer: Tracer): (session: Session, ms: number) => void {
  return ({ server, version, channel, upstreamSession }, ms) => {
    const facts = { 'mcp.protocol.version': version, 'wharf.server': server };
    tracer.observe('mcp.server.session.duration', ms / 1000, facts);
    if (channel === 'shared' || upstreamSession !== undefined)
      tracer.observe('mcp.client.session.duration', ms / 1000, facts);
  };
}
