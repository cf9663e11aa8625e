import { getNumberFromEnv, getStringFromEnv } from '@opentelemetry/core';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';

/** Signals that can be switched off by themselves. */
export type Signal = 'traces' | 'metrics';

/** What the standard environment variables of OpenTelemetry say and its packages do not read by themselves. */
export function isOff(signal: Signal): boolean {
  const isDisabled = getStringFromEnv('OTEL_SDK_DISABLED')?.toLowerCase() === 'true';
  return isDisabled || getStringFromEnv(`OTEL_${signal.toUpperCase()}_EXPORTER`) === 'none';
}

/** The protocol that the environment names for a signal; any that Wharf does not speak counts as the default. */
export function protocolOf(signal: Signal): 'http/protobuf' | 'http/json' {
  const own = getStringFromEnv(`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_PROTOCOL`);
  return (own ?? getStringFromEnv('OTEL_EXPORTER_OTLP_PROTOCOL')) === 'http/json' ? 'http/json' : 'http/protobuf';
}

/** @param sample from the config, which goes before the environment */
export function samplerOf(sample: number | undefined): Sampler {
  if (sample !== undefined) return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sample) });
  const root = rootSampler();
  const isParentBased = (getStringFromEnv('OTEL_TRACES_SAMPLER') ?? 'parentbased_').startsWith('parentbased_');
  return isParentBased ? new ParentBasedSampler({ root }) : root;
}

function rootSampler(): Sampler {
  switch (getStringFromEnv('OTEL_TRACES_SAMPLER')) {
    case 'always_off':
    case 'parentbased_always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
    case 'parentbased_traceidratio':
      return new TraceIdRatioBasedSampler(getNumberFromEnv('OTEL_TRACES_SAMPLER_ARG') ?? 1);
    default:
      return new AlwaysOnSampler();
  }
}

/** Milliseconds between two exports of spans, and of metrics. */
export function scheduleOf(signal: Signal): number {
  return signal === 'traces'
    ? (getNumberFromEnv('OTEL_BSP_SCHEDULE_DELAY') ?? 5000)
    : (getNumberFromEnv('OTEL_METRIC_EXPORT_INTERVAL') ?? 60_000);
}
