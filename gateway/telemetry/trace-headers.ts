import type { Tracer } from '../ports/telemetry.js';
import type { Upstream } from '../ports/upstream.js';

/** Requests to a server over HTTP say in their headers what trace they belong to, instead of what the client's say. */
export function withTraceHeaders(upstream: Upstream, tracer: Tracer): Upstream {
  if (upstream.channel !== 'exchange') return upstream;
  return {
    channel: 'exchange',
    transport: upstream.transport,
    open: (request, signal) => {
      const { current } = tracer;
      if (!current) return upstream.open(request, signal);
      const { traceparent, tracestate } = current.context;
      const { tracestate: _, ...others } = request.headers;
      const headers = { ...others, traceparent, ...(tracestate !== undefined && { tracestate }) };
      return upstream.open({ ...request, headers }, signal);
    },
    check: () => upstream.check(),
    close: () => upstream.close(),
  };
}
