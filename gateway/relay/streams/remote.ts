import type { Readable } from 'node:stream';
import { GatewayError } from '../../errors.js';
import { nameIn } from '../../files/names/content-disposition.js';
import { isObject } from '../../json/value.js';
import { single } from '../../mcp/headers.js';
import type { Inquire } from '../../mcp/inquire.js';
import type { JsonObject, JsonValue } from '../../ports/json.js';
import type { ResourceStreaming } from '../../ports/resource-streaming.js';
import type { UpstreamAnswer } from '../../ports/upstream.js';
import { parseJson } from '../../wire/json/parse.js';
import type { ResultDeps } from '../results/deps.js';
import { deadline } from '../upstream/deadline.js';
import { OwnAnswerReader } from '../upstream/own-answer-reader.js';
import type { OpenedAnswer, OwnHttpRequest } from '../upstream/own-request.js';
import { paced, prefixOf } from '../upstream/paced.js';
import { ownCredentials, rulesFor } from '../upstream/transfer-rules.js';
import type { StreamItem } from './item.js';
import { refusalOf } from './refusal.js';

/** The Accept header for a streaming server, which chooses the form of its answer. */
const ACCEPT = 'application/json, text/event-stream, */*';
/** Most redirects on the server's own origin; a foreign address may redirect as `rulesFor` allows. */
const MAX_HOPS = 5;
/** How far a JSON body is read to distinguish an envelope from a resource that is JSON itself. */
const MAX_ENVELOPE = 1024 * 1024;
/** Errors after which a retry may help. */
const RETRIABLE = new Set(['upstream_closed', 'fetch_failed', 'idle_timeout', 'fetch_timeout', 'upstream_refused']);

/** A server that streams, in the session of the current exchange. */
export interface StreamingServer {
  /** Absent on a channel that carries only JSON. */
  open: ((request: OwnHttpRequest) => Promise<OpenedAnswer>) | undefined;
  inquire: Inquire;
}

export interface RemoteContext {
  streaming: ResourceStreaming;
  server: StreamingServer;
  deps: ResultDeps;
  /** The caller. */
  principal: string;
  signal: AbortSignal;
  /** The request's own declarations, for a server without sessions. */
  meta: { _meta: JsonObject } | undefined;
}

/**
 * Requests a resource's bytes from the server, in any form that it offers.
 * @returns an item that can be read once
 * @throws GatewayError `stream_refused` and the errors of both kinds of transfer; ServerError
 */
export async function openRemote(uri: string, context: RemoteContext): Promise<StreamItem> {
  const { server, streaming, deps, meta } = context;
  const params = { uri, ...meta };
  if (!server.open) {
    const answer = await server.inquire(streaming.method, params);
    if (!answer) throw new GatewayError('upstream_closed', { server: deps.server });
    return fromMessage(answer as JsonObject, uri, context);
  }
  const request: OwnHttpRequest = { method: streaming.method, params, accept: ACCEPT, redirects: 'answer' };
  for (let hop = 0; ; hop++) {
    const { id, answer } = await server.open(request);
    const target = redirectOf(answer, deps.upstreamUrl);
    if (!target) return readAnswer(uri, id, answer, context);
    if (hop === MAX_HOPS)
      throw new GatewayError('upstream_invalid', { reason: `it redirects more than ${MAX_HOPS} times` });
    const repeats = (answer.status === 307 || answer.status === 308) && target.origin === deps.upstreamOrigin;
    if (!repeats) return download(target.href, context, {});
    request.path = target.pathname + target.search;
  }
}

/** Retries once when the failure may not recur. The first attempt must leave nothing behind. */
export async function twice<Value>(run: () => Promise<Value>): Promise<Value> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof GatewayError) || !RETRIABLE.has(error.code)) throw error;
    return run();
  }
}

function redirectOf({ status, headers }: UpstreamAnswer, base: string | undefined): URL | undefined {
  const location = single(headers.location);
  if (status < 300 || status > 399 || base === undefined) return undefined;
  if (location === undefined || !URL.canParse(location, base)) {
    throw new GatewayError('upstream_invalid', { reason: `it answered with HTTP ${status} and no address` });
  }
  return new URL(location, base);
}

async function readAnswer(
  uri: string,
  id: string,
  answer: UpstreamAnswer,
  context: RemoteContext,
): Promise<StreamItem> {
  const { deps, signal } = context;
  const { status, headers, kind, body, contentLength } = answer;
  const type = single(headers['content-type']);
  const isJson = kind === 'json' && /^application\/json\s*(?:;|$)/i.test(type ?? '');
  if (kind === 'sse' || isJson) {
    // a resource may be JSON itself; its address is then in the head
    const mayBeContent = isJson && status === 200 && headers['mcp-resource-uri'] !== undefined;
    const read = isJson
      ? await envelopeIn(paced(body, { server: deps.server, pace: deps.pace, signal }), id, mayBeContent)
      : await messageIn(body, id, context);
    if (read.message) return fromMessage(read.message, uri, context);
    if (!mayBeContent) {
      body.destroy();
      throw refused(deps, status);
    }
    return { ...about(type, headers), ...sized(contentLength), read: () => read.bytes, discard: () => body.destroy() };
  }
  if (status !== 200) {
    body.destroy();
    throw refused(deps, status);
  }
  const read = () => paced(body, { server: deps.server, pace: deps.pace, signal });
  return {
    ...about(type, headers),
    ...sized(kind === 'none' ? 0 : contentLength),
    read,
    discard: () => body.destroy(),
  };
}

