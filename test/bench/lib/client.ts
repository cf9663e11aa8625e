import { request } from 'node:http';
import { connect } from 'node:net';

/** An MCP client that costs little: bodies are read into one static buffer and counted, only both ends are kept. */

export interface Session {
  url: URL;
  headers: Record<string, string>;
}

interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** One exchange, measured from before the connection is opened. */
export interface Measured {
  /** Why it counts as failed: time-out, broken framing, HTTP status, JSON-RPC error. */
  error: string | undefined;
  /** Seconds until the whole answer was there. */
  seconds: number;
  /** Seconds until the first byte of the answer's head. */
  firstByte: number;
  /** Bytes of the body as framed. */
  bytes: number;
  /** The first 64 KiB of head and body. */
  start: string;
  /** The last bytes of the body. */
  end: string;
}

const ACCEPT = 'application/json, text/event-stream';
const PROTOCOL_VERSION = '2025-06-18';
const READ_BYTES = 64 * 1024;
const KEPT_BYTES = 64 * 1024;
const TAIL_BYTES = 2048;
const SMALL_TIMEOUT_MS = 20_000;
const CHUNKED_END = '\r\n0\r\n\r\n';

/** One small exchange on a connection of its own. */
export function exchange(
  url: URL,
  options: { method?: string; body?: unknown; headers?: Record<string, string> },
): Promise<Reply> {
  const body = options.body === undefined ? undefined : Buffer.from(JSON.stringify(options.body));
  return new Promise((resolve, reject) => {
    const headers: Record<string, string> = { accept: ACCEPT, ...options.headers };
    if (body) Object.assign(headers, { 'content-type': 'application/json', 'content-length': String(body.length) });
    const method = options.method ?? (body ? 'POST' : 'GET');
    const out = request(url, { method, headers, agent: false, timeout: SMALL_TIMEOUT_MS }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text: Buffer.concat(chunks).toString() });
      });
    });
    out.on('timeout', () => out.destroy(new Error(`no answer in ${SMALL_TIMEOUT_MS} ms`)));
    out.on('error', reject);
    out.end(body);
  });
}

/** `initialize` and `notifications/initialized`; the headers are what every later request needs. */
export async function openSession(
  address: string,
  capabilities: Record<string, unknown> = {},
  credentials: Record<string, string> = {},
): Promise<Session> {
  const url = new URL(address);
  const clientInfo = { name: 'bench', version: '1.0.0' };
  const params = { protocolVersion: PROTOCOL_VERSION, capabilities, clientInfo };
  const opening = { jsonrpc: '2.0', id: 0, method: 'initialize', params };
  const reply = await exchange(url, { body: opening, headers: credentials });
  if (reply.status !== 200 || !reply.text.includes('"protocolVersion"')) {
    throw new Error(`initialize at ${address}: HTTP ${reply.status} ${reply.text.slice(0, 300)}`);
  }
  const headers: Record<string, string> = { 'mcp-protocol-version': PROTOCOL_VERSION, ...credentials };
  const id = reply.headers['mcp-session-id'];
  if (typeof id === 'string') headers['mcp-session-id'] = id;
  await exchange(url, { body: { jsonrpc: '2.0', method: 'notifications/initialized' }, headers });
  return { url, headers };
}

let lastId = 0;

/** A request with an id of its own. */
export function rpc(method: string, params: Record<string, unknown>): { id: number } & Record<string, unknown> {
  lastId += 1;
  return { jsonrpc: '2.0', id: lastId, method, params };
}

export const toolCall = (name: string, args: Record<string, unknown>) => rpc('tools/call', { name, arguments: args });

/** The bytes of a POST that asks for the connection to be closed after the answer. */
export function rawPost(session: Session, message: unknown): string {
  const body = JSON.stringify(message);
  const headers = { host: session.url.host, connection: 'close', accept: ACCEPT, ...session.headers };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = Buffer.byteLength(body);
  const path = session.url.pathname;
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}content-type: application/json\r\ncontent-length: ${length}\r\n\r\n${body}`;
}

function fault(start: string, end: string, complete: boolean, bytes: number): string | undefined {
  const status = /^HTTP\/1\.1 (\d+)/.exec(start)?.[1];
  const body = start.slice(start.indexOf('\r\n\r\n') + 4);
  const type = /\r\ncontent-type: *([^;\r]*)/i.exec(start)?.[1];
  if (status !== '200') return `HTTP ${status ?? 'none'} ${body.slice(0, 200)}`;
  if (!complete) return `the connection ended inside the answer, after ${bytes} bytes`;
  if (type !== 'application/json' && type !== 'text/event-stream') return undefined;
  const both = body + end;
  if (/"isError":\s*true/.test(both) || (bytes < KEPT_BYTES && /"error":\s*\{/.test(both))) return body.slice(0, 300);
  if (!both.includes('"result"')) return `no result in the answer: ${body.slice(0, 200)}`;
  return undefined;
}

/**
 * Sends a message and reads its answer to the end. Never rejects: what went wrong is in `error`.
 * @param onChunk is given every chunk as it comes; the buffer is reused afterwards
 */
export function measure(
  session: Session,
  message: unknown,
  timeoutMs: number,
  onChunk?: (chunk: Buffer) => void,
): Promise<Measured> {
  return new Promise((resolve) => {
    const began = performance.now();
    const head: Buffer[] = [];
    let kept = 0;
    let total = 0;
    let headBytes = -1;
    let length = -1;
    let firstByte = 0;
    let tail = Buffer.alloc(0);
    let settled = false;

    const complete = () => {
      if (headBytes < 0) return false;
      if (length >= 0) return total - headBytes >= length;
      return tail.toString('latin1', Math.max(0, tail.length - CHUNKED_END.length)) === CHUNKED_END;
    };
    const settle = (error?: string) => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      socket.destroy();
      const start = Buffer.concat(head).toString('latin1');
      const end = tail.toString('latin1');
      const bytes = total - Math.max(headBytes, 0);
      const seconds = (performance.now() - began) / 1000;
      resolve({ error: error ?? fault(start, end, complete(), bytes), seconds, firstByte, bytes, start, end });
    };
    const take = (count: number, buffer: Uint8Array): boolean => {
      const chunk = Buffer.from(buffer.buffer, buffer.byteOffset, count);
      if (total === 0) firstByte = (performance.now() - began) / 1000;
      total += count;
      onChunk?.(chunk);
      if (kept < KEPT_BYTES) {
        head.push(Buffer.from(chunk));
        kept += count;
        if (headBytes < 0) {
          const text = Buffer.concat(head).toString('latin1');
          const end = text.indexOf('\r\n\r\n');
          if (end >= 0) headBytes = end + 4;
          length = Number(/\r\ncontent-length:\s*(\d+)/i.exec(text.slice(0, end + 2))?.[1] ?? -1);
        }
      }
      tail = Buffer.concat(count >= TAIL_BYTES ? [chunk.subarray(count - TAIL_BYTES)] : [tail, chunk]);
      if (tail.length > TAIL_BYTES) tail = tail.subarray(tail.length - TAIL_BYTES);
      if (complete()) settle();
      return true;
    };

    const socket = connect({
      host: session.url.hostname,
      port: Number(session.url.port),
      onread: { buffer: Buffer.allocUnsafeSlow(READ_BYTES), callback: take },
    });
    const timer = setTimeout(() => settle(`no end after ${timeoutMs / 1000} s and ${total} bytes`), timeoutMs);
    socket.on('connect', () => socket.write(rawPost(session, message)));
    socket.on('error', (error) => settle(error.message));
    socket.on('close', () => settle());
  });
}
