import { randomUUID } from 'node:crypto';
import { OTLPMetricExporter as JsonMetrics } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPMetricExporter as ProtoMetrics } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter as JsonTraces } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtoTraces } from '@opentelemetry/exporter-trace-otlp-proto';
import { detectResources, envDetector, type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { Stopwatch } from '../../../gateway/ports/clock.js';
import type { Log } from '../../../gateway/ports/log.js';
import type { Telemetry } from '../../../gateway/ports/telemetry.js';
import { bounded } from './agent.js';
import { isOff, protocolOf, type Signal, samplerOf, scheduleOf } from './environment.js';
import { logLosses } from './losses.js';
import { Reported, taken } from './reported.js';
import type { OtlpSettings } from './settings.js';
import { OtlpTracer } from './tracer.js';

const SCOPE = 'mcp-wharf';

/** Most characters of a value: names of tools and addresses of resources are chosen by peers. */
const MAX_VALUE = 256;

/** Spans of one export. */
const BATCH = 512;

/** Most combinations of values of one histogram; what is more is counted together (`otel.metric.overflow`). */
const MAX_SERIES = 2000;

const MS = 1000;

/** Longest that an export may take with all its attempts, as in the specification. */
const EXPORT_MS = 30 * MS;

/** Sends traces and metrics to a collector. One that is away or slow costs what it would have got, and no call waits. */
export function openTelemetry(settings: OtlpSettings, { log, clock }: { log: Log; clock: Stopwatch }): Telemetry {
  logLosses({ log, clock, queue: settings.queue });
  const resource = ownResource();
  const timeout = settings.timeoutSeconds === undefined ? {} : { timeoutMillis: settings.timeoutSeconds * MS };
  const reach = (signal: Signal) => {
    const url = settings.endpoint === undefined ? {} : { url: `${settings.endpoint.replace(/\/$/, '')}/v1/${signal}` };
    return bounded({ ...url, headers: settings.headers, ...timeout }, signal);
  };
  const writes = (signal: Signal) => settings.protocol ?? protocolOf(signal);
  const toTraces = () =>
    writes('traces') === 'http/json' ? new JsonTraces(reach('traces')) : new ProtoTraces(reach('traces'));
  const toMetrics = () =>
    writes('metrics') === 'http/json' ? new JsonMetrics(reach('metrics')) : new ProtoMetrics(reach('metrics'));
  const spanProcessors = () => {
    const exporter = toTraces();
    const options = {
      maxQueueSize: settings.queue,
      maxExportBatchSize: Math.min(BATCH, settings.queue),
      scheduledDelayMillis: scheduleOf('traces'),
      exportTimeoutMillis: settings.timeoutSeconds === undefined ? EXPORT_MS : (settings.timeoutSeconds + 1) * MS,
    };
    return [new BatchSpanProcessor(new Reported(exporter, 'traces', log), options)];
  };
  const readers = () => {
    const exporter = toMetrics();
    const exportIntervalMillis = scheduleOf('metrics');
    return [
      new PeriodicExportingMetricReader({
        exporter: new Reported(exporter, 'metrics', log),
        exportIntervalMillis,
        exportTimeoutMillis: Math.min(exportIntervalMillis, EXPORT_MS),
        cardinalityLimits: { default: MAX_SERIES },
      }),
    ];
  };
  const tries = [
    ...(isOff('traces') ? [] : [() => taken(toTraces(), [])]),
    ...(isOff('metrics') ? [] : [() => taken(toMetrics(), { resource, scopeMetrics: [] })]),
  ];
  const traces = new BasicTracerProvider({
    resource,
    sampler: samplerOf(settings.sample),
    spanLimits: { attributeValueLengthLimit: MAX_VALUE },
    spanProcessors: isOff('traces') ? [] : spanProcessors(),
  });
  const metrics = new MeterProvider({ resource, readers: isOff('metrics') ? [] : readers() });
  const tracer = new OtlpTracer(traces.getTracer(SCOPE), metrics.getMeter(SCOPE), settings.handOn === 'always');
  return {
    name: 'otlp',
    tracer,
    ...(tries.length > 0 && { check: async () => void (await Promise.all(tries.map((attempt) => attempt()))) }),
    close: async () => {
      const ended = Promise.allSettled([traces.shutdown(), metrics.shutdown()]);
      await within(settings.drainSeconds * MS, ended);
    },
  };
}

/** `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` go before what Wharf says of itself. */
function ownResource(): Resource {
  const own = resourceFromAttributes({ 'service.name': 'wharf', 'service.instance.id': randomUUID() });
  return own.merge(detectResources({ detectors: [envDetector] }));
}

/** Waits for work, at most so long. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, over]);
  clearTimeout(timer);
}
