import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import { z } from 'zod';
import { GatewayError } from '../../gateway/errors.js';
import { judgeRedirect, judgeUrl, type Target } from '../../gateway/policy/addresses.js';
import type {
  Download,
  DownloadRequest,
  Transfer,
  TransferRules,
  UploadAnswer,
  UploadRequest,
} from '../../gateway/ports/transfer.js';
import { DownloadBody, isCoded, lengthOf, redirectOf, tooLarge } from './https/answer.js';
import { Connections } from './https/connection.js';
import { failed, failedStatus, forbidden } from './https/failure.js';
import { contentType, headerProblem, headLines } from './https/headers.js';
import { form, formProblem } from './https/multipart.js';
import { askNameServers, askSystem, type Resolve, resolveTarget } from './https/resolve.js';
import { Run } from './https/run.js';
import { Sending } from './https/sending.js';

/** Transfers cannot be configured; both settings are for tests. */
export const settings = z.strictObject({
  /** Certificates to trust instead of the system's, PEM. */
  ca: z.string().optional(),
  /** Replaces both ways of resolving a name. */
  resolve: z.custom<Resolve>((value) => typeof value === 'function').optional(),
});

const CODED = 'its answer is compressed, though the plain bytes were asked for';

/** How much of an upload's answer is kept. */
const ANSWER_BYTES = 64 * 1024;

/** Some object stores refuse requests without these. */
const BY_DEFAULT = { 'User-Agent': 'Wharf', Accept: '*/*' };
const OURS = { 'Accept-Encoding': 'identity' };

/** Transfers over https, and over http where the rules let it. */
export function create(options: z.output<typeof settings>): Transfer {
  return new HttpsTransfer(options);
}

class HttpsTransfer implements Transfer {
  readonly #connections: Connections;
  readonly #resolve: Resolve | undefined;
  readonly #running = new Set<Run>();

  constructor({ ca, resolve }: z.output<typeof settings>) {
    this.#connections = new Connections(ca);
    this.#resolve = resolve;
  }

  async download(request: DownloadRequest, signal: AbortSignal): Promise<Download> {
    signal.throwIfAborted();
    const { url, headers = {}, rules } = request;
    const target = begin(url, headers, rules);
    const run = new Run(target.authority, rules.timeouts, signal, this.#running);
    let body: DownloadBody | undefined;
    try {
      const answer = await this.#follow(target, request, run, () => body?.writableNeedDrain ?? false);
      try {
        const contentLength = lengthOfFile(answer, target.authority, rules);
        body = new DownloadBody(run, rules);
        // the body is the last of the two streams, so it gets every error
        pipeline(answer, body, () => undefined);
        const length = contentLength === undefined ? {} : { contentLength };
        return { status: answer.statusCode ?? 0, headers: answer.headers, ...length, body };
      } catch (error) {
        drop(answer);
        throw error;
      }
    } catch (error) {
      run.done();
      throw error;
    }
  }

  async upload(request: UploadRequest, signal: AbortSignal): Promise<UploadAnswer> {
    signal.throwIfAborted();
    const { url, method, headers = {}, multipart, file, rules } = request;
    const target = begin(url, headers, rules);
    const host = target.authority;
    const fields = multipart?.fields ?? {};
    const problem = multipart && formProblem(fields);
    if (problem !== undefined) throw forbidden({ host, reason: problem });
    const files = [file, ...(multipart?.others ?? [])];
    const large = files.find(({ size }) => size > rules.maxBytes);
    if (large) throw tooLarge(host, rules, large.size);
    const body = multipart && form(multipart.fileField, fields, files);
    const run = new Run(host, rules.timeouts, signal, this.#running);
    const sending = new Sending(files, body, run);
    const formType: Record<string, string> =
      body === undefined ? {} : { 'Content-Type': `multipart/form-data; boundary=${body.boundary}` };
    const byDefault = { ...BY_DEFAULT, 'Content-Type': contentType(file.mimeType) };
    const ours = { ...OURS, ...formType, 'Content-Length': String(sending.length) };
    try {
      const answer = await this.#connections.send({
        target,
        addresses: await this.#addressesOf(target, run),
        method,
        headers: headLines(headers, byDefault, ours),
        run,
        isWaiting: () => sending.isReading,
        write: (outgoing) => sending.start(outgoing),
      });
      return await uploaded(answer, sending, run);
    } finally {
      run.done();
    }
  }

