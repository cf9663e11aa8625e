import { createServer } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { close, listen } from './loopback.js';
import { attributesIn, Fields } from './otlp-protobuf.js';

export const KIND = { internal: 1, server: 2, client: 3 } as const;

export interface CollectedSpan {
  traceId: string;
  spanId: string;
  /** Empty for the first of a trace. */
  parentSpanId: string;
  traceState: string;
  name: string;
  kind: number;
  attributes: Record<string, unknown>;
  links: { traceId: string; spanId: string }[];
  /** 2: an error. */
  status: { code: number; message: string };
  /** Nanoseconds. */
  start: number;
  end: number;
}

interface CollectedPoint {
  attributes: Record<string, unknown>;
  count: number;
  sum: number;
  bounds: number[];
}

interface CollectedMetric {
  name: string;
  unit: string;
  points: CollectedPoint[];
}

interface Request {
  headers: NodeJS.Dict<string | string[]>;
  resource: Record<string, unknown>;
}

/** What a collector does instead of taking an export. */
type Behaviour = 'takes' | 'refuses' | 'hangs' | 'drips' | 'rambles' | 'takes a part';

/** A collector that takes OTLP over HTTP, as JSON and as protobuf, and keeps what it is given. */
export class OtlpCollector {
  readonly spans: CollectedSpan[] = [];
  /** The newest of each name, which counts everything since the start. */
  readonly metrics = new Map<string, CollectedMetric>();
  readonly requests: Request[] = [];
  behaviour: Behaviour = 'takes';
  /** Exports that it has refused. */
  refused = 0;
  /** Exports that it leaves without an answer. */
  waiting = 0;
  readonly #bodies: Buffer[] = [];
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (this.behaviour === 'hangs' || this.behaviour === 'drips') {
        this.waiting += 1;
        const drops = this.behaviour === 'drips' ? setInterval(() => response.write('{'), 100) : undefined;
        response.once('close', () => {
          clearInterval(drops);
          this.waiting -= 1;
        });
        return;
      }
      if (this.behaviour === 'refuses') {
        this.refused += 1;
        return void response.writeHead(400, `wrong key ${request.headers['x-key']}`).end();
      }
      if (this.behaviour === 'rambles') return void response.writeHead(200).end('['.repeat(1024 * 1024));
      const isJson = request.headers['content-type'] === 'application/json';
      const isTraces = request.url?.endsWith('/v1/traces');
      if (this.behaviour === 'takes a part') {
        this.refused += 1;
        return void response
          .writeHead(200)
          .end(refusal(isTraces === true, isJson, `wrong key ${request.headers['x-key']}`));
      }
      const whole = Buffer.concat(chunks);
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(whole) : whole;
      this.#bodies.push(body);
      const resource = isTraces ? this.#takeTraces(body, isJson) : this.#takeMetrics(body, isJson);
      this.requests.push({ headers: request.headers, resource });
      response.writeHead(200, { 'content-type': String(request.headers['content-type']) });
      response.end(isJson ? '{}' : '');
    });
  });
  #port = 0;

  static async start(): Promise<OtlpCollector> {
    const collector = new OtlpCollector();
    collector.#port = await listen(collector.#server);
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** The only span with this name and kind. */
  span(name: string, kind: keyof typeof KIND): CollectedSpan {
    const found = this.spans.filter((span) => span.name === name && span.kind === KIND[kind]);
    if (found.length !== 1 || !found[0]) {
      const names = this.spans.map((span) => `${span.name} (${span.kind})`).join(', ');
      throw new Error(`${found.length} spans are ${name} of kind ${kind}; there are: ${names}`);
    }
    return found[0];
  }

  /** Every byte that it was given, as one text: also of what it does not read, such as the events of a span. */
  get said(): string {
    return Buffer.concat(this.#bodies).toString('latin1');
  }

  stop(): Promise<void> {
    return close(this.#server);
  }

  #takeTraces(body: Buffer, isJson: boolean): Record<string, unknown> {
    if (isJson) {
      const { resourceSpans } = JSON.parse(body.toString('utf8')) as JsonTraces;
      for (const { scopeSpans } of resourceSpans)
        for (const { spans } of scopeSpans) for (const span of spans) this.spans.push(fromJson(span));
      return plain(resourceSpans[0]?.resource.attributes ?? []);
    }
    const resources = new Fields(body).all(1);
    for (const one of resources)
      for (const scope of one.all(2)) for (const span of scope.all(2)) this.spans.push(fromProtobuf(span));
    return attributesIn(resources[0]?.one(1), 1);
  }

  #takeMetrics(body: Buffer, isJson: boolean): Record<string, unknown> {
    if (isJson) {
      const { resourceMetrics } = JSON.parse(body.toString('utf8')) as JsonMetrics;
      for (const { scopeMetrics } of resourceMetrics)
        for (const { metrics } of scopeMetrics)
          for (const { name, unit, histogram } of metrics) {
            const points = (histogram?.dataPoints ?? []).map(({ attributes, count, sum, explicitBounds }) => ({
              attributes: plain(attributes),
              count: Number(count),
              sum,
              bounds: explicitBounds,
            }));
            this.metrics.set(name, { name, unit, points });
          }
      return plain(resourceMetrics[0]?.resource.attributes ?? []);
    }
    const resources = new Fields(body).all(1);
    for (const one of resources)
      for (const scope of one.all(2))
        for (const metric of scope.all(2)) {
          const points = (metric.one(9)?.all(1) ?? []).map((point) => ({
            attributes: attributesIn(point, 9),
            count: point.fixed(4),
            sum: point.double(5),
            bounds: point.doubles(7),
          }));
          this.metrics.set(metric.text(1), { name: metric.text(1), unit: metric.text(3), points });
        }
    return attributesIn(resources[0]?.one(1), 1);
  }
}

