import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, answerTo, type Message } from './answers.js';
import { writeAll } from './write.js';

/**
 * An MCP server of rendered bytes: `/sse/mcp` and `/json/mcp` (Streamable HTTP, stateless), `/legacy/sse`
 * (HTTP+SSE). `GET /__sent` tells how many bytes the kernel has taken from the last flood.
 *
 *     node fast-upstream.js PORT
 */

const SSE_HEAD = Buffer.from('event: message\ndata: ');
const SSE_TAIL = Buffer.from('\n\n');
/** Below this the official SDK's server answers in one write with a Content-Length, above it in chunks. */
const ONE_WRITE_BYTES = 64 * 1024;
const FLOOD_FRAME = Buffer.from(
  `event: message\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"${'lorem ipsum. '.repeat(75)}"}}\n\n`,
);
/** Longer than nginx's and the gateway's idle connections live, so that neither meets a closing one. */
const KEEP_ALIVE_MS = 120_000;

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

async function respond(response: ServerResponse, message: Message, sse: boolean): Promise<void> {
  const answer = answerTo(message);
  if (!answer) {
    response.writeHead(202).end();
    return;
  }
  const pieces = sse ? framed(answer) : answer.pieces;
  const bytes = sse ? SSE_HEAD.length + answer.bytes + SSE_TAIL.length : answer.bytes;
  const headers: Record<string, string | number> = sse
    ? { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' }
    : { 'content-type': 'application/json' };
  const tool = message.method === 'tools/call' ? message.params?.name : undefined;
  if (tool === 'ticks' || tool === 'flood') {
    response.writeHead(200, headers).flushHeaders();
    flood = response.socket ?? undefined;
    if (tool === 'ticks') await sendTicks(response, message);
    else await writeAll(response, floodFrames(message.params?.arguments?.mb ?? 100));
  } else if (bytes <= ONE_WRITE_BYTES) {
    response.writeHead(200, { ...headers, 'content-length': bytes }).end(Buffer.concat([...pieces]));
    return;
  } else {
    response.writeHead(200, sse ? headers : { ...headers, 'content-length': bytes });
  }
  await writeAll(response, pieces);
  response.end();
}

const legacySessions = new Map<string, ServerResponse>();

function openLegacy(response: ServerResponse): void {
  const id = randomUUID();
  legacySessions.set(id, response);
  response.on('close', () => legacySessions.delete(id));
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.write(`event: endpoint\ndata: /legacy/message?sessionId=${id}\n\n`);
}

async function body(request: IncomingMessage): Promise<Message> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as Message;
}

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://localhost');
  if (url.pathname === '/__sent') {
    response.end(String(flood ? flood.bytesWritten - flood.writableLength : 0));
  } else if (request.method === 'GET' && url.pathname === '/legacy/sse') {
    openLegacy(response);
  } else if (request.method === 'POST' && url.pathname === '/legacy/message') {
    const stream = legacySessions.get(url.searchParams.get('sessionId') ?? '');
    const answer = answerTo(await body(request));
    response.writeHead(stream ? 202 : 404).end();
    if (stream && answer) await writeAll(stream, framed(answer));
  } else if (request.method === 'POST' && (url.pathname === '/sse/mcp' || url.pathname === '/json/mcp')) {
    await respond(response, await body(request), url.pathname === '/sse/mcp');
  } else {
    response.writeHead(request.method === 'DELETE' ? 200 : 405).end();
  }
}

const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0 }, (request, response) => {
  handle(request, response).catch(() => response.destroy());
});
server.listen(Number(process.argv[2]), '127.0.0.1', 4096);
