import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { close, listen } from './loopback.js';

type Json = Record<string, unknown>;

interface Message {
  id?: unknown;
  method?: string;
  params?: Json;
}

export interface Recorded {
  method: string | undefined;
  params: Json;
  headers: IncomingHttpHeaders;
  /** The whole body as it came. */
  body: Buffer;
}

/** A result, or an error with `code` and `message`; undefined says that the method is unknown. */
export type Handler = (params: Json, recorded: Recorded) => Json | undefined | Promise<Json | undefined>;

export interface RecordingOptions {
  tools?: Json[];
  /** By method; `tools/call` answers with a text block where it is not given. */
  methods?: Record<string, Handler>;
  capabilities?: Json;
  /** Answers any other request, such as a download; undefined: 404. */
  http?: (
    request: IncomingMessage,
    body: Buffer,
  ) => { status: number; headers?: Record<string, string>; body?: Buffer } | undefined;
}

/** An error that a handler throws is a JSON-RPC error. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: Json | undefined;
  /** Of the HTTP answer. */
  readonly status: number;
  constructor(code: number, message: string, data?: Json, status = 200) {
    super(message);
    this.code = code;
    this.data = data;
    this.status = status;
  }
}

/**
 * An MCP server over Streamable HTTP, of every era, that keeps each byte it is sent: SDK servers strip what they do not
 * know. It answers in plain JSON and has no sessions.
 */
export class RecordingUpstream {
  readonly requests: Recorded[] = [];
  readonly #options: RecordingOptions;
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      void this.#answer(request, Buffer.concat(chunks)).then(({ status, headers, body }) => {
        response.writeHead(status, headers);
        response.end(body);
      });
    });
  });

  private constructor(options: RecordingOptions) {
    this.#options = options;
  }

  static async start(options: RecordingOptions): Promise<RecordingUpstream> {
    const upstream = new RecordingUpstream(options);
    await listen(upstream.#server);
    return upstream;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `${this.origin}/mcp`;
  }

  /** What was sent with a method, the newest last. */
  with(method: string): Recorded[] {
    return this.requests.filter((recorded) => recorded.method === method);
  }

  /** The arguments of the newest tools/call. */
  get lastArguments(): Json {
    return (this.with('tools/call').at(-1)?.params.arguments ?? {}) as Json;
  }

  async stop(): Promise<void> {
    await close(this.#server);
  }

  async #answer(request: IncomingMessage, body: Buffer) {
    if (request.url !== '/mcp') {
      return this.#options.http?.(request, body) ?? { status: 404, headers: {}, body: Buffer.alloc(0) };
    }
    if (request.method !== 'POST') return { status: 405, headers: {}, body: Buffer.alloc(0) };
    const asked = JSON.parse(body.toString('utf8')) as Message | Message[];
    const all = await Promise.all([asked].flat().map((message) => this.#answerOne(message, request, body)));
    const answers = all.flatMap((one) => one ?? []);
    const [first] = answers;
    if (!first) return { status: 202, headers: {}, body: Buffer.alloc(0) };
    const { status } = first;
    const text = JSON.stringify(Array.isArray(asked) ? answers.map(({ answer }) => answer) : first.answer);
    return { status, headers: { 'content-type': 'application/json' }, body: Buffer.from(text) };
  }

  async #answerOne(message: Message, request: IncomingMessage, body: Buffer) {
    const recorded = { method: message.method, params: message.params ?? {}, headers: request.headers, body };
    this.requests.push(recorded);
    if (message.id === undefined) return undefined;
    const about = { jsonrpc: '2.0', id: message.id };
    try {
      const result = await this.#result(recorded);
      const outcome = result ? { result } : { error: { code: -32601, message: 'Method not found' } };
      return { status: 200, answer: { ...about, ...outcome } };
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      const { code, message: text, data, status } = error;
      return { status, answer: { ...about, error: { code, message: text, data } } };
    }
  }

  async #result(recorded: Recorded): Promise<Json | undefined> {
    const { method, params } = recorded;
    const own = method === undefined ? undefined : this.#options.methods?.[method];
    if (own) return own(params, recorded);
    switch (method) {
      case 'initialize':
        return {
          protocolVersion: params.protocolVersion,
          capabilities: this.#options.capabilities ?? { tools: {}, resources: {}, prompts: {} },
          serverInfo: { name: 'recording', version: '1' },
        };
      case 'tools/list':
        return { tools: this.#options.tools ?? [] };
      case 'tools/call':
        return { content: [{ type: 'text', text: 'done' }] };
      case 'ping':
        return {};
      default:
        return undefined;
    }
  }
}
