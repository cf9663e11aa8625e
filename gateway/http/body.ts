import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../errors.js';
import type { HeldRequest } from '../files/budget.js';
import type { Limits } from '../policy/limits.js';
import { BodyMeter } from '../relay/body-meter.js';
import { idIn } from '../relay/request-id.js';

export interface BodyLimits {
  limits: Limits;
  /** `timeouts.idle`, milliseconds without a byte. */
  idleMs: number;
  /** `limits.held`; released by the caller, when the exchange ends. */
  held: HeldRequest;
  /** Told of the id of a request that is refused before it has come whole, as JSON text. */
  refused: (id: string | undefined) => void;
}

/**
 * The whole body of a POST. The limits count what was received, whatever the client announced: `limits.message` for
 * the message, `limits.inlineArgument` for each long string of its arguments.
 * @throws GatewayError `message_too_large`, `argument_too_large`, `too_deep`, `held_full`, `unsupported_media_type`,
 *   `unsupported_coding`, `idle_timeout`
 */
export function readBody(request: IncomingMessage, { limits, idleMs, held, refused }: BodyLimits): Promise<Buffer> {
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new GatewayError('unsupported_media_type', { expected: 'application/json' });
  }
  const coding = request.headers['content-encoding'];
  if (coding !== undefined && coding !== 'identity') throw new GatewayError('unsupported_coding', { coding });
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let received = 0;
    let meter: BodyMeter | undefined;
    const refuse = (error: unknown) => {
      clearTimeout(idle);
      held.release();
      request.removeAllListeners('data');
      request.pause();
      reject(error);
    };
    const idle = setTimeout(
      () => refuse(new GatewayError('idle_timeout', { limit: 'timeouts.idle', allowed: idleMs })),
      idleMs,
    );
    request.on('data', (chunk: Buffer) => {
      idle.refresh();
      try {
        received += chunk.length;
        held.grow(chunk.length);
        chunks.push(chunk);
        if (meter) meter.take(chunk);
        else if (received > limits.message) {
          meter = new BodyMeter(limits);
          for (const earlier of chunks) meter.take(earlier);
        }
      } catch (error) {
        refused(idIn(chunks));
        refuse(error);
      }
    });
    request.once('end', () => {
      clearTimeout(idle);
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    });
    request.once('error', () => refuse(new GatewayError('request_invalid', { reason: 'the body broke off' })));
    request.once('close', () => {
      if (!request.complete) refuse(new GatewayError('request_invalid', { reason: 'the body broke off' }));
    });
  });
}

/** What a refused client may still send while it reads its answer; then the connection goes. */
const REST_BYTES = 64 * 1024 * 1024;
const REST_MS = 500;

/** Reads away what is left of a body that nobody wants, so that the connection can be used again. */
export function discardRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  let received = 0;
  const end = () => request.socket.destroySoon();
  const timer = setTimeout(end, REST_MS);
  request.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received > REST_BYTES) end();
  });
  request.once('close', () => clearTimeout(timer));
  request.resume();
}
