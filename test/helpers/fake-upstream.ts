/**
 * An HTTP upstream inside the test's process, on a free loopback port.
 *
 * Left alone it is the MCP server of fake-upstream-mcp.ts, framed as `transport` says:
 *
 *     const fake = await startFakeUpstream({ transport: 'sse' });   // json | sse | legacy-sse
 *     fake.url                                                      // http://127.0.0.1:<port>/mcp
 *     fake.requests                                                 // every request with its headers and body
 *     await fake.close();
 *
 * A test that needs other bytes answers by itself, for one request of a client's (`fake.queue.push(answer)`) or for all
 * (`fake.respond = (request) => answer`, `undefined` = answer as MCP). ScriptedAnswer tells what can go wrong.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { type McpMessage, mcpReplies, type Piece, pieceBytes, pieceLength } from './fake-upstream-mcp.js';
import { roomToWrite } from './room-to-write.js';

/** An answer written exactly as told. */
export interface ScriptedAnswer {
  /** Default 200. */
  status?: number;
  headers?: Record<string, string | string[]>;
  contentType?: string;
  body?: Buffer | string;
  /** Compresses the body; with `codingHeader` the header says something else than the truth. */
  coding?: 'gzip' | 'br' | 'deflate';
  codingHeader?: string;
  /** `length` (default), `chunked`, or `close`: the end of the connection is the end of the body. */
  framing?: 'length' | 'chunked' | 'close';
  /** A Content-Length that lies. */
  declaredLength?: number;
  /** Says `Connection: close`, whatever the framing. */
  connectionClose?: boolean;
  /** Bytes per write and milliseconds between two writes. */
  chunk?: number;
  gapMs?: number;
  headDelayMs?: number;
  /** Nothing of it is written before this has come. */
  after?: Promise<unknown>;
  /** After this many body bytes … */
  cutAfter?: number;
  /** … close (default), reset, or go silent. */
  cut?: 'fin' | 'rst' | 'stall';
  /** Nothing is ever answered. */
  never?: boolean;
  /** Resets the connection without any answer. */
  reset?: boolean;
  /** Written on the socket instead of a head and a body; then `cut`, if there is one. */
  raw?: Buffer | string;
}

export interface RecordedRequest {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
  body: Buffer;
  /** The number of the connection it came on, from 0. */
  connection: number;
  /** The requester went away before the answer was complete. */
  readonly abandoned: boolean;
  /** Bytes written on its connection since the request came: how far the reader let us go ahead. */
  readonly sent: number;
}

export interface FakeUpstreamOptions {
  /** Default `json`. */
  transport?: 'json' | 'sse' | 'legacy-sse';
  /** Mints an Mcp-Session-Id on `initialize` (not for legacy-sse). Default false. */
  session?: boolean;
  /** The data of the legacy `endpoint` event; default `/message?session=<n>`. */
  endpoint?: string;
  /** Frames JSON with Content-Length where it can. Default true; false gives chunked. */
  announceLength?: boolean;
  /** Milliseconds after which an idle connection is closed. Default 5000, as Node does. */
  keepAliveTimeout?: number;
}

export interface FakeUpstream {
  readonly url: string;
  readonly port: number;
  readonly requests: RecordedRequest[];
  /** All that it was ever sent, lines, heads and bodies, as one text. */
  heard(): string;
  /** Connections ever accepted, and open now. */
  readonly connections: number;
  readonly openConnections: number;
  respond: ((request: RecordedRequest) => ScriptedAnswer | undefined) | undefined;
  readonly queue: ScriptedAnswer[];
  /** Writes one message to every open GET stream, framed as SSE. */
  push(message: object): void;
  /** Writes bytes on a connection out of turn. */
  speakOn(connection: number, bytes: string): void;
  resetConnection(connection: number): void;
  /** Ends all connections at once and frees the port. */
  close(): Promise<void>;
}

