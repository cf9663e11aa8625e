import type { Readable } from 'node:stream';
import { GatewayError } from '../errors.js';

export interface PumpOptions {
  /** Name of the server, for errors. */
  server: string;
  /** `timeouts.idle`. */
  idleMs: number;
  /** True while more bytes are due; only then is silence a fault. */
  due: () => boolean;
  signal: AbortSignal;
}

/**
 * Reads a body to its end, chunk by chunk; a promise from `take` stops the source until it is settled, so that a slow
 * client or store slows the upstream instead of filling memory.
 * @throws whatever `take` or the body failed with; GatewayError `idle_timeout`; the signal's reason
 */
export function pump(
  body: Readable,
  take: (chunk: Buffer) => Promise<unknown> | undefined,
  { server, idleMs, due, signal }: PumpOptions,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let waiting: Promise<unknown> | undefined;
    let ended = false;
    let lastByteAt = Date.now();
    const finish = (error?: unknown) => {
      clearInterval(watch);
      signal.removeEventListener('abort', aborted);
      body.removeAllListeners('data');
      if (error === undefined) resolve();
      else {
        body.destroy();
        reject(error);
      }
    };
    const aborted = () => finish(signal.reason);
    const watch = setInterval(
      () => {
        if (waiting || !due()) lastByteAt = Date.now();
        else if (Date.now() - lastByteAt > idleMs) {
          finish(new GatewayError('idle_timeout', { server, limit: 'timeouts.idle', allowed: idleMs }));
        }
      },
      Math.min(1000, idleMs),
    );
    watch.unref();
    signal.addEventListener('abort', aborted, { once: true });
    if (signal.aborted) return aborted();
    body.on('data', (chunk: Buffer) => {
      lastByteAt = Date.now();
      try {
        waiting = take(chunk);
      } catch (error) {
        return finish(error);
      }
      if (!waiting) return;
      body.pause();
      waiting.then(
        () => {
          waiting = undefined;
          if (ended) finish();
          else body.resume();
        },
        (error) => finish(error),
      );
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
