import type { JsonObject } from '../ports/json.js';
import type { TraceContext } from '../ports/telemetry.js';

/** What a message's `_meta`, or a request's headers, say of the trace that it belongs to. */
export function contextIn({ traceparent, tracestate }: JsonObject): TraceContext | undefined {
  if (typeof traceparent !== 'string') return undefined;
  return typeof tracestate === 'string' ? { traceparent, tracestate } : { traceparent };
}