/** A partial success: two spans, or points of metrics, are refused, for this reason. */
function refusal(isTraces: boolean, isJson: boolean, why: string): string | Buffer {
  const rejected = { [isTraces ? 'rejectedSpans' : 'rejectedDataPoints']: '2' };
  if (isJson) return JSON.stringify({ partialSuccess: { ...rejected, errorMessage: why } });
  const partial = Buffer.concat([Buffer.from([0x08, 2, 0x12, why.length]), Buffer.from(why)]);
  return Buffer.concat([Buffer.from([0x0a, partial.length]), partial]);
}

type JsonAttributes = { key: string; value: Record<string, unknown> }[];

interface JsonSpan extends Omit<CollectedSpan, 'attributes' | 'start' | 'end' | 'links' | 'status'> {
  attributes: JsonAttributes;
  links?: { traceId: string; spanId: string }[];
  status: { code?: number; message?: string };
  startTimeUnixNano: string;
  endTimeUnixNano: string;
}

interface JsonTraces {
  resourceSpans: { resource: { attributes: JsonAttributes }; scopeSpans: { spans: JsonSpan[] }[] }[];
}

interface JsonPoint {
  attributes: JsonAttributes;
  count: string | number;
  sum: number;
  explicitBounds: number[];
}

interface JsonMetrics {
  resourceMetrics: {
    resource: { attributes: JsonAttributes };
    scopeMetrics: { metrics: { name: string; unit: string; histogram?: { dataPoints: JsonPoint[] } }[] }[];
  }[];
}

function plain(attributes: JsonAttributes): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      const { intValue, ...other } = value;
      return [key, intValue === undefined ? Object.values(other)[0] : Number(intValue)];
    }),
  );
}

function fromJson({ attributes, startTimeUnixNano, endTimeUnixNano, links = [], status, ...span }: JsonSpan) {
  return {
    ...span,
    parentSpanId: span.parentSpanId ?? '',
    traceState: span.traceState ?? '',
    attributes: plain(attributes),
    links: links.map(({ traceId, spanId }) => ({ traceId, spanId })),
    status: { code: status.code ?? 0, message: status.message ?? '' },
    start: Number(startTimeUnixNano),
    end: Number(endTimeUnixNano),
  };
}

function fromProtobuf(span: Fields): CollectedSpan {
  const status = span.one(15);
  return {
    traceId: span.hex(1),
    spanId: span.hex(2),
    traceState: span.text(3),
    parentSpanId: span.hex(4),
    name: span.text(5),
    kind: span.varint(6) ?? 0,
    start: span.fixed(7),
    end: span.fixed(8),
    attributes: attributesIn(span, 9),
    links: span.all(13).map((link) => ({ traceId: link.hex(1), spanId: link.hex(2) })),
    status: { code: status?.varint(3) ?? 0, message: status?.text(2) ?? '' },
  };
}
