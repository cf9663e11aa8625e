import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import { create, settings } from '../../../adapters/transfer/https.js';
import { GatewayError } from '../../../gateway/errors.js';
import type { Transfer, TransferRules } from '../../../gateway/ports/transfer.js';

/** The name in the certificate. Tests resolve it to loopback, as the own host of an upstream inside may be. */
const HOST = 'files.example';

interface Seen {
  method: string;
  url: string;
  /** Names and values in turn, as they came. */
  rawHeaders: string[];
  headers: IncomingMessage['headers'];
  body: Buffer;
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A server that does what each test says, over TLS and without, and remembers what it was asked. */
export interface Peer {
  ca: string;
  /** Of the https server, on `HOST`, and of the plain one, on 127.0.0.1. */
  https: string;
  http: string;
  seen: Seen[];
  connections: () => number;
  /** What the next requests are answered by; the body has been read unless `early`. */
  answer(handler: Handler, options?: { early?: boolean }): void;
  close(): Promise<void>;
}

export async function startPeer(): Promise<Peer> {
  const folder = mkdtempSync(join(tmpdir(), 'wharf-transfer-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST}`];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const files = ['-keyout', key, '-out', cert, '-days', '1'];
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, ...files], { stdio: 'ignore' });
  const tls = { key: readFileSync(key), cert: readFileSync(cert) };
  rmSync(folder, { recursive: true });

  let current: { handler: Handler; early: boolean } = { handler: (_, response) => response.end(), early: false };
  let connections = 0;
  const seen: Seen[] = [];
  const listener = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { handler, early } = current;
    const { method = '', url = '', rawHeaders, headers } = request;
    const entry: Seen = { method, url, rawHeaders, headers, body: Buffer.alloc(0) };
    seen.push(entry);
    request.on('error', () => undefined);
    if (!early) entry.body = Buffer.concat(await (request as Readable).toArray().catch(() => []));
    handler(request, response);
  };
  const servers: Server[] = [createHttpsServer(tls, listener), createHttpServer(listener)];
  for (const server of servers) {
    server.on('connection', () => {
      connections += 1;
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  const [secure, plain] = servers.map((server) => (server.address() as AddressInfo).port);
  return {
    ca: tls.cert.toString(),
    https: `https://${HOST}:${secure}`,
    http: `http://127.0.0.1:${plain}`,
    seen,
    connections: () => connections,
    answer: (handler, { early = false } = {}) => {
      current = { handler, early };
      seen.length = 0;
      connections = 0;
    },
    close: async () => {
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
        await once(server, 'close');
      }
    },
  };
}

/** A transfer that trusts the peer and finds every name at 127.0.0.1. */
export function transferTo(peer: Peer, overrides: z.input<typeof settings> = {}): Transfer {
  return create(settings.parse({ ca: peer.ca, resolve: async () => ['127.0.0.1'], ...overrides }));
}

export function rules(peer: Peer, overrides: Partial<TransferRules> = {}): TransferRules {
  const timeouts = { connect: 5000, idle: 5000, total: 20_000 };
  return { ownOrigin: peer.https, maxBytes: 1024 * 1024, timeouts, redirects: 3, ...overrides };
}

/** A signal that never aborts. */
export const calm = (): AbortSignal => new AbortController().signal;

/** What a promise rejected with, as the GatewayError it has to be. */
export async function failureOf(promise: Promise<unknown>): Promise<GatewayError> {
  const outcome = await promise.then(
    () => new Error('did not reject'),
    (error: unknown) => error,
  );
  if (outcome instanceof GatewayError) return outcome;
  throw new Error('rejected with something else than a GatewayError', { cause: outcome });
}

/** A whole download. */
export async function bytesOf(transfer: Transfer, url: string, limits: TransferRules): Promise<Buffer> {
  const { body } = await transfer.download({ url, rules: limits }, calm());
  return Buffer.concat(await body.toArray());
}

/** A file in memory, in pieces. */
export function fileOf(content: Buffer | string, name = 'file.txt', mimeType = 'text/plain', piece = 1000) {
  const bytes = Buffer.from(content);
  return {
    name,
    mimeType,
    size: bytes.length,
    async *read(): AsyncGenerator<Buffer> {
      for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece);
    },
  };
}

/** A TCP server that says exactly these bytes on each connection, and then ends, or stays silent. */
export async function says(
  text: string | Buffer,
  how: 'end' | 'reset' | 'silent' = 'end',
): Promise<{ url: string; close(): void }> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      if (text.length > 0) socket.write(text);
      if (how === 'end') socket.end();
      if (how === 'reset') setTimeout(() => socket.resetAndDestroy(), 50);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/file?sig=s3cret`;
  return { url, close: () => server.close() };
}
