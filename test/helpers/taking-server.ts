/** An HTTP upstream that looks only at how messages are sent to it. Its answers say nothing. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from './loopback.js';

/** What became of one message, as its receiver saw it. */
export interface Taken {
  bytes: number;
  /** Lower-case hex sha-256. */
  digest: string;
  /** False for what broke off, and for what no parser would take. */
  whole: boolean;
}

/** How a receiver reads: at once, with pauses, never, or at once without ever answering. */
export type Pace = 'eager' | 'slow' | 'deaf' | 'silent';

/** A refusal before the message is read: then the rest is read all the same, or left lying, or the connection ends. */
type Early = 'reads on' | 'stops reading' | 'closes';

export interface TakingOptions {
  transport: 'streamable-http' | 'legacy-sse';
  pace?: Pace;
  /** Refuses messages of more than 64 KiB with 413. */
  early?: Early;
  /** Resets the connection of this many messages, counted from the second on, without reading them. */
  resets?: number;
}

export interface TakingServer {
  readonly url: string;
  readonly taken: Taken[];
  /** Connections ever accepted. */
  readonly connections: number;
  close(): Promise<void>;
}

const REFUSAL = JSON.stringify({ jsonrpc: '2.0', error: { code: -32000, message: 'Payload Too Large' } });

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function take(request: IncomingMessage, pace: Pace): Promise<Taken> {
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const part of request as AsyncIterable<Buffer>) {
      hash.update(part);
      bytes += part.length;
      if (pace === 'slow') await sleep(2);
    }
  } catch {
    // what is missing shows in `complete`
  }
  return { bytes, digest: hash.digest('hex'), whole: request.complete };
}

function refuse(request: IncomingMessage, response: ServerResponse, early: Early): void {
  if (early === 'reads on') request.resume();
  request.on('error', () => undefined);
  response.writeHead(413, { 'content-type': 'application/json', 'content-length': String(REFUSAL.length) });
  response.end(REFUSAL);
  // with bytes unread the kernel resets the connection, which the sender may notice before the answer
  if (early === 'closes') request.socket.destroySoon();
}

export async function startTakingServer(options: TakingOptions): Promise<TakingServer> {
  const { pace = 'eager', early } = options;
  const taken: Taken[] = [];
  let resets = options.resets ?? 0;
  let connections = 0;
  let messages = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: endpoint\ndata: /message\n\n');
      return;
    }
    messages += 1;
    if (messages > 1 && resets-- > 0) return void request.socket.resetAndDestroy();
    if (pace === 'deaf') return;
    if (early !== undefined && Number(request.headers['content-length']) > 64 * 1024) {
      return refuse(request, response, early);
    }
    const one = await take(request, pace);
    taken.push(one);
    if (!one.whole || pace === 'silent') return;
    response.writeHead(options.transport === 'legacy-sse' ? 202 : 200, { 'content-type': 'application/json' });
    response.end('{}');
  };
  const server = createServer({ requestTimeout: 0 }, (request, response) => void answer(request, response));
  server.on('connection', (socket) => {
    connections += 1;
    socket.on('error', () => undefined);
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    taken,
    get connections() {
      return connections;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
