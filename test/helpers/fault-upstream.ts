import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { processTree } from '../bench/lib/proc.js';
import type { TransportName } from './cut-upstreams.js';
import type { McpMessage } from './fake-upstream-mcp.js';
import { answerInParts, Stop } from './fault-answer.js';
import { roomToWrite } from './room-to-write.js';

/** Compiled, this file is dist/test/helpers/fault-upstream.js. */
const STDIO_SERVER = fileURLToPath(new URL('./fault-stdio-server.js', import.meta.url));

/**
 * The fake MCP server of fake-upstream-mcp.ts behind any transport. Its answer to a `tools/call` stops after
 * `arguments.stopAfter` bytes, until the test says what comes of it.
 */
export interface FaultUpstream {
  /** What stands under the server's name in the config. */
  server: Record<string, unknown>;
  /** The answers under way are written to their end. */
  goOn(): void;
  /** Every connection with an answer under way is reset; over stdio every process is killed. */
  die(): void;
  /** Open connections with an answer under way; over stdio processes. */
  busy(): number;
  close(): Promise<void>;
}

export async function startFaultUpstream(transport: TransportName): Promise<FaultUpstream> {
  if (transport === 'stdio') return stdio();
  const http = new HttpFaults(transport);
  await http.listen();
  return http;
}

/** The processes of the stdio server among the children of this process, or of a gateway that is another one. */
export function stdioServers(parent = process.pid): number[] {
  const all = processTree(parent);
  const others = new Set(processTree(parent, /fault-stdio-server/));
  return all.filter((pid) => !others.has(pid));
}

function stdio(): FaultUpstream {
  const signal = (name: NodeJS.Signals) => {
    for (const pid of stdioServers()) process.kill(pid, name);
  };
  return {
    server: { command: [process.execPath, STDIO_SERVER] },
    goOn: () => signal('SIGUSR2'),
    die: () => signal('SIGKILL'),
    busy: () => stdioServers().length,
    close: async () => {},
  };
}

class HttpFaults implements FaultUpstream {
  readonly #transport: Exclude<TransportName, 'stdio'>;
  /** Of the answers under way, in their order. */
  readonly #stops = new Set<Stop>();
  readonly #streams = new Map<string, { response: ServerResponse; last: Promise<void> }>();
  readonly #answering = new Set<ServerResponse>();
  readonly #server: Server;

  constructor(transport: Exclude<TransportName, 'stdio'>) {
    this.#transport = transport;
    this.#server = createServer((request, response) => void this.#handle(request, response));
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  get server(): Record<string, unknown> {
    const { port } = this.#server.address() as AddressInfo;
    return this.#transport === 'legacy-sse'
      ? { url: `http://127.0.0.1:${port}/sse`, transport: 'legacy-sse' }
      : { url: `http://127.0.0.1:${port}/mcp`, transport: 'streamable-http' };
  }

  goOn(): void {
    for (const stop of this.#stops) stop.goOn();
  }

  die(): void {
    for (const response of this.#answering) response.socket?.resetAndDestroy();
  }

  busy(): number {
    return this.#answering.size;
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#answering.add(response);
    response.on('close', () => this.#answering.delete(response));
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (request.method === 'GET') return this.#openStream(response);
    let text = '';
    for await (const part of request) text += String(part);
    const message = (text === '' ? {} : JSON.parse(text)) as McpMessage;
    if (this.#transport === 'legacy-sse') {
      response.writeHead(202).end();
      const stream = this.#streams.get(url.searchParams.get('session') ?? '');
      // one message at a time can be on a stream
      if (stream) stream.last = stream.last.then(() => this.#answer(message, stream.response));
    } else if (message.id === undefined) response.writeHead(202).end();
    else {
      const type = this.#transport === 'sse' ? 'text/event-stream' : 'application/json';
      response.writeHead(200, { 'content-type': type });
      await this.#answer(message, response);
      response.end();
    }
  }

  #openStream(response: ServerResponse): void {
    if (this.#transport !== 'legacy-sse') return void response.writeHead(405).end();
    const session = String(this.#streams.size + 1);
    this.#streams.set(session, { response, last: Promise.resolve() });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`event: endpoint\ndata: /message?session=${session}\n\n`);
  }

  async #answer(message: McpMessage, response: ServerResponse): Promise<void> {
    const stop = new Stop();
    this.#stops.add(stop);
    const frame = this.#transport === 'json' ? (['', ''] as const) : (['event: message\ndata: ', '\n\n'] as const);
    await answerInParts(
      message,
      (bytes) => writeAll(response, bytes),
      () => stop.here(),
      frame,
    );
    this.#stops.delete(stop);
  }
}

async function writeAll(to: ServerResponse, bytes: Buffer): Promise<void> {
  if (!to.destroyed && !to.write(bytes)) await roomToWrite(to);
}
