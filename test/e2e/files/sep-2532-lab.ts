import {
  type FakeUpstream,
  type RecordedRequest,
  type ScriptedAnswer,
  startFakeUpstream,
} from '../../helpers/fake-upstream.js';
import { RawClient } from '../../helpers/raw-client.js';
import { type Stores, startWharf, type Wharf } from '../../helpers/wharf.js';

export type Json = Record<string, unknown>;

export const F1 = Buffer.from('Hello world!');
export const F4 = Buffer.from([0, 1, 2, 253, 254, 255]);
export const F6 = Buffer.from('{"a":1}');
/** Too long to be held: its bytes are passed on while they arrive. */
export const BIG = Buffer.alloc(2_000_000, Buffer.from('\0a big resource of many bytes.'));

export const ANY = { accept: 'application/json, text/event-stream, */*' };
export const JSON_ONLY = { accept: 'application/json, text/event-stream' };

/** What stands under a resource's URI: `contents`, an error, or bytes written exactly as told. */
export type Resource = { contents: Json[] } | { error: Json } | ((message: Json) => ScriptedAnswer);

export function blob(uri: string, bytes: Buffer, mimeType?: string): Resource {
  return { contents: [{ uri, ...(mimeType && { mimeType }), blob: bytes.toString('base64') }] };
}

export interface LabOptions {
  resources?: Record<string, Resource>;
  /** By method: results, or whole answers. */
  methods?: Record<string, (message: Json, request: RecordedRequest) => Json | ScriptedAnswer>;
  /** Of the server. */
  capabilities?: Json;
  config?: Record<string, unknown>;
  server?: Record<string, unknown>;
  stores?: Stores;
  /** Answers what is no POST to the MCP endpoint. */
  http?: (request: RecordedRequest) => ScriptedAnswer | undefined;
}

export interface Lab {
  upstream: FakeUpstream;
  wharf: Wharf;
  /** A client that has declared that it takes streams. */
  client(version?: string, resourceStreaming?: unknown): Promise<RawClient>;
  /** One that declares nothing. */
  plain(version?: string): Promise<RawClient>;
  /** Messages that the server got with a method. */
  asked(method: string): Json[];
  close(): Promise<void>;
}

export const STATELESS = '2026-07-28';

/** Wharf in front of a server whose every byte is scripted. */
export async function startLab({
  resources = {},
  methods = {},
  capabilities = { resources: {}, tools: {} },
  config = {},
  server = {},
  stores,
  http,
}: LabOptions): Promise<Lab> {
  const upstream = await startFakeUpstream();
  upstream.respond = (request) => {
    if (request.method !== 'POST' || !request.url.endsWith('/mcp')) return http?.(request);
    const message = JSON.parse(request.body.toString()) as Json;
    if (message.id === undefined) return { status: 202 };
    const own = methods[String(message.method)];
    if (own) return asAnswer(message, own(message, request));
    const about = { capabilities, serverInfo: { name: 'scripted', version: '1' } };
    switch (message.method) {
      case 'initialize':
        return rpc(message, { result: { protocolVersion: (message.params as Json).protocolVersion, ...about } });
      case 'server/discover':
        return rpc(message, { result: { resultType: 'complete', supportedVersions: [STATELESS], ...about } });
      case 'resources/read': {
        const found = resources[String((message.params as Json).uri)];
        if (typeof found === 'function') return found(message);
        if (found && 'contents' in found) return rpc(message, { result: { ...found } });
        return rpc(message, found ?? { error: { code: -32002, message: 'Resource not found' } });
      }
      default:
        return rpc(message, { error: { code: -32601, message: 'Method not found' } });
    }
  };
  const wharf = await startWharf({
    servers: { scripted: { url: upstream.url, transport: 'streamable-http', ...server } },
    config,
    ...(stores && { stores }),
  });
  const connect = (version: string, declared: Json) =>
    version === STATELESS
      ? Promise.resolve(RawClient.stateless(wharf.mcp, version, { capabilities: declared }))
      : RawClient.connect(wharf.mcp, version, { capabilities: declared });
  return {
    upstream,
    wharf,
    client: (version = '2025-11-25', resourceStreaming = {}) => connect(version, { resourceStreaming }),
    plain: (version = '2025-11-25') => connect(version, {}),
    asked: (method) =>
      upstream.requests
        .filter((request) => request.body.length > 0)
        .map((request) => JSON.parse(request.body.toString()) as Json)
        .filter((message) => message.method === method),
    close: async () => {
      await wharf.stop();
      await upstream.close();
    },
  };
}

/** A JSON answer, in the official SDK's order: the outcome before the id. */
export function rpc(message: Json, outcome: Json): ScriptedAnswer {
  const body = JSON.stringify({ ...outcome, jsonrpc: '2.0', id: message.id });
  return { contentType: 'application/json', body };
}

/** The same as an event stream. */
export function event(message: Json, outcome: Json): ScriptedAnswer {
  const body = JSON.stringify({ ...outcome, jsonrpc: '2.0', id: message.id });
  return { contentType: 'text/event-stream', framing: 'chunked', body: `event: message\ndata: ${body}\n\n` };
}

export function stream(client: RawClient, uri: string, headers: Record<string, string> = ANY): Promise<Response> {
  return client.open('resources/stream', { uri }, headers);
}

export async function bytesOf(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer());
}

export async function errorOf(response: Response): Promise<{ code: number; data?: Json; message: string }> {
  const answer = (await response.json()) as { error?: { code: number; data?: Json; message: string } };
  if (!answer.error) throw new Error(`no error: ${JSON.stringify(answer).slice(0, 300)}`);
  return answer.error;
}

export async function resultOf(response: Response): Promise<Json> {
  const answer = (await response.json()) as { result?: Json };
  if (!answer.result) throw new Error(`no result: ${JSON.stringify(answer).slice(0, 300)}`);
  return answer.result;
}

function asAnswer(message: Json, made: Json | ScriptedAnswer): ScriptedAnswer {
  const isScript = ['body', 'contentType', 'status', 'headers', 'raw', 'reset', 'cut'].some((key) => key in made);
  return isScript ? (made as ScriptedAnswer) : rpc(message, 'error' in made ? made : { result: made });
}
