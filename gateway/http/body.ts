import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../errors.js';

export interface BodyLimits {
  /** `limits.message`, bytes. */
  maxBytes: number;
  /** `timeouts.idle`, milliseconds without a byte. */
  idleMs: number;
}

/**
 * The whole body of a POST. The limit counts what was received, whatever the client announced.
 * @throws GatewayError `message_too_large`, `unsupported_media_type`, `unsupported_coding`, `idle_timeout`
 */
export function readBody(request: IncomingMessage, { maxBytes, idleMs }: BodyLimits): Promise<Buffer> {
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new GatewayError('unsupported_media_type', { expected: 'application/json' });
  }
  const coding = request.headers['content-encoding'];
  if (coding !== undefined && coding !== 'identity') throw new GatewayError('unsupported_coding', { coding });
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > maxBytes) throw tooLarge(maxBytes, announced);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let received = 0;
    const refuse = (error: GatewayError) => {
      clearTimeout(idle);
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
      received += chunk.length;
      if (received > maxBytes) refuse(tooLarge(maxBytes, received));
      else chunks.push(chunk);
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

function tooLarge(allowed: number, actual: number): GatewayError {
  return new GatewayError('message_too_large', { limit: 'limits.message', allowed, actual });
}
