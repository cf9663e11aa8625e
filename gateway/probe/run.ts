import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { messagesIn, UNREADABLE } from './envelope.js';
import { Probe } from './probe.js';

/** Longest message of a client. */
const MAX_MESSAGE = 1024 * 1024;

/** Most sessions at one time; the oldest makes room. */
const MAX_SESSIONS = 20;

type Report = (row: string) => void;

const now = () => Date.now();

/** Speaks MCP on standard input and output until the input ends. @throws Error for a line that is too long */
export async function probeStdio(reported: Report): Promise<void> {
  const probe = new Probe(now, reported);
  let rest = '';
  process.stdin.setEncoding('utf8');
  for await (const chunk of process.stdin) {
    const lines = `${rest}${String(chunk)}`.split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_MESSAGE) throw new Error(`A line of the client is longer than ${MAX_MESSAGE} characters.`);
    for (const line of lines) {
      if (line.trim() === '') continue;
      const messages = messagesIn(line);
      if (messages === undefined) await write(UNREADABLE);
      for (const message of messages ?? []) {
        const reply = probe.answer(message);
        if (reply) await write(`${JSON.stringify(reply)}\n`);
      }
    }
  }
}

function write(text: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(text, () => resolve()));
}

/** Serves Streamable HTTP on loopback. Resolves with the URL once it listens. */
export async function probeHttp(port: number, reported: Report): Promise<string> {
  const sessions = new Map<string, Probe>();
  const server = createServer((request, response) => {
    serve(request, response, sessions, reported).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve());
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : port}/mcp`;
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  sessions: Map<string, Probe>,
  reported: Report,
): Promise<void> {
  // no page of a browser has business here, least of all one that has rebound its name
  const isLocal = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/.test(request.headers.host ?? '');
  if (!isLocal || request.headers.origin !== undefined) return end(response, 403);
  if (request.method !== 'POST') return end(response, 405);
  const body = await bodyOf(request);
  if (body === undefined) return end(response, 413);
  const messages = messagesIn(body);
  if (messages === undefined) return end(response, 400, UNREADABLE);
  const isOpening = messages.some((message) => (message as { method?: unknown } | null)?.method === 'initialize');
  const id = isOpening ? randomUUID() : String(request.headers['mcp-session-id']);
  if (isOpening) {
    const [oldest] = sessions.keys();
    if (sessions.size >= MAX_SESSIONS && oldest !== undefined) sessions.delete(oldest);
    sessions.set(id, new Probe(now, reported));
  }
  const probe = sessions.get(id);
  if (!probe) return end(response, 404);
  const [reply] = messages.map((message) => probe.answer(message)).filter((one) => one !== undefined);
  response.setHeader('mcp-session-id', id);
  if (reply === undefined) return end(response, 202);
  end(response, 200, JSON.stringify(reply));
}

function end(response: ServerResponse, status: number, body = ''): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' });
  response.end(body);
}

async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += (chunk as Buffer).length;
    if (length > MAX_MESSAGE) return undefined;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString();
}