/** What a request of Wharf's own account has, such as for the list of tools before the first call. */
const OWN_REQUEST = '"id":"wharf-';

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function writeAll(to: ServerResponse, bytes: Buffer): Promise<void> {
  if (!to.destroyed && !to.write(bytes)) await roomToWrite(to);
}

async function cutConnection(socket: Socket, how: ScriptedAnswer['cut']): Promise<void> {
  if (how === 'stall') return;
  if (how === 'rst') {
    // what was written must have left before the reset throws the rest away
    await sleep(20);
    socket.resetAndDestroy();
  } else socket.end();
}

function encode(answer: ScriptedAnswer): Buffer {
  const body = typeof answer.body === 'string' ? Buffer.from(answer.body) : (answer.body ?? Buffer.alloc(0));
  if (answer.coding === 'gzip') return gzipSync(body);
  if (answer.coding === 'br') return brotliCompressSync(body);
  if (answer.coding === 'deflate') return deflateSync(body);
  return body;
}

async function play(answer: ScriptedAnswer, request: IncomingMessage, to: ServerResponse): Promise<void> {
  const socket = request.socket;
  if (answer.never) return;
  if (answer.headDelayMs !== undefined) await sleep(answer.headDelayMs);
  await answer.after;
  if (answer.reset) {
    socket.resetAndDestroy();
    return;
  }
  if (answer.raw !== undefined) {
    socket.write(answer.raw);
    if (answer.cut !== undefined) await cutConnection(socket, answer.cut);
    return;
  }
  const body = encode(answer);
  const headers: Record<string, string | string[]> = { ...answer.headers };
  if (answer.contentType !== undefined) headers['content-type'] = answer.contentType;
  const coding = answer.codingHeader ?? answer.coding;
  if (coding !== undefined) headers['content-encoding'] = coding;
  if (answer.connectionClose || answer.framing === 'close') headers.connection = 'close';
  if (answer.framing === undefined || answer.framing === 'length') {
    headers['content-length'] = String(answer.declaredLength ?? body.length);
  } else if (answer.framing === 'close') to.useChunkedEncodingByDefault = false;
  to.writeHead(answer.status ?? 200, headers);
  to.flushHeaders();
  const end = Math.min(body.length, answer.cutAfter ?? body.length);
  const step = answer.chunk ?? Math.max(1, end);
  for (let at = 0; at < end; at += step) {
    if (at > 0 && answer.gapMs !== undefined) await sleep(answer.gapMs);
    await writeAll(to, body.subarray(at, Math.min(end, at + step)));
  }
  if (answer.cutAfter !== undefined || answer.cut !== undefined) await cutConnection(socket, answer.cut);
  else to.end();
}

const EVENT = Buffer.from('event: message\ndata: ');
const EVENT_END = Buffer.from('\n\n');

async function writeEvent(to: ServerResponse, pieces: Piece[]): Promise<void> {
  for (const bytes of pieceBytes([EVENT, ...pieces, EVENT_END])) await writeAll(to, bytes);
}

