import type { Readable } from 'node:stream';
import { Pace, type PaceLimits } from '../../budget/pace.js';
import { beginStep, breathe, isTurnOver, nextTurn } from '../../budget/turn.js';
import { GatewayError } from '../../errors.js';

interface PumpOptions {
  /** Name of the server, for errors. */
  server: string;
  pace: PaceLimits;
  /** True while more bytes are due; silence, or a drip, is a fault only then. */
  due: () => boolean;
  signal: AbortSignal;
}

/**
 * Reads a body to its end, chunk by chunk. A promise from `take` stops the source until it is settled, so that a slow
 * client or store slows the upstream instead of filling memory. A source that never stops yields turns of the event
 * loop to others: node reads up to 2 MiB from a socket in one turn, which may be 200,000 messages.
 * @throws the error of `take` or of the body; GatewayError `idle_timeout`, `upstream_too_slow`; the signal's reason
 */
export function pump(
  body: Readable,
  take: (chunk: Buffer) => Promise<unknown> | undefined,
  { server, pace: limits, due, signal }: PumpOptions,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let waiting: Promise<unknown> | undefined;
    let ended = false;
    let isOver = false;
    const finish = (error?: unknown) => {
      isOver = true;
      pace.end();
      signal.removeEventListener('abort', aborted);
      body.removeAllListeners('data');
      if (error === undefined) resolve();
      else {
        body.destroy();
        reject(error);
      }
    };
    const pace = serverPace(server, limits, finish);
    const awaitMore = () => {
      if (due()) pace.want();
      else pace.rest();
    };
    const aborted = () => finish(signal.reason);
    signal.addEventListener('abort', aborted, { once: true });
    if (signal.aborted) return aborted();
    // a body that ended before there was a listener does not report it again: head and broken chunk may share a packet
    if (body.errored) return finish(body.errored);
    if (body.readableEnded) return finish();
    if (body.destroyed) return finish(new GatewayError('upstream_closed', { server }));
    awaitMore();
    const goOn = () => {
      waiting = undefined;
      if (isOver) return;
      if (ended) return finish();
      awaitMore();
      body.resume();
    };
    body.on('data', (chunk: Buffer) => {
      pace.took(chunk.length);
      beginStep();
      let taken: Promise<unknown> | undefined;
      try {
        taken = take(chunk);
      } catch (error) {
        return finish(error);
      }
      waiting = taken ? taken.then(breathe) : isTurnOver() ? nextTurn() : undefined;
      if (!waiting) return awaitMore();
      pace.rest();
      body.pause();
      waiting.then(goOn, finish);
    });
    body.on('end', () => {
      ended = true;
      if (!waiting) finish();
    });
    body.on('error', (error) => finish(error));
    body.on('close', () => {
      if (!ended) finish(new GatewayError('upstream_closed', { server }));
    });
  });
}

/** Runs the work when the first bytes of a body have come, or it has ended in any way. Reads none of them. */
export function onceBegun(body: Readable, work: () => Promise<void>): Promise<void> {
  if (body.readableLength > 0 || body.readableEnded || body.destroyed) return work();
  return new Promise((resolve, reject) => {
    const begins = () => {
      for (const event of BEGINNINGS) body.off(event, begins);
      work().then(resolve, reject);
    };
    for (const event of BEGINNINGS) body.on(event, begins);
  });
}

const BEGINNINGS = ['readable', 'error', 'close'] as const;

/**
 * Watches a server that is in the middle of a message. @param tooSlow called once with `idle_timeout` or
 * `upstream_too_slow`
 */
export function serverPace(server: string, limits: PaceLimits, tooSlow: (error: GatewayError) => void): Pace {
  return new Pace(limits, (slowness) => {
    const facts =
      slowness.kind === 'silent'
        ? { limit: 'timeouts.idle', allowed: limits.idleMs }
        : { limit: 'limits.leastRate', allowed: limits.leastRate, actual: slowness.rate };
    tooSlow(new GatewayError(slowness.kind === 'silent' ? 'idle_timeout' : 'upstream_too_slow', { server, ...facts }));
  });
}
