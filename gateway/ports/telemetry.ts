/** A place in a trace, as W3C Trace Context writes it. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
}

/** What is said of an operation. The place that says it bounds each value, and never says a secret. */
export type SpanFacts = Readonly<Record<string, string | number | boolean | undefined>>;

/** An operation that begins. */
export interface SpanStart {
  readonly name: string;
  readonly kind: 'server' | 'client' | 'internal';
  /** Another process's span; without it the span is below the current one. */
  readonly parent?: TraceContext | undefined;
  /** Another context that belongs to it. */
  readonly link?: TraceContext | undefined;
  /** Milliseconds ago that it began. Default 0. */
  readonly since?: number | undefined;
  readonly facts: SpanFacts;
}

/** Why an operation failed. */
export interface SpanFailure {
  /** A class of errors: few different ones. */
  readonly type: string;
  readonly message?: string | undefined;
}

/** One operation, until it ends. */
export interface Span {
  readonly context: TraceContext;
  end(facts?: SpanFacts, failure?: SpanFailure): void;
}

/** Histograms of seconds, by their names in the MCP conventions of OpenTelemetry. */
export type DurationName =
  | 'mcp.server.operation.duration'
  | 'mcp.client.operation.duration'
  | 'mcp.server.session.duration'
  | 'mcp.client.session.duration';

/** Records operations. Never fails, never waits, and keeps a bounded amount. */
export interface Tracer {
  /** True when a context goes into every request to a server, not only into those whose client has put one there. */
  readonly handsOnAlways: boolean;
  /** The span in which this work is done. */
  readonly current: Span | undefined;
  begin(start: SpanStart): Span;
  /** Does work inside a span: what it awaits is inside too. Without a span: inside none. */
  within<Value>(span: Span | undefined, work: () => Value): Value;
  /** Records how long an operation took. @param facts few different values for each name */
  observe(name: DurationName, seconds: number, facts: SpanFacts): void;
}

/** Where traces and metrics are sent. */
export interface Telemetry {
  readonly name: string;
  /** Absent where nothing is recorded. */
  readonly tracer?: Tracer;
  /** Sends a message without content. @throws why it does not arrive. Absent where nothing is sent. */
  check?(): Promise<void>;
  /** Sends what is left, for a bounded time. */
  close(): Promise<void>;
}
