import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';

/** Long enough for an identity provider that has to wake up, and shorter than what a client waits for. */
const WAIT_MS = 5000;

/** Keys of the largest providers take some 20 kB. */
const MOST_BYTES = 512 * 1024;

export interface JsonAnswer {
  status: number;
  /** The body if it is a JSON object, otherwise undefined. */
  body: Record<string, unknown> | undefined;
  /** The other side's clock, where it says it: milliseconds since the epoch. */
  date: number | undefined;
}

/** It has answered, but not with an answer that can be read. */
export class UnusableAnswer extends Error {
  override readonly name = 'UnusableAnswer';
}

/**
 * Small JSON documents of authorization servers, by node:http: fetch ends the process when an answer without a length
 * is read too slowly (nodejs/undici#5360). Redirects are not followed, because only configured addresses are asked.
 */
export class HttpJson {
  readonly #closed = new AbortController();

  get(url: string): Promise<JsonAnswer> {
    return this.#send(url, { method: 'GET', headers: { accept: 'application/json' } });
  }

  /** @param headers besides the type of the body */
  post(url: string, form: URLSearchParams, headers: Record<string, string> = {}): Promise<JsonAnswer> {
    const body = Buffer.from(form.toString());
    const own = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': String(body.length) };
    return this.#send(url, { method: 'POST', headers: { accept: 'application/json', ...headers, ...own } }, body);
  }

  postJson(url: string, value: object): Promise<JsonAnswer> {
    const body = Buffer.from(JSON.stringify(value));
    const headers = { 'content-type': 'application/json', 'content-length': String(body.length) };
    return this.#send(url, { method: 'POST', headers: { accept: 'application/json', ...headers } }, body);
  }

  close(): void {
    this.#closed.abort();
  }

  async #send(url: string, options: RequestOptions, body?: Buffer): Promise<JsonAnswer> {
    const signal = AbortSignal.any([this.#closed.signal, AbortSignal.timeout(WAIT_MS)]);
    const send = url.startsWith('https:') ? httpsRequest : httpRequest;
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = send(url, { ...options, signal, agent: false }, resolve);
      request.once('error', (error) => reject(isOfParser(error) ? unusable(error) : error));
      request.end(body);
    });
    const text = await read(answer).catch((error: unknown) => {
      // an answer whose end was not waited for ends like a broken connection
      throw unusable(signal.aborted ? signal.reason : error);
    });
    const date = Date.parse(answer.headers.date ?? '');
    return { status: answer.statusCode ?? 0, body: objectIn(text), date: Number.isNaN(date) ? undefined : date };
  }
}

/** An answer that takes too long is told as it is. */
function unusable(cause: unknown): unknown {
  if (isOfTime(cause)) return cause;
  return new UnusableAnswer(cause instanceof Error ? cause.message : String(cause), { cause });
}

/** Whether the wait for an answer has ended. */
export function isOfTime(error: unknown): boolean {
  return error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError');
}

/** What went wrong, in words for an operator. */
export function faultIn(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return isOfTime(error) ? `no answer within ${WAIT_MS / 1000} s` : error.message;
}

/** The other side does not speak HTTP, or its head is too long. */
function isOfParser(error: Error): boolean {
  return 'code' in error && String(error.code).startsWith('HPE_');
}

async function read(answer: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of answer as AsyncIterable<Buffer>) {
    length += piece.length;
    // leaving the loop destroys the answer
    if (length > MOST_BYTES) throw new Error(`the answer has more than ${MOST_BYTES} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
