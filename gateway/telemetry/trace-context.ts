import type { IncomingHttpHeaders } from 'node:http';
import { single } from '../mcp/headers.js';
import type { JsonObject } from '../ports/json.js';
import type { TraceContext } from '../ports/telemetry.js';

/** The trace that a message belongs to, by its `_meta`. */
export function contextIn({ traceparent, tracestate }: JsonObject): TraceContext | undefined {
  if (typeof traceparent !== 'string') return undefined;
  return typeof tracestate === 'string' ? { traceparent, tracestate } : { traceparent };
}

/** The trace that an HTTP request belongs to, by its headers. */
export function contextOf({ traceparent, tracestate }: IncomingHttpHeaders): TraceContext | undefined {
  return contextIn({ traceparent: single(traceparent) ?? null, tracestate: single(tracestate) ?? null });
}