function refused(deps: ResultDeps, status: number): GatewayError {
  return new GatewayError('upstream_refused', { server: deps.server, status });
}

/** The answer in an event stream, which may go on for ever without one. */
async function messageIn(body: Readable, id: string, { deps, principal, signal }: RemoteContext): Promise<Envelope> {
  const { server, limits, timeouts, cut } = deps;
  const facts = { server, limit: 'timeouts.upstream', allowed: timeouts.upstream };
  const end = deadline(signal, timeouts.upstream, () => new GatewayError('upstream_timeout', facts));
  const reader = new OwnAnswerReader('sse', { id, limits, held: cut.held, owner: { principal, server } });
  const bytes = paced(body, { server, pace: deps.pace, signal: end.signal });
  try {
    for await (const chunk of bytes) {
      const reading = reader.feed(chunk);
      if (reading) await reading;
      if (reader.answer) break;
    }
    if (!reader.answer) throw new GatewayError('upstream_closed', { server });
    if (reader.answer.values > limits.values) {
      throw new GatewayError('upstream_invalid', {
        reason: `it has more than limits.values = ${limits.values} values`,
      });
    }
    return { message: parseJson(reader.answer.skeleton().toString('utf8')) as JsonObject, bytes };
  } finally {
    end.clear();
    reader.release();
  }
}

interface Envelope {
  message: JsonObject | undefined;
  /** The whole body, if it is not an envelope. */
  bytes: AsyncIterable<Buffer>;
}

/** A JSON-RPC answer to this request or, if that is possible, a resource that is JSON itself. */
async function envelopeIn(bytes: AsyncGenerator<Buffer>, id: string, mayBeContent: boolean): Promise<Envelope> {
  const prefix = await prefixOf(bytes, MAX_ENVELOPE);
  const value = prefix.complete ? parsed(prefix.bytes) : undefined;
  const isEnvelope = isObject(value) && value.jsonrpc === '2.0' && (JSON.stringify(value.id) === id || !mayBeContent);
  return { message: isEnvelope ? value : undefined, bytes: prefix.all };
}

function parsed(bytes: Buffer): JsonValue | undefined {
  try {
    return parseJson(bytes.toString('utf8')) as JsonValue;
  } catch {
    return undefined;
  }
}

function fromMessage(message: JsonObject, uri: string, context: RemoteContext): Promise<StreamItem> {
  if (message.error !== undefined) throw refusalOf(message.error, uri, context.streaming);
  if (!isObject(message.result)) throw new GatewayError('upstream_invalid', { reason: 'it answered with neither' });
  return fetchLinked(message.result, context);
}

async function fetchLinked(result: JsonObject, context: RemoteContext): Promise<StreamItem> {
  const link = context.streaming.readLink(result);
  if (!link) throw new GatewayError('upstream_invalid', { reason: 'it gave neither the bytes nor their address' });
  return download(link.url, context, link);
}

/** Downloads bytes from an address that the server named. The operator's credentials go only to its own origin. */
async function download(
  url: string,
  { deps, signal }: RemoteContext,
  link: { mimeType?: string; size?: number },
): Promise<StreamItem> {
  const { body, headers, contentLength } = await deps.transfer.download(
    { url, headers: credentialsFor(url, deps), rules: rulesFor(deps) },
    signal,
  );
  if (link.size !== undefined && contentLength !== undefined && link.size !== contentLength) {
    body.destroy();
    const reason = `it announced ${link.size} bytes and its address has ${contentLength}`;
    throw new GatewayError('upstream_invalid', { reason });
  }
  const size = contentLength ?? link.size;
  return {
    ...about(link.mimeType ?? single(headers['content-type']), headers),
    ...sized(size),
    read: () => chunks(body),
    discard: () => body.destroy(),
  };
}

/** An address with its own credential needs no other, and a foreign one must not see it. */
function credentialsFor(url: string, deps: ResultDeps): Record<string, string> {
  if (!URL.canParse(url)) return {};
  const isSigned = [...new URL(url).searchParams.keys()].some((key) => /sig(?:nature)?$/i.test(key));
  return isSigned ? {} : ownCredentials(url, deps);
}

function about(type: string | undefined, headers: UpstreamAnswer['headers']): Pick<StreamItem, 'mimeType' | 'name'> {
  const name = nameIn(single(headers['content-disposition']));
  return { ...(type !== undefined && { mimeType: type }), ...(name !== undefined && { name }) };
}

function sized(size: number | undefined): { size?: number } {
  return size === undefined ? {} : { size };
}

async function* chunks(body: Readable): AsyncGenerator<Buffer> {
  for await (const chunk of body) yield chunk as Buffer;
}