class Fake implements FakeUpstream {
  readonly requests: RecordedRequest[] = [];
  readonly queue: ScriptedAnswer[] = [];
  respond: FakeUpstream['respond'] = undefined;
  connections = 0;
  readonly #options: FakeUpstreamOptions;
  readonly #streams = new Map<string, ServerResponse>();
  readonly #sockets = new Map<Socket, number>();
  readonly #server = createServer({ requestTimeout: 0 }, (request, response) => {
    void this.#handle(request, response);
  });

  constructor(options: FakeUpstreamOptions) {
    this.#options = options;
    this.#server.keepAliveTimeout = options.keepAliveTimeout ?? 5000;
    this.#server.on('connection', (socket) => {
      this.#sockets.set(socket, this.connections++);
      // a requester that resets is part of many tests
      socket.on('error', () => undefined);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/${this.#options.transport === 'legacy-sse' ? 'sse' : 'mcp'}`;
  }

  get openConnections(): number {
    return this.#sockets.size;
  }

  heard(): string {
    const texts = this.requests.map(({ url, rawHeaders, body }) => [url, ...rawHeaders, body.toString('latin1')]);
    return texts.flat().join('\n');
  }

  push(message: object): void {
    for (const stream of this.#streams.values()) void writeEvent(stream, [Buffer.from(JSON.stringify(message))]);
  }

  speakOn(connection: number, bytes: string): void {
    for (const [socket, number] of this.#sockets) if (number === connection) socket.write(bytes);
  }

  resetConnection(connection: number): void {
    for (const [socket, number] of this.#sockets) if (number === connection) socket.resetAndDestroy();
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      for (const socket of this.#sockets.keys()) socket.destroy();
    });
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    const sentBefore = socket.bytesWritten;
    const parts: Buffer[] = [];
    try {
      for await (const part of request) parts.push(part as Buffer);
    } catch {
      return;
    }
    const recorded: RecordedRequest = {
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      rawHeaders: request.rawHeaders,
      body: Buffer.concat(parts),
      connection: this.#sockets.get(socket) ?? -1,
      get abandoned() {
        return response.closed && !response.writableFinished;
      },
      get sent() {
        return socket.bytesWritten - sentBefore;
      },
    };
    this.requests.push(recorded);
    const queued = recorded.body.includes(OWN_REQUEST) ? undefined : this.queue.shift();
    const scripted = queued ?? this.respond?.(recorded);
    if (scripted !== undefined) await play(scripted, request, response);
    else if (this.#options.transport === 'legacy-sse') await this.#legacy(recorded, response);
    else await this.#mcp(recorded, response);
  }

  async #mcp(request: RecordedRequest, response: ServerResponse): Promise<void> {
    if (request.method === 'DELETE') return void response.writeHead(200).end();
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      this.#keepStream(String(request.headers['mcp-session-id'] ?? this.connections), response);
      return;
    }
    const message = JSON.parse(request.body.toString()) as McpMessage;
    const replies = [...mcpReplies(message)];
    const last = replies.at(-1);
    if (last === undefined) return void response.writeHead(202).end();
    const headers: Record<string, string | number> = {};
    if (this.#options.session && message.method === 'initialize')
      headers['mcp-session-id'] = `upstream-session-${this.requests.length}`;
    if (this.#options.transport === 'sse') {
      response.writeHead(200, { ...headers, 'content-type': 'text/event-stream' });
      for (const pieces of replies) await writeEvent(response, pieces);
    } else {
      headers['content-type'] = 'application/json';
      if (this.#options.announceLength !== false) {
        headers['content-length'] = last.reduce((sum, piece) => sum + pieceLength(piece), 0);
      }
      response.writeHead(200, headers);
      for (const bytes of pieceBytes(last)) await writeAll(response, bytes);
    }
    response.end();
  }

  async #legacy(request: RecordedRequest, response: ServerResponse): Promise<void> {
    const url = new URL(request.url, this.url);
    if (request.method === 'GET') {
      const session = String(this.requests.length);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: endpoint\ndata: ${this.#options.endpoint ?? `/message?session=${session}`}\n\n`);
      this.#keepStream(session, response);
      return;
    }
    const stream = this.#streams.get(url.searchParams.get('session') ?? '');
    if (request.method !== 'POST' || stream === undefined) return void response.writeHead(404).end();
    response.writeHead(202).end('Accepted');
    for (const pieces of mcpReplies(JSON.parse(request.body.toString()) as McpMessage))
      await writeEvent(stream, pieces);
  }

  #keepStream(session: string, response: ServerResponse): void {
    this.#streams.set(session, response);
    response.on('close', () => this.#streams.delete(session));
  }
}

export function startFakeUpstream(options: FakeUpstreamOptions = {}): Promise<FakeUpstream> {
  return new Fake(options).listen();
}
