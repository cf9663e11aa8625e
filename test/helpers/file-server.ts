import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { sha256Url } from './bytes.js';
import { type Handler, RecordingUpstream, RpcError } from './recording-upstream.js';

type Json = Record<string, unknown>;

export interface FileServerOptions {
  tools?: Json[];
  /** Instead of, or beside, the methods of the current revision; undefined removes one. */
  methods?: Record<string, Handler | undefined>;
  /** Members of each upload descriptor, beside its URL. */
  descriptor?: Json;
  /** Scheme and authority of its files. */
  authority?: string;
  /** How the address of an upload answers, if it does not store. */
  refuse?: { status: number; body?: Json };
}

/** What came to an address of the server's. */
interface Received {
  method: string | undefined;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

/**
 * An MCP server that speaks the current revision of SEP-2631: it keeps what is uploaded to it, and what it is told to
 * give away, and records every byte.
 */
export class FileServer {
  readonly files = new Map<string, Buffer>();
  readonly uploads: Received[] = [];
  readonly downloads: Received[] = [];
  readonly options: FileServerOptions;
  upstream!: RecordingUpstream;

  private constructor(options: FileServerOptions) {
    this.options = options;
  }

  static async start(options: FileServerOptions = {}): Promise<FileServer> {
    const server = new FileServer(options);
    const methods: Record<string, Handler | undefined> = {
      'files/authorizeUpload': (params) => server.authorizeUpload(params),
      'files/authorizeDownload': (params) => server.authorizeDownload(params),
      ...options.methods,
    };
    server.upstream = await RecordingUpstream.start({
      ...(options.tools && { tools: options.tools }),
      methods: Object.fromEntries(Object.entries(methods).filter((entry): entry is [string, Handler] => !!entry[1])),
      http: (request, body) => server.#http(request, body),
    });
    return server;
  }

  /** Gives bytes a URI of the server's, and the FileValue for it. */
  keep(bytes: Buffer, about: Json = {}): Json & { uri: string } {
    const uri = this.#newUri();
    this.files.set(uri, bytes);
    return { uri, size: bytes.length, digest: this.digestOf(bytes), ...about };
  }

  digestOf(bytes: Buffer): Json {
    return { algorithm: 'sha-256', value: sha256Url(bytes) };
  }

  authorizeUpload({ name, mimeType, size, digest }: Json): Json {
    const uri = this.#newUri();
    return { file: { uri, name, mimeType, size, digest }, upload: this.uploadDescriptor(uri) };
  }

  uploadDescriptor(uri: string): Json {
    return { transport: 'http', method: 'PUT', url: this.#address('put', uri), ...this.options.descriptor };
  }

  authorizeDownload({ uri }: Json): Json {
    const bytes = this.files.get(String(uri));
    if (!bytes) throw new RpcError(-32602, 'No such file', { reason: 'fileNotFound' });
    return { file: { uri, size: bytes.length, digest: this.digestOf(bytes) }, download: this.downloadDescriptor(uri) };
  }

  downloadDescriptor(uri: unknown): Json {
    return {
      transport: 'http',
      method: 'GET',
      url: this.#address('get', String(uri)),
      headers: { 'x-credential': 'c' },
    };
  }

  /** The file that a form brought, and its other parts. */
  static formOf({ headers, body }: Received): { names: string[]; file: Buffer } {
    const boundary = /boundary=(.*)$/.exec(String(headers['content-type']))?.[1] ?? '';
    const parts = body.toString('latin1').split(`--${boundary}`).slice(1, -1);
    const last = parts.at(-1) ?? '';
    const names = parts.map((part) => /name="([^"]*)"/.exec(part)?.[1] ?? '');
    return { names, file: Buffer.from(last.slice(last.indexOf('\r\n\r\n') + 4, -2), 'latin1') };
  }

  stop(): Promise<void> {
    return this.upstream.stop();
  }

  #newUri(): string {
    return `${this.options.authority ?? 'mcp-file://server'}/${randomUUID()}`;
  }

  #address(what: 'put' | 'get', uri: string): string {
    return `${this.upstream.origin}/${what}?uri=${encodeURIComponent(uri)}`;
  }

  #http(request: IncomingMessage, body: Buffer) {
    const url = new URL(request.url ?? '', this.upstream.origin);
    const uri = url.searchParams.get('uri') ?? '';
    const received = { method: request.method, headers: request.headers, body };
    if (url.pathname === '/get') {
      this.downloads.push(received);
      const bytes = this.files.get(uri);
      return bytes && { status: 200, headers: { 'content-length': String(bytes.length) }, body: bytes };
    }
    if (url.pathname !== '/put') return undefined;
    this.uploads.push(received);
    const { refuse } = this.options;
    if (refuse) return { status: refuse.status, body: Buffer.from(JSON.stringify(refuse.body ?? {})) };
    const isForm = String(request.headers['content-type']).startsWith('multipart/');
    this.files.set(uri, isForm ? FileServer.formOf(received).file : body);
    return { status: 201 };
  }
}
