import { randomUUID } from 'node:crypto';
import { createServer, type Server as HttpServer } from 'node:http';
import { type EventStore, StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { refuseForeign } from './local-only.js';
import { server2025 } from './server-2025.js';

/** Milliseconds a client is told to wait before it resumes a closed stream. */
const RETRY_INTERVAL = 200;

/** Every event of one session, in order: what a resumed stream is served from. */
class SessionEvents implements EventStore {
  readonly #events: { stream: string; message: JSONRPCMessage }[] = [];

  async storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    this.#events.push({ stream, message });
    return String(this.#events.length);
  }

  async getStreamIdForEventId(id: string): Promise<string | undefined> {
    return this.#events[Number(id) - 1]?.stream;
  }

  async replayEventsAfter(
    id: string,
    { send }: { send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const stream = this.#events[Number(id) - 1]?.stream;
    if (stream === undefined) throw new Error(`no event ${id}`);
    for (const [at, event] of this.#events.entries()) {
      // A priming event has no message: it is there to be resumed from, not to be repeated.
      const isMessage = 'jsonrpc' in event.message;
      if (at >= Number(id) && event.stream === stream && isMessage) await send(String(at + 1), event.message);
    }
    return stream;
  }
}

/** Serves the fixtures over Streamable HTTP with sessions and resumable streams, at any path. */
export function http2025(): HttpServer {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const open = async () => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: new SessionEvents(),
      retryInterval: RETRY_INTERVAL,
      onsessioninitialized: (id) => {
        sessions.set(id, transport);
      },
      onsessionclosed: (id) => {
        sessions.delete(id);
      },
    });
    // The class says `onclose: (() => void) | undefined` where the interface says `onclose?: () => void`.
    await server2025().connect(transport as Transport);
    return transport;
  };
  return createServer(async (request, response) => {
    if (refuseForeign(request, response)) return;
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? sessions.get(id) : undefined;
    if (id !== undefined && known === undefined) {
      const error = { code: -32001, message: 'Session not found' };
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', error, id: null }));
      return;
    }
    await (known ?? (await open())).handleRequest(request, response);
  });
}
