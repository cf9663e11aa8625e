import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes,
  type Histogram,
  type Link,
  type Meter,
  type Span as OtelSpan,
  type Tracer as OtelTracer,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { parseTraceParent, TraceState } from '@opentelemetry/core';
import type {
  DurationName,
  Span,
  SpanFacts,
  SpanFailure,
  SpanStart,
  TraceContext,
  Tracer,
} from '../../../gateway/ports/telemetry.js';

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;

/** Seconds: those of the conventions. */
const BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** W3C Trace Context: a vendor SHOULD propagate at least 512 characters; what is longer is left out as a whole. */
const MAX_STATE = 512;

/** Longest text of a failure. */
const MAX_MESSAGE = 200;

const DESCRIPTIONS: Record<DurationName, string> = {
  'mcp.server.operation.duration': 'Time that a message of a client took at Wharf',
  'mcp.client.operation.duration': 'Time that a message to a server took until it was answered',
  'mcp.server.session.duration': 'Time that a session of a client lasted',
  'mcp.client.session.duration': 'Time that a session with a server lasted',
};

/** Records with OpenTelemetry's SDK. The current span follows what its work awaits. */
export class OtlpTracer implements Tracer {
  readonly handsOnAlways: boolean;
  readonly #tracer: OtelTracer;
  readonly #current = new AsyncLocalStorage<Recorded | undefined>();
  readonly #histograms: ReadonlyMap<DurationName, Histogram>;

  constructor(tracer: OtelTracer, meter: Meter, handsOnAlways: boolean) {
    this.handsOnAlways = handsOnAlways;
    this.#tracer = tracer;
    this.#histograms = new Map(
      Object.entries(DESCRIPTIONS).map(([name, description]) => {
        const advice = { explicitBucketBoundaries: BUCKETS };
        return [name as DurationName, meter.createHistogram(name, { description, unit: 's', advice })];
      }),
    );
  }

  get current(): Span | undefined {
    return this.#current.getStore();
  }

  begin({ name, kind, parent, link, since = 0, facts }: SpanStart): Span {
    const above = contextOf(parent) ?? (parent ? undefined : this.#current.getStore()?.span.spanContext());
    const context = above ? trace.setSpanContext(ROOT_CONTEXT, above) : ROOT_CONTEXT;
    const linked = contextOf(link);
    const links: Link[] = linked ? [{ context: linked }] : [];
    const startTime = Date.now() - since;
    const span = this.#tracer.startSpan(
      name,
      { kind: KINDS[kind], attributes: known(facts), links, startTime },
      context,
    );
    return new Recorded(span);
  }

  within<Value>(span: Span | undefined, work: () => Value): Value {
    return this.#current.run(span instanceof Recorded ? span : undefined, work);
  }

  observe(name: DurationName, seconds: number, facts: SpanFacts): void {
    this.#histograms.get(name)?.record(seconds, known(facts));
  }
}

class Recorded implements Span {
  readonly span: OtelSpan;
  #context: TraceContext | undefined;

  constructor(span: OtelSpan) {
    this.span = span;
  }

  get context(): TraceContext {
    this.#context ??= written(this.span.spanContext());
    return this.#context;
  }

  end(facts: SpanFacts = {}, failure?: SpanFailure): void {
    const { span } = this;
    span.setAttributes(known(facts));
    if (failure) {
      span.setAttribute('error.type', failure.type);
      const message = failure.message?.slice(0, MAX_MESSAGE);
      span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) });
    }
    span.end();
  }
}

/** Undefined for what is not a context: then it is as if nothing had been said. */
function contextOf(said: TraceContext | undefined): SpanContext | undefined {
  const parsed = said && parseTraceParent(said.traceparent);
  if (!said || !parsed) return undefined;
  const { tracestate } = said;
  const isState = tracestate !== undefined && tracestate.length <= MAX_STATE;
  return { ...parsed, isRemote: true, ...(isState && { traceState: new TraceState(tracestate) }) };
}

function written({ traceId, spanId, traceFlags, traceState }: SpanContext): TraceContext {
  const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  const tracestate = traceState?.serialize();
  return tracestate ? { traceparent, tracestate } : { traceparent };
}

function known(facts: SpanFacts): Attributes {
  const attributes: Attributes = {};
  for (const [name, value] of Object.entries(facts)) if (value !== undefined) attributes[name] = value;
  return attributes;
}
