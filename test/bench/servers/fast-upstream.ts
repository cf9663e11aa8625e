import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, answerTo, type Message } from './answers.js';
import { writeAll } from './write.js';

/**
 * An MCP server of rendered bytes: `/sse/mcp`, `/json/mcp` and `/chunked/mcp` (Streamable HTTP, stateless; the last one
 * answers short messages without a Content-Length too, as servers in Python, Go and Java do), `/legacy/sse` (HTTP+SSE). `GET /__sent` tells how many bytes the kernel has taken from the last flood.
 *
 *     node fast-upstream.js PORT
 */

const SSE_HEAD = Buffer.from('event: message\ndata: ');
const SSE_TAIL = Buffer.from('\n\n');
const SSE_HEADERS = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };
/** Below this the official SDK's server answers in one write with a Content-Length, above it in chunks. */
const ONE_WRITE_BYTES = 64 * 1024;
const FLOOD_FRAME = Buffer.from(
  `event: message\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"${'lorem ipsum. '.repeat(75)}"}}\n\n`,
);
/** Longer than nginx's and the gateway's idle connections live, so that neither meets a closing one. */
const KEEP_ALIVE_MS = 120_000;

type Kind = 'sse' | 'json' | 'chunked';
const KINDS: Readonly<Record<string, Kind>> = { '/sse/mcp': 'sse', '/json/mcp': 'json', '/chunked/mcp': 'chunked' };

let flood: Socket | undefined;

function* framed(answer: Answer): Generator<Buffer> {
  yield SSE_HEAD;
  yield* answer.pieces;
  yield SSE_TAIL;
}

/** Numbered log messages that carry the moment they were written, on the clock all processes of the machine share. */
async function sendTicks(response: ServerResponse, message: Message): Promise<void> {
  const { count = 100, everyMs = 5 } = message.params?.arguments ?? {};
  for (let tick = 0; tick < count && !response.destroyed; tick += 1) {
    await sleep(everyMs);
    const params = { level: 'info', data: `sent at ${process.hrtime.bigint()} ns` };
    const text = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params });
    response.write(`event: message\ndata: ${text}\n\n`);
  }
}

function* floodFrames(mb: number): Generator<Buffer> {
  for (let sent = 0; sent < mb * 1e6; sent += FLOOD_FRAME.length) yield FLOOD_FRAME;
}

async function sendSlowly(response: ServerResponse, message: Message, answer: Answer): Promise<void> {
  response.writeHead(200, SSE_HEADERS).flushHeaders();
  flood = response.socket ?? undefined;
  if (message.params?.name === 'ticks') await sendTicks(response, message);
  else await writeAll(response, floodFrames(message.params?.arguments?.mb ?? 100));
  await writeAll(response, framed(answer));
  response.end();
}

function respond(response: ServerResponse, message: Message, kind: Kind): void {
  const sse = kind !== 'json';
  const answer = answerTo(message);
  const tool = message.method === 'tools/call' ? message.params?.name : undefined;
  if (!answer) {
    response.writeHead(202).end();
    return;
  }
  if (tool === 'ticks' || tool === 'flood') {
    void sendSlowly(response, message, answer);
    return;
  }
  const bytes = sse ? SSE_HEAD.length + answer.bytes + SSE_TAIL.length : answer.bytes;
  const type = sse ? 'text/event-stream' : 'application/json';
  const pieces = sse ? framed(answer) : answer.pieces;
  if (bytes <= ONE_WRITE_BYTES && kind === 'chunked') {
    response.writeHead(200, SSE_HEADERS);
    response.socket?.cork();
    response.write(Buffer.concat([...pieces], bytes));
    response.end();
    response.socket?.uncork();
    return;
  }
  if (bytes <= ONE_WRITE_BYTES) {
    response.writeHead(200, { 'content-type': type, 'content-length': bytes });
    response.end(Buffer.concat([...pieces], bytes));
    return;
  }
  response.writeHead(200, sse ? SSE_HEADERS : { 'content-type': type, 'content-length': bytes });
  void writeAll(response, pieces).then(() => response.end());
}

const legacySessions = new Map<string, ServerResponse>();

function openLegacy(response: ServerResponse): void {
  const id = randomUUID();
  legacySessions.set(id, response);
  response.on('close', () => legacySessions.delete(id));
  response.writeHead(200, SSE_HEADERS);
  response.write(`event: endpoint\ndata: /legacy/message?sessionId=${id}\n\n`);
}

function route(request: IncomingMessage, response: ServerResponse, message: Message): void {
  const { method, url = '/' } = request;
  const kind = KINDS[url];
  if (method === 'POST' && kind) {
    respond(response, message, kind);
  } else if (method === 'GET' && kind === 'sse') {
    // a session's own stream, on which nothing happens
    response.writeHead(200, SSE_HEADERS).flushHeaders();
  } else if (method === 'POST' && url.startsWith('/legacy/message?sessionId=')) {
    const stream = legacySessions.get(url.slice(url.indexOf('=') + 1));
    const answer = answerTo(message);
    response.writeHead(stream ? 202 : 404).end();
    if (stream && answer) void writeAll(stream, framed(answer));
  } else if (method === 'GET' && url === '/legacy/sse') {
    openLegacy(response);
  } else if (url === '/__sent') {
    response.end(String(flood ? flood.bytesWritten - flood.writableLength : 0));
  } else {
    response.writeHead(method === 'DELETE' ? 200 : 405).end();
  }
}

// Callbacks and as few objects as can be: what this server spends on a small message is missing from the two cores
// that the gateway is measured on.
const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0 }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const [first] = chunks;
    const text = chunks.length === 1 && first ? first.toString('latin1') : Buffer.concat(chunks).toString();
    route(request, response, text === '' ? {} : (JSON.parse(text) as Message));
  });
});
server.listen(Number(process.argv[2]), '127.0.0.1', 4096);
