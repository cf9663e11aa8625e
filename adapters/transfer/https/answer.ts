import type { IncomingMessage } from 'node:http';
import { Transform, type TransformCallback } from 'node:stream';
import { GatewayError } from '../../../gateway/errors.js';
import type { TransferRules } from '../../../gateway/ports/transfer.js';
import { asError } from './connection.js';
import { connectionFailure } from './failure.js';
import type { Run } from './run.js';

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** The target of a redirect; undefined when the answer is not one. */
export function redirectOf(answer: IncomingMessage): string | undefined {
  const { location } = answer.headers;
  if (location === undefined || !REDIRECTS.includes(answer.statusCode ?? 0)) return undefined;
  // node reads heads as latin1, but a server that does not percent-encode means UTF-8
  return Buffer.from(location, 'latin1').toString('utf8');
}

/** True for an answer whose bytes are not the file's own. */
export function isCoded(answer: IncomingMessage): boolean {
  const coding = answer.headers['content-encoding']?.trim().toLowerCase() ?? '';
  const transfer = answer.headers['transfer-encoding']?.trim().toLowerCase() ?? 'chunked';
  return (coding !== '' && coding !== 'identity') || transfer !== 'chunked';
}

/** The announced length; undefined for chunked bodies. */
export function lengthOf(answer: IncomingMessage): number | undefined {
  const header = answer.headers['content-length'];
  return header === undefined || answer.headers['transfer-encoding'] !== undefined ? undefined : Number(header);
}

/**
 * The error for a download that is larger than it may be.
 * @param actual bytes, announced or received so far
 */
export function tooLarge(host: string, rules: TransferRules, actual: number): GatewayError {
  const { maxBytes, maxBytesName = 'limits.file' } = rules;
  return new GatewayError('fetch_too_large', { host, limit: maxBytesName, allowed: maxBytes, actual });
}

/**
 * Counts a download's body and turns every error into its public form. node:http itself reports a body shorter than
 * announced.
 */
export class DownloadBody extends Transform {
  readonly #run: Run;
  readonly #rules: TransferRules;
  #received = 0;

  constructor(run: Run, rules: TransferRules) {
    super();
    this.#run = run;
    this.#rules = rules;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, callback: TransformCallback): void {
    this.#received += chunk.length;
    if (this.#received > this.#rules.maxBytes) callback(tooLarge(this.#run.host, this.#rules, this.#received));
    else callback(null, chunk);
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    const { signal, host } = this.#run;
    this.#run.done();
    callback(error === null ? null : asError(connectionFailure(host, error, signal)));
  }
}
