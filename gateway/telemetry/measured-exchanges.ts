import { GatewayError } from '../errors.js';
import type { Stopwatch } from '../ports/clock.js';
import type { BoundMetrics } from '../ports/metrics.js';
import type { Asked } from '../relay/caller.js';
import type { ExchangeWatch } from '../relay/watch.js';

/** Codes of what fails on the way to a server, and of what it does not answer in time. */
const FAILURES = 'upstream_';

/** Times what is sent to a server. The rest of the watch is that of traces, where those are recorded. */
export function measuredExchanges(
  server: string,
  { metrics, clock }: { metrics: BoundMetrics; clock: Stopwatch },
  traced: ExchangeWatch | undefined,
): ExchangeWatch {
  const observe = metrics.bind('wharf_upstream_seconds', { server });
  const failed = (code: string | undefined) => {
    if (code?.startsWith(FAILURES)) metrics.count('wharf_upstream_errors_total', { server, code });
  };
  const forwarded = async (asked: Asked, work: () => Promise<void>): Promise<void> => {
    const from = clock.ticks();
    try {
      await (traced?.forwarded(asked, work) ?? work());
      // an answer that broke off after its head
      failed(asked.exchange.facts.error);
    } catch (error) {
      if (error instanceof GatewayError) failed(error.code);
      throw error;
    } finally {
      observe((clock.ticks() - from) / 1000);
    }
  };
  return { ...(traced && tracesOf(traced)), forwarded };
}

function tracesOf(traced: ExchangeWatch): Omit<ExchangeWatch, 'forwarded'> {
  return {
    asked: (exchange, messages, work) => traced.asked?.(exchange, messages, work) ?? work(),
    listens: (exchange, work) => traced.listens?.(exchange, work) ?? work(),
    handedOn: (request) => traced.handedOn?.(request),
    heard: (exchange, work) => (traced.heard ? traced.heard(exchange, work) : work()),
  };
}
