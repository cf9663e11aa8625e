import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../../gateway/errors.js';
import type { BoundMetrics } from '../../../gateway/ports/metrics.js';
import type { StateStore } from '../../../gateway/ports/state-store.js';
import type { Tracer } from '../../../gateway/ports/telemetry.js';
import type { ExchangeUpstream, UpstreamRequest } from '../../../gateway/ports/upstream.js';
import type { Asked } from '../../../gateway/relay/caller.js';
import type { Session } from '../../../gateway/relay/session.js';
import { KnownTools } from '../../../gateway/telemetry/known-tools.js';
import { measuredExchanges } from '../../../gateway/telemetry/measured-exchanges.js';
import { measuredState } from '../../../gateway/telemetry/measured-state.js';
import { requestIn } from '../../../gateway/telemetry/outcome.js';
import { sessionDurations } from '../../../gateway/telemetry/session-durations.js';
import { withTraceHeaders } from '../../../gateway/telemetry/trace-headers.js';

const clock = { ticks: () => 0 };

/** Metrics that note what is counted. */
function counting() {
  const counted: string[] = [];
  const metrics: BoundMetrics = {
    count: (name, labels) => void counted.push(`${name} ${labels?.code}`),
    gauge() {},
    observe() {},
    bind: () => () => undefined,
  };
  return { metrics, counted };
}

describe('what fails on the way to a server', () => {
  const run = async (work: () => Promise<void>, error?: string) => {
    const { metrics, counted } = counting();
    const { forwarded } = measuredExchanges('files', { metrics, clock }, undefined);
    const asked = { exchange: { facts: { error } } } as unknown as Asked;
    await forwarded?.(asked, work).catch(() => undefined);
    return counted;
  };

  it('is counted by its code, before the answer and within it', async () => {
    const late = () => Promise.reject(new GatewayError('upstream_timeout'));
    expect(await run(late)).toEqual(['wharf_upstream_errors_total upstream_timeout']);
    expect(await run(async () => undefined, 'upstream_closed')).toEqual([
      'wharf_upstream_errors_total upstream_closed',
    ]);
  });

  it('is not what its client did, nor a limit of Wharf', async () => {
    expect(await run(() => Promise.reject(new GatewayError('request_invalid')))).toEqual([]);
    expect(await run(async () => undefined, 'response_too_large')).toEqual([]);
    expect(await run(async () => undefined)).toEqual([]);
  });
});

describe('what the state store fails', () => {
  const run = async (error: Error) => {
    const { metrics, counted } = counting();
    const store: Partial<StateStore> = { read: () => Promise.reject(error) };
    await expect(measuredState(store as StateStore, { metrics, clock }).read('a')).rejects.toBe(error);
    return counted;
  };

  it('is counted by its own codes alone', async () => {
    expect(await run(new GatewayError('state_unavailable'))).toEqual([
      'wharf_state_store_errors_total state_unavailable',
    ]);
    expect(await run(new GatewayError('draining'))).toEqual([]);
    expect(await run(new Error('a fault'))).toEqual([]);
  });
});

describe('the trace in the headers to a server', () => {
  const sent = async (context: { traceparent: string; tracestate?: string } | undefined) => {
    const requests: UpstreamRequest[] = [];
    const upstream: Partial<ExchangeUpstream> = {
      channel: 'exchange',
      open: (request) => {
        requests.push(request);
        return Promise.reject(new Error('away'));
      },
    };
    const current = context && { context, end: () => undefined };
    const traced = withTraceHeaders(upstream as ExchangeUpstream, { current } as unknown as Tracer) as ExchangeUpstream;
    const headers = { accept: 'text/event-stream', traceparent: '00-client', tracestate: 'client=1' };
    const request = { method: 'POST', headers } as unknown as UpstreamRequest;
    await traced.open(request, new AbortController().signal).catch(() => undefined);
    return requests[0]?.headers;
  };

  it('is that of the span under way, and never half of it that of the client', async () => {
    expect(await sent({ traceparent: '00-own' })).toEqual({ accept: 'text/event-stream', traceparent: '00-own' });
    expect(await sent({ traceparent: '00-own', tracestate: 'own=1' })).toEqual({
      accept: 'text/event-stream',
      traceparent: '00-own',
      tracestate: 'own=1',
    });
  });

  it('is that of the client where no span is under way', async () => {
    expect(await sent(undefined)).toMatchObject({ traceparent: '00-client', tracestate: 'client=1' });
  });
});

it.each<[string, Partial<Session>, number]>([
  ['over a shared channel, which is a session with its server too', { channel: 'shared' }, 2],
  ['with a server that has sessions', { channel: 'exchange', upstreamSession: 'up' }, 2],
  ['with a server that has none', { channel: 'exchange' }, 1],
])('a session %s is timed on each side that has one', (_, about, count) => {
  const names: string[] = [];
  const tracer = { observe: (name: string) => void names.push(name) } as unknown as Tracer;
  sessionDurations(tracer)({ server: 'files', version: '2025-06-18', ...about } as Session, 1000);
  expect(names).toEqual(['mcp.server.session.duration', 'mcp.client.session.duration'].slice(0, count));
});

it('two hundred tools of a server count by their names, and only after an answer', () => {
  const tools = new KnownTools();
  expect(tools.labelOf('tool-0')).toBe('_OTHER');
  for (let at = 0; at <= 200; at += 1) tools.add(`tool-${at}`);
  expect(['tool-0', 'tool-199', 'tool-200'].map((name) => tools.labelOf(name))).toEqual([
    'tool-0',
    'tool-199',
    '_OTHER',
  ]);
});

it('a message with thousands of values is not parsed for its telemetry', () => {
  const asking = (values: number) =>
    requestIn(Buffer.from(`{"id":1,"method":"ping","params":{"a":[${Array(values).fill(1).join()}]}}`));
  expect(asking(10)).toMatchObject({ id: '1', method: 'ping' });
  expect(asking(10_000)).toBeUndefined();
});
