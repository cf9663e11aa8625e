import { descriptorsExhausted } from '../../../gateway/errors/system.js';
import { GatewayError } from '../../../gateway/errors.js';
import type { Refusal } from '../../../gateway/policy/addresses.js';
import { CLOSED, UNTRUSTED } from '../../http/broken.js';

/** The error for an address that the rules forbid; `detail` is for the log alone. */
export function forbidden({ reason, host, detail }: Omit<Refusal, 'kind'>): GatewayError {
  const facts = host === undefined ? { reason } : { host, reason };
  return new GatewayError('fetch_forbidden', facts, detail === undefined ? undefined : new Error(detail));
}

/** A failure in words. Node's own errors name hosts and addresses but never a path, so they may be logged. */
export function failed(host: string, reason: string, cause?: unknown): GatewayError {
  return new GatewayError('fetch_failed', { host, reason }, cause);
}

/** The error for an answer whose status is not that of success. */
export function failedStatus(host: string, status: number): GatewayError {
  return new GatewayError('fetch_failed', { host, status });
}

const WAITED_FOR = {
  connect: 'no connection',
  idle: 'no byte arrived or left',
  total: 'it did not end',
} as const;

/** The error for a peer that was waited for too long. @param allowed milliseconds */
export function timedOut(host: string, which: keyof typeof WAITED_FOR, allowed: number): GatewayError {
  const limit = which === 'idle' ? 'timeouts.idle' : which;
  return new GatewayError('fetch_timeout', { host, reason: WAITED_FOR[which], limit, allowed });
}

/** The error of a broken request or answer. A GatewayError and the abort's reason stay unchanged. */
export function connectionFailure(host: string, error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof GatewayError) return error;
  const exhausted = descriptorsExhausted(error);
  if (exhausted) return exhausted;
  const { code, syscall } = (typeof error === 'object' && error !== null ? error : {}) as NodeJS.ErrnoException;
  if (code === undefined) return failed(host, 'it cannot be reached', error);
  if (UNTRUSTED.test(code)) return failed(host, 'its certificate is not trusted', error);
  if (code.startsWith('HPE_')) return failed(host, 'its answer is not valid HTTP', error);
  if (CLOSED.has(code) && syscall !== 'connect') return failed(host, 'it ended the connection too soon', error);
  return failed(host, 'it cannot be reached', error);
}
