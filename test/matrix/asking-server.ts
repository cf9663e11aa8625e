import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { close, listen } from '../helpers/loopback.js';

type Json = Record<string, unknown>;
interface Message {
  id?: unknown;
  method?: string;
  params?: Json & { _meta?: Json };
  result?: Json;
}

const UPLOAD = '/up/42';
const QUESTION = 'ask-1';

/**
 * A server of SEP-1306: its tool asks for the file by binary elicitation, on the stream of its call or, without a session,
 * by a result that wants input.
 */
export class AskingServer {
  /** The newest upload, as it came. */
  #body: Buffer = Buffer.alloc(0);
  #answered: ((result: Json) => void) | undefined;
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => void this.#answer(request, Buffer.concat(chunks), response));
  });

  static async start(): Promise<AskingServer> {
    const started = new AskingServer();
    await listen(started.#server);
    return started;
  }

  get #origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `${this.#origin}/mcp`;
  }

  /** The file of the newest upload: a form with one part. */
  get file(): Buffer {
    const from = this.#body.indexOf('\r\n\r\n') + 4;
    const to = this.#body.lastIndexOf('\r\n--');
    if (from < 4 || to < from) throw new Error('nothing was uploaded');
    return this.#body.subarray(from, to);
  }

  async stop(): Promise<void> {
    await close(this.#server);
  }

  async #answer({ url, method }: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
    if (url === UPLOAD) {
      this.#body = body;
      response.writeHead(204).end();
      return;
    }
    const message = method === 'POST' ? (JSON.parse(body.toString()) as Message) : {};
    if (message.method === undefined && message.id === QUESTION) this.#answered?.(message.result ?? {});
    if (message.id === undefined || message.method === undefined) {
      response.writeHead(method === 'POST' ? 202 : 405).end();
      return;
    }
    const say = (one: Json) => response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...one })}\n\n`);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    say({ id: message.id, result: await this.#result(message, say) });
    response.end();
  }

  async #result({ method, params = {} }: Message, say: (message: Json) => void): Promise<Json> {
    if (method === 'initialize') {
      const serverInfo = { name: 'asking', version: '1' };
      return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo };
    }
    if (method === 'tools/list')
      return { resultType: 'complete', tools: [{ name: 'take', inputSchema: { type: 'object' } }] };
    if (method !== 'tools/call') return {};
    const isStateless = params._meta?.['io.modelcontextprotocol/protocolVersion'] !== undefined;
    const { inputResponses } = params as { inputResponses?: { scan?: Json } };
    if (isStateless && !inputResponses) {
      const inputRequests = { scan: { method: 'elicitation/create', params: this.#question() } };
      return { resultType: 'input_required', inputRequests, requestState: 'asked' };
    }
    const answer = isStateless ? inputResponses?.scan : await this.#ask(say);
    const isError = answer?.action !== 'accept';
    return { resultType: 'complete', content: [{ type: 'text', text: JSON.stringify(answer ?? {}) }], isError };
  }

  #ask(say: (message: Json) => void): Promise<Json> {
    const answered = new Promise<Json>((resolve) => {
      this.#answered = resolve;
    });
    say({ id: QUESTION, method: 'elicitation/create', params: this.#question() });
    return answered;
  }

  #question(): Json {
    return {
      mode: 'binary',
      message: 'A file, please.',
      requestedSchema: { type: 'object', properties: { scan: { type: 'file' } }, required: ['scan'] },
      uploadEndpoints: { scan: { url: `${this.#origin}${UPLOAD}`, method: 'POST', uploadId: 'theirs' } },
    };
  }
}