  async close(): Promise<void> {
    for (const run of this.#running) run.stop(new GatewayError('draining'));
    this.#connections.close();
  }

  #addressesOf(target: Target, run: Run): Promise<string[]> {
    run.connecting();
    const ask = this.#resolve ?? (target.standing === 'public' ? askNameServers : askSystem);
    return run.until(resolveTarget(target, ask, run.signal));
  }

  /** The answer to a GET after all redirects, each to the same host and port. */
  async #follow(
    first: Target,
    { headers = {}, rules }: DownloadRequest,
    run: Run,
    paused: () => boolean,
  ): Promise<IncomingMessage> {
    const addresses = await this.#addressesOf(first, run);
    let target = first;
    for (let followed = 0; ; followed++) {
      if (followed > 0) run.connecting();
      const answer = await this.#connections.send({
        target,
        addresses,
        method: 'GET',
        headers: headLines(headers, BY_DEFAULT, OURS),
        run,
        isWaiting: paused,
        write: (request) => request.end(),
      });
      const location = redirectOf(answer);
      if (location === undefined) return answer;
      drop(answer);
      if (followed >= rules.redirects) {
        throw forbidden({ host: target.authority, reason: `it redirects more than ${rules.redirects} times` });
      }
      const judged = judgeRedirect(location, target, rules);
      if (judged.kind === 'refused') throw forbidden(judged);
      target = judged.target;
    }
  }
}

/** Where a transfer goes. @throws GatewayError `fetch_forbidden` */
function begin(url: string, headers: Readonly<Record<string, string>>, rules: TransferRules): Target {
  const judged = judgeUrl(url, rules);
  if (judged.kind === 'refused') throw forbidden(judged);
  const problem = headerProblem(headers);
  if (problem !== undefined) throw forbidden({ host: judged.target.authority, reason: problem });
  return judged.target;
}

/** Looks at the head of the answer to a GET. @throws GatewayError where it is not a whole file that may be fetched */
function lengthOfFile(answer: IncomingMessage, host: string, rules: TransferRules): number | undefined {
  const status = answer.statusCode ?? 0;
  // 202 says that the file is still being made, and what comes with it says how far that is (RFC 9110 §15.3.3)
  if (status < 200 || status > 299 || status === 202) throw failedStatus(host, status);
  if (status === 206) throw failed(host, 'it sent only a part of the file');
  if (isCoded(answer)) throw failed(host, CODED);
  const contentLength = lengthOf(answer);
  if (contentLength !== undefined && contentLength > rules.maxBytes) throw tooLarge(host, rules, contentLength);
  return contentLength;
}

/** What the answer to an upload says. @throws GatewayError where the file has not arrived, even if the answer says that it has */
async function uploaded(answer: IncomingMessage, sending: Sending, run: Run): Promise<UploadAnswer> {
  const { host } = run;
  const status = answer.statusCode ?? 0;
  const start = await readStart(answer, run);
  if (status >= 300 && status < 400) throw failedStatus(host, status);
  if (status >= 400) return { status, body: isCoded(answer) ? Buffer.alloc(0) : start };
  if (isCoded(answer)) throw failed(host, CODED);
  if (!sending.complete) throw failed(host, 'it answered before it had the whole file');
  return { status, body: start };
}

/** The answer's first bytes. A body that breaks off does not change the status before it. */
async function readStart(answer: IncomingMessage, run: Run): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= ANSWER_BYTES) break;
    }
  } catch {
    run.signal.throwIfAborted();
  }
  drop(answer);
  return Buffer.concat(chunks).subarray(0, ANSWER_BYTES);
}

/** Closes the connection, even with bytes left to read or to write. */
function drop(answer: IncomingMessage): void {
  answer.destroy();
  answer.socket.destroy();
}
