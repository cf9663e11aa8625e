/** An MCP client that keeps every byte: SDK clients strip members and hide what went over the wire. */

export interface RawAnswer {
  status: number;
  headers: Headers;
  /** The body as it came. */
  text: string;
  /** Every JSON-RPC message in it. */
  messages: RawMessage[];
}

export interface RawMessage {
  id?: unknown;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown> & { content?: Record<string, unknown>[] };
  error?: { code: number; message: string; data?: Record<string, unknown> };
}

/** What a client says of itself. */
export interface About {
  capabilities?: Record<string, unknown>;
  name?: string;
  version?: string;
  /** Sent with every request. */
  headers?: Record<string, string>;
}

export class RawClient {
  readonly #url: string;
  readonly #version: string;
  #session: string | undefined;
  #about: About | undefined;
  #headers: Record<string, string> = {};
  #nextId = 1;
  /** What `initialize` was answered with. */
  opened: RawMessage | undefined;

  private constructor(url: string, version: string) {
    this.#url = url;
    this.#version = version;
  }

  /** A client that has initialized with the version. */
  static async connect(url: string, version = '2025-06-18', about: About = {}): Promise<RawClient> {
    const { capabilities = {}, name = 'raw', version: release = '1' } = about;
    const client = new RawClient(url, version);
    client.#headers = about.headers ?? {};
    const answer = await client.post({
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: { protocolVersion: version, capabilities, clientInfo: { name, version: release } },
    });
    if (answer.status !== 200) throw new Error(`initialize: ${answer.status} ${answer.text}`);
    client.opened = answer.messages[0];
    client.#session = answer.headers.get('mcp-session-id') ?? undefined;
    await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return client;
  }

  /** One that has not, such as a 2026-07-28 client: what it is goes with each of its requests. */
  static stateless(url: string, version: string, about?: About): RawClient {
    const client = new RawClient(url, version);
    client.#about = about;
    client.#headers = about?.headers ?? {};
    return client;
  }

  /** One that goes on with a session that it has, at another address. */
  static of(url: string, version: string, headers: Record<string, string>): RawClient {
    const client = new RawClient(url, version);
    client.#headers = headers;
    return client;
  }

  get session(): string | undefined {
    return this.#session;
  }

  /** The answer to a request, found by its id. */
  async request(method: string, params: Record<string, unknown> = {}): Promise<RawMessage & { answer: RawAnswer }> {
    const id = this.#nextId++;
    const answer = await this.post(
      { jsonrpc: '2.0', id, method, params: this.#stamped(params) },
      this.#named(method, params),
    );
    const message = answer.messages.find((candidate) => candidate.id === id);
    if (!message) throw new Error(`no answer to ${method}: ${answer.status} ${answer.text.slice(0, 300)}`);
    return { ...message, answer };
  }

  /** The answer to a request as it comes, whatever its type; its body has not been read. */
  open(
    method: string,
    params: Record<string, unknown>,
    headers: Record<string, string> = {},
    signal?: AbortSignal,
  ): Promise<Response> {
    const body = { jsonrpc: '2.0', id: this.#nextId++, method, params: this.#stamped(params) };
    return fetch(this.#url, {
      method: 'POST',
      headers: {
        ...this.headers(),
        ...this.#named(method, params),
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    });
  }

  /** 2026-07-28: a request says by itself what its client is. */
  #stamped(params: Record<string, unknown>): Record<string, unknown> {
    if (!this.#about) return params;
    const { capabilities = {}, name = 'raw' } = this.#about;
    const own = {
      'io.modelcontextprotocol/protocolVersion': this.#version,
      'io.modelcontextprotocol/clientCapabilities': capabilities,
      'io.modelcontextprotocol/clientInfo': { name, version: '1' },
    };
    return { ...params, _meta: { ...own, ...(params._meta as Record<string, unknown> | undefined) } };
  }

  #named(method: string, params: Record<string, unknown>): Record<string, string> {
    if (!this.#about) return {};
    const subject = params.name ?? params.uri ?? params.taskId;
    return { 'mcp-method': method, ...(typeof subject === 'string' && { 'mcp-name': subject }) };
  }

  call(name: string, args: Record<string, unknown> = {}): Promise<RawMessage & { answer: RawAnswer }> {
    return this.request('tools/call', { name, arguments: args });
  }

  async post(body: unknown, headers: Record<string, string> = {}): Promise<RawAnswer> {
    const response = await fetch(this.#url, {
      method: 'POST',
      headers: { ...this.headers(), 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return readAnswer(response);
  }

  async delete(): Promise<number> {
    return (await fetch(this.#url, { method: 'DELETE', headers: this.headers() })).status;
  }

  headers(): Record<string, string> {
    return {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': this.#version,
      ...(this.#session ? { 'mcp-session-id': this.#session } : {}),
      ...this.#headers,
    };
  }
}

export async function readAnswer(response: Response): Promise<RawAnswer> {
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  return { status: response.status, headers: response.headers, text, messages: messagesIn(text, type) };
}

export function messagesIn(text: string, type: string): RawMessage[] {
  if (type.includes('text/event-stream')) {
    return text
      .split(/\r?\n\r?\n/)
      .map((frame) =>
        frame
          .split(/\r?\n/)
          .filter((line) => line.startsWith('data:'))
          .map((line) => line.slice(5).trim())
          .join('\n'),
      )
      .filter((data) => data !== '')
      .map((data) => JSON.parse(data) as RawMessage);
  }
  if (!type.includes('json') || text.trim() === '') return [];
  const value = JSON.parse(text) as RawMessage | RawMessage[];
  return Array.isArray(value) ? value : [value];
}
