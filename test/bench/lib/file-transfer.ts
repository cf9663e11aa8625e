import { request } from 'node:http';
import { filePieces } from '../servers/blob.js';
import { writeAll } from '../servers/write.js';
import { exchange, type Measured, measure, rpc, type Session, toolCall } from './client.js';
import type { Cost } from './file-rounds.js';
import { cpuSeconds, peakRss, resetPeak } from './proc.js';

/** Files on their way to a server: the upload, and the call that names the file. */

/** What a client declares that uploads files by SEP-2631. */
export const UPLOADS = { files: { upload: true, download: true, transports: ['https'] } };

/** Does the work and says what it cost the processes. */
export async function costOf<T>(pids: readonly number[], work: () => Promise<T>): Promise<Cost & { value: T }> {
  resetPeak(pids);
  const cpu = cpuSeconds(pids);
  const began = performance.now();
  const value = await work();
  const wall = (performance.now() - began) / 1000;
  return { wall, cpu: cpuSeconds(pids) - cpu, peak: peakRss(pids), value };
}

/** PUTs the first `bytes` bytes of the bench's pattern. @throws Error unless the answer is a 2xx */
export function put(url: string, bytes: number, timeoutMs: number): Promise<void> {
  return send('PUT', url, 'image/png', filePieces(bytes), bytes, timeoutMs);
}

const BOUNDARY = 'a-boundary-of-the-bench';
const FORM_HEAD = Buffer.from(
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="pattern.png"\r\ncontent-type: image/png\r\n\r\n`,
);
const FORM_TAIL = Buffer.from(`\r\n--${BOUNDARY}--\r\n`);

function* formPieces(bytes: number): Generator<Buffer> {
  yield FORM_HEAD;
  yield* filePieces(bytes);
  yield FORM_TAIL;
}

/** POSTs the same bytes as the file of a form. @throws Error unless the answer is a 2xx */
export function postForm(url: string, bytes: number, timeoutMs: number): Promise<void> {
  const length = FORM_HEAD.length + bytes + FORM_TAIL.length;
  return send('POST', url, `multipart/form-data; boundary=${BOUNDARY}`, formPieces(bytes), length, timeoutMs);
}

function send(
  method: 'PUT' | 'POST',
  url: string,
  type: string,
  pieces: Iterable<Buffer>,
  length: number,
  timeoutMs: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': type, 'content-length': length };
    const out = request(url, { method, headers, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        clearTimeout(timer);
        const { statusCode = 0 } = answer;
        if (statusCode >= 200 && statusCode < 300) resolve();
        else reject(new Error(`${method}: HTTP ${statusCode} ${Buffer.concat(chunks).toString().slice(0, 300)}`));
        out.destroy();
      });
    });
    const timer = setTimeout(
      () => out.destroy(new Error(`no answer to a ${method} in ${timeoutMs / 1000} s`)),
      timeoutMs,
    );
    out.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    void writeAll(out, pieces).then(() => out.end());
  });
}

/** Where the file goes, and its handle. @throws Error when the gateway refuses */
export async function authorize(session: Session, bytes: number): Promise<{ url: string; handle: string }> {
  const message = rpc('files/authorizeUpload', { name: 'pattern.png', mimeType: 'image/png', size: bytes });
  const { text } = await exchange(session.url, { body: message, headers: session.headers });
  const url = /"url":"([^"]+)"/.exec(text)?.[1];
  const handle = /"uri":"([^"]+)"/.exec(text)?.[1];
  if (url === undefined || handle === undefined) throw new Error(`files/authorizeUpload: ${text.slice(0, 300)}`);
  return { url, handle };
}

/** Uploads a file; gives its handle. @throws Error */
export async function upload(session: Session, bytes: number, timeoutMs: number): Promise<string> {
  const { url, handle } = await authorize(session, bytes);
  await put(url, bytes, timeoutMs);
  return handle;
}

/** Calls a tool with a file by its handle. @throws Error unless the server got `bytes` bytes with that digest */
export async function callWithFile(
  session: Session,
  tool: { name: string; argument: string },
  file: { handle: string; bytes: number; digest: string },
  timeoutMs: number,
): Promise<void> {
  const { error, start } = await callTool(session, tool.name, { [tool.argument]: file.handle }, timeoutMs);
  if (error !== undefined) throw new Error(`${tool.name}: ${error}`);
  const [, size, digest] = /\\"size\\":(\d+),\\"sha256\\":\\"([0-9a-f]{64})\\"/.exec(start) ?? [];
  if (Number(size) !== file.bytes || digest !== file.digest) {
    throw new Error(`${tool.name} got ${size} bytes, sha-256 ${digest}, instead of ${file.bytes}, ${file.digest}`);
  }
}

export function callTool(
  session: Session,
  name: string,
  args: Record<string, unknown>,
  timeoutMs: number,
): Promise<Measured> {
  return measure(session, toolCall(name, args), timeoutMs);
}
