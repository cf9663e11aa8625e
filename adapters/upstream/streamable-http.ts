import { Readable } from 'node:stream';
import type { Ledger } from '../../gateway/budget/ledger.js';
import type { Limits, Timeouts } from '../../gateway/policy/limits.js';
import type { Sharing } from '../../gateway/ports/owner.js';
import type { BodyKind, ExchangeUpstream, UpstreamAnswer, UpstreamRequest } from '../../gateway/ports/upstream.js';
import type { Answer } from '../http/answer.js';
import { drain } from '../http/drain.js';
import type { HttpCall } from './http/call.js';
import { HttpClient } from './http/client.js';
import { codingOf, decodeBody } from './http/coding.js';
import { OF_PROXY, refusedCredentials } from './http/credentials.js';
import { reach } from './http/reach.js';
import { follow, isGone, isRedirection, redirected } from './http/redirect.js';
import { type HttpSettings, httpSettings, isOwnHeader } from './http/settings.js';

export const settings = httpSettings;

interface StreamableHttpDeps {
  /** The server's name in the config. */
  name: string;
  limits: Readonly<Pick<Limits, 'connections' | 'codingRatio'>>;
  timeouts: Readonly<Pick<Timeouts, 'queue' | 'upstream' | 'idle'>>;
  sharing: Sharing;
  windows?: Ledger | undefined;
}

const KINDS: Readonly<Record<string, BodyKind>> = {
  'application/json': 'json',
  'text/json': 'json',
  'text/event-stream': 'sse',
  'application/x-ndjson': 'lines',
  'application/jsonl': 'lines',
};

function mediaType(header: string | undefined): string {
  if (header === undefined) return '';
  const end = header.indexOf(';');
  return (end === -1 ? header : header.slice(0, end)).trim().toLowerCase();
}

function kindOf(status: number, type: string, length: number | undefined): BodyKind {
  if (status === 202 || status === 204 || status === 205 || length === 0) return 'none';
  // MCP uses only JSON and event streams, and a success without a type is not an error page
  if (type === '' && status < 300) return 'json';
  const kind = KINDS[type];
  if (kind !== undefined) return kind;
  return type.startsWith('application/') && type.endsWith('+json') ? 'json' : 'bytes';
}

/** An answer that came in one packet has a length, whether or not it was announced. */
function lengthOf({ headers, whole }: Answer): number | undefined {
  const announced = headers['content-length'];
  return announced === undefined ? whole?.length : Number(announced);
}

/** An answer that came whole. Its body is made a stream only if it is asked for. */
class WholeAnswer implements UpstreamAnswer {
  readonly status: number;
  readonly headers: UpstreamAnswer['headers'];
  readonly kind: BodyKind;
  readonly contentLength: number;
  readonly whole: Buffer;
  readonly connection: Answer;

  constructor(answer: Answer, whole: Buffer, kind: BodyKind) {
    this.status = answer.statusCode;
    this.headers = answer.headers;
    this.kind = kind;
    this.contentLength = whole.length;
    this.whole = whole;
    this.connection = answer;
  }

  get body(): Readable {
    return this.connection.body;
  }
}

class StreamableHttp implements ExchangeUpstream {
  readonly channel = 'exchange';
  readonly transport = 'streamable-http';
  readonly #name: string;
  readonly #url: URL;
  readonly #configuredPath: string;
  /** Path of the endpoint: as configured, or redirected for good. */
  #path: string;
  readonly #bounds: Omit<Parameters<typeof decodeBody>[2], 'principal'>;
  readonly #client: HttpClient;
  /** The operator's headers, names and values alternating, and the names that requests must not set themselves. */
  readonly #headers: string[];
  readonly #fixed: ReadonlySet<string>;

  constructor(options: HttpSettings, deps: StreamableHttpDeps) {
    this.#name = deps.name;
    this.#url = new URL(options.url);
    this.#configuredPath = this.#url.pathname + this.#url.search;
    this.#path = this.#configuredPath;
    this.#bounds = { server: deps.name, ratio: deps.limits.codingRatio, windows: deps.windows };
    this.#headers = ['Accept-Encoding', 'identity', ...Object.entries(options.headers).flat()];
    this.#fixed = new Set(Object.keys(options.headers).map((name) => name.toLowerCase()));
    this.#client = new HttpClient({
      name: deps.name,
      origin: this.#url,
      connections: deps.limits.connections,
      sharing: deps.sharing,
      timeouts: deps.timeouts,
    });
  }

  async open(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer> {
    const headers = this.#headers.slice();
    for (const name in request.headers) {
      const value = request.headers[name];
      if (value !== undefined && !isOwnHeader(name) && !this.#fixed.has(name)) headers.push(name, value);
    }
    const { method, body, principal } = request;
    const asked = request.path ?? this.#path;
    const call: HttpCall = { method, path: asked, headers, principal, isStream: method === 'GET' };
    if (body !== undefined) call.body = body;
    if (request.redirects === 'answer') {
      const answer = await this.#client.send(call, signal);
      if (!isRedirection(answer)) return this.#read(answer, request);
      drain(answer);
      return { status: answer.statusCode, headers: answer.headers, kind: 'none', body: Readable.from([]) };
    }
    const first = await this.#client.send(call, signal);
    if (!isRedirection(first)) {
      if (isGone(first) && asked === this.#path) this.#path = this.#configuredPath;
      return this.#read(first, request);
    }
    const { origin } = this.#url;
    const { answer, path, isLasting } = await follow(first, { client: this.#client, origin, call, signal });
    if (isRedirection(answer)) throw redirected(this.#name, answer, { origin, path });
    // a GET may lead to a page for people
    if (isLasting && method === 'POST' && request.path === undefined) this.#path = path;
    return this.#read(answer, request);
  }

  check(): Promise<void> {
    return reach(this.#name, this.#url);
  }

  async close(): Promise<void> {
    this.#client.close();
  }

  #read(answer: Answer, { refusals, principal }: UpstreamRequest): UpstreamAnswer {
    const status = answer.statusCode;
    const isCallers = refusals === 'answer' && status !== OF_PROXY;
    const refused = isCallers ? undefined : refusedCredentials(this.#name, status, [...this.#fixed]);
    if (refused) {
      drain(answer);
      throw refused;
    }
    const { headers } = answer;
    const coding = codingOf(answer);
    const length = coding === undefined ? lengthOf(answer) : undefined;
    const kind = kindOf(status, mediaType(headers['content-type'] as string | undefined), length);
    if (kind === 'none') {
      drain(answer);
      return { status, headers, kind, body: Readable.from([]) };
    }
    if (coding !== undefined) {
      const body = decodeBody(answer, coding, { ...this.#bounds, principal });
      return { status, headers, kind, body, connection: answer };
    }
    if (answer.whole) return new WholeAnswer(answer, answer.whole, kind);
    const { body } = answer;
    return length === undefined
      ? { status, headers, kind, body, connection: answer }
      : { status, headers, kind, body, contentLength: length, connection: answer };
  }
}

/**
 * An MCP server behind Streamable HTTP (protocol 2025-03-26 and later).
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
 */
export function create(options: HttpSettings, deps: StreamableHttpDeps): ExchangeUpstream {
  return new StreamableHttp(options, deps);
}
