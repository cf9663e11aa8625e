import type { Readable } from 'node:stream';
import { Pace, type PaceLimits } from '../../budget/pace.js';
import { beginStep, breathe, isTurnOver, nextTurn } from '../../budget/turn.js';
import { GatewayError } from '../../errors.js';
import type { Owner } from '../../ports/owner.js';

interface PumpOptions {
  /** Name of the server, for errors. */
  server: string;
  /** The caller whose work it is, where that is known. */
  principal: string | undefined;
  pace: PaceLimits;
  /** True while more bytes are due; silence, or a drip, is a fault only then. */
  due: () => boolean;
  signal: AbortSignal;
}

/**
 * Reads a body to its end, chunk by chunk. A promise from `take` stops the source until it is settled, so that a slow
 * client or store slows the upstream instead of filling memory. A chunk that comes when this turn of the event loop has done
 * enough is taken in a later one: node reads up to 2 MiB from a socket in one turn, which may be 200,000 messages, and of
 * every socket that is ready, which may be a thousand with one message each.
 * @throws the error of `take` or of the body; GatewayError `idle_timeout`, `upstream_too_slow`; the signal's reason
 */
export function pump(
  body: Readable,
  take: (chunk: Buffer) => Promise<unknown> | undefined,
  { server, principal, pace: limits, due, signal }: PumpOptions,
): Promise<void> {
  const owner = { principal, server };
  return new Promise((resolve, reject) => {
    let waiting: Promise<unknown> | undefined;
    /** Read, and waits for a turn. */
    let late: Buffer | undefined;
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
    const rested = () => breathe(owner);
    const goOn = () => {
      waiting = undefined;
      if (isOver) return;
      if (ended) return finish();
      awaitMore();
      body.resume();
    };
    const takeLate = () => {
      const chunk = late;
      late = undefined;
      return chunk && !isOver ? take(chunk) : undefined;
    };
    body.on('data', (chunk: Buffer) => {
      pace.took(chunk.length);
      beginStep(owner);
      if (isTurnOver()) {
        late = chunk;
        waiting = nextTurn(owner).then(takeLate);
      } else {
        try {
          waiting = take(chunk)?.then(rested);
        } catch (error) {
          return finish(error);
        }
      }
      if (!waiting) return awaitMore();
      pace.rest();
      body.pause();
      waiting.then(goOn, finish);
    });
    body.on('end', () => {
      ended = true;
      if (!waiting) finish();
    });
    // what came before it is still taken: it may be the whole answer
    const broken = (error: unknown) => {
      try {
        takeLate()?.catch(() => undefined);
      } catch (failure) {
        return finish(failure);
      }
      finish(error);
    };
    body.on('error', broken);
    body.on('close', () => {
      if (!ended) broken(new GatewayError('upstream_closed', { server }));
    });
  });
}

/**
 * Runs the work when the first bytes of a body have come, or it has ended in any way. Reads none of them. Where many begin at
 * once, it is run over several turns of the event loop: for 700 streams it takes a third of a second.
 * @param owner whose work it is
 */
export function onceBegun(body: Readable, owner: Owner, work: () => Promise<void>): Promise<void> {
  if (body.readableLength > 0 || body.readableEnded || body.destroyed) return work();
  return new Promise((resolve, reject) => {
    const begins = () => {
      for (const event of BEGINNINGS) body.off(event, begins);
      const turn = breathe(owner);
      (turn ? turn.then(work) : work()).then(resolve, reject);
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
