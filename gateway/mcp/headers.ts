import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../errors.js';
import { isObject } from '../json/value.js';
import type { UpstreamAnswer } from '../ports/upstream.js';
import { namesStateless, STATELESS_VERSIONS, VERSIONS_WITH_SESSIONS } from './era.js';
import { META_CAPABILITIES, META_VERSION } from './meta-keys.js';
import { invalid } from './read-message.js';
import { type ClientMessages, type ClientRequest, metaOf } from './request.js';

/**
 * Request headers that are forwarded to an upstream unchanged. Credentials, cookies and forwarded headers never are.
 */
const PASSED_TO_UPSTREAM = ['accept', 'last-event-id', 'traceparent', 'tracestate', 'baggage'] as const;

/**
 * Response headers that are forwarded to the client unchanged. Cookies, CORS, challenges and hop-by-hop headers never
 * are. Neither is Cache-Control: `public` on one caller's answer would let a shared cache give it to another.
 */
const PASSED_TO_CLIENT = ['retry-after', 'allow', 'x-accel-buffering'] as const;

/** The allowed parts of an upstream's Content-Type: a browser reads "application/json;x=,text/html" as HTML. */
const MESSAGE_TYPE =
  /^(?:application\/(?:json|x-ndjson|jsonl|[a-z0-9][a-z0-9.-]*\+json)|text\/event-stream)(?: *; *charset="?utf-8"?)?$/i;

const TYPE_OF_KIND = { json: 'application/json', lines: 'application/x-ndjson', sse: 'text/event-stream' } as const;

const OCTET_STREAM = 'application/octet-stream';

/** What a header can hold, which has no encoding for a method. */
const IN_HEADERS = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Characters of a version that its refusal repeats. */
const MAX_SHOWN_VERSION = 64;

const PARAM_PREFIX = 'mcp-param-';

/** Methods whose name or URI the client must repeat in `Mcp-Name`. */
const NAMED_METHODS = new Set(['tools/call', 'prompts/get', 'resources/read']);

/**
 * SEP-2243: a server that processes the body MUST refuse a request whose headers do not match it (400, -32020);
 * otherwise another body could pass a policy that reads headers. It MUST also refuse an unknown version (-32022), and
 * name those it knows.
 * @throws GatewayError `version_unsupported`, `header_mismatch`, `meta_missing`
 */
export function checkStatelessHeaders(headers: IncomingHttpHeaders, messages: ClientMessages): void {
  const version = headers['mcp-protocol-version'];
  const request = messages.requests[0];
  if (messages.era.hasSessions) {
    if (namesStateless(version) && request && request.method !== 'initialize') {
      refuseUnknown(version.trim());
      if (typeof metaOf(request.params)[META_VERSION] === 'string')
        throw mismatch('MCP-Protocol-Version', 'the body names another version');
      throw new GatewayError('meta_missing', { key: META_VERSION });
    }
    return;
  }
  if (typeof version !== 'string') throw mismatch('MCP-Protocol-Version', 'it is missing');
  if (version.trim() !== messages.statelessVersion)
    throw mismatch('MCP-Protocol-Version', 'the body names another version');
  refuseUnknown(version.trim());
  if (request) checkMethodAndName(headers, request);
  else if ((single(headers['mcp-method']) ?? messages.firstMethod) !== messages.firstMethod) throw otherMethod();
}

/**
 * A request in a session with an "invalid or unsupported" version MUST be refused (400). A server behind HTTP does it itself.
 * @param agreed the version of the session, which may be one that only client and server know
 * @throws GatewayError `version_unsupported`
 */
export function checkSessionVersion(headers: IncomingHttpHeaders, agreed: string): void {
  const version = headers['mcp-protocol-version'];
  if (version === undefined || version === agreed) return;
  refuseUnknown(String(version), VERSIONS_WITH_SESSIONS);
}

function refuseUnknown(version: string, supported = STATELESS_VERSIONS): void {
  if (supported.includes(version)) return;
  throw new GatewayError('version_unsupported', { requested: version.slice(0, MAX_SHOWN_VERSION), supported });
}

function checkMethodAndName(headers: IncomingHttpHeaders, request: ClientRequest): void {
  const method = single(headers['mcp-method']);
  if (method === undefined) throw mismatch('Mcp-Method', 'it is missing');
  if (method !== request.method) throw otherMethod();
  const name = single(headers['mcp-name']);
  if (name === undefined) {
    if (NAMED_METHODS.has(request.method) && request.subject !== undefined) throw mismatch('Mcp-Name', 'it is missing');
  } else if (request.subject !== undefined && decodeHeaderValue(name) !== request.subject) {
    throw mismatch('Mcp-Name', 'the body names another one');
  }
}

const otherMethod = () => mismatch('Mcp-Method', 'the body names another method');

/**
 * Refuses a request that does not declare its client's capabilities. A server without sessions refuses it itself over
 * HTTP, so Wharf must do it for one without HTTP.
 * @throws GatewayError `meta_missing`
 */
export function checkStatelessRequest(messages: ClientMessages): void {
  for (const { params } of messages.requests) {
    if (!isObject(metaOf(params)[META_CAPABILITIES]))
      throw new GatewayError('meta_missing', { key: META_CAPABILITIES });
  }
}

/** Refuses what no request over HTTP can say in its headers. @throws GatewayError `request_invalid` */
export function checkHeaderMethod({ era, firstMethod }: ClientMessages): void {
  if (era.repeatsInHeaders && !IN_HEADERS.test(firstMethod))
    throw invalid(`${era.version} repeats the method in a header, which cannot hold a character of this one`);
}

/** The headers of a request to an upstream. MCP's own are made from the body, so that they match it. */
export function toUpstreamHeaders(
  client: IncomingHttpHeaders,
  messages: ClientMessages | undefined,
  upstreamSession: string | undefined,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of PASSED_TO_UPSTREAM) {
    const value = single(client[name]);
    if (value !== undefined) headers[name] = value;
  }
  headers.accept ??= messages ? 'application/json, text/event-stream' : 'text/event-stream';
  if (messages) headers['content-type'] = 'application/json';
  if (upstreamSession !== undefined) headers['mcp-session-id'] = upstreamSession;
  const version = messages?.statelessVersion ?? single(client['mcp-protocol-version']);
  if (version !== undefined) headers['mcp-protocol-version'] = version;
  if (messages?.era.repeatsInHeaders) addStateless(headers, client, messages);
  return headers;
}

function addStateless(headers: Record<string, string>, client: IncomingHttpHeaders, messages: ClientMessages): void {
  headers['mcp-method'] = messages.firstMethod;
  const subject = messages.requests[0]?.subject;
  const wasNamed = client['mcp-name'] !== undefined || NAMED_METHODS.has(messages.firstMethod);
  if (subject !== undefined && wasNamed) headers['mcp-name'] = encodeHeaderValue(subject);
  for (const [name, value] of Object.entries(client)) {
    // unrecognised ones MUST be forwarded too
    if (name.startsWith(PARAM_PREFIX) && typeof value === 'string') headers[name] = value;
  }
}

/** The headers of an upstream's answer for the client. A body without MCP messages gets its type from `typeOfOther`. */
export function toClientHeaders({
  headers: upstream,
  kind,
}: Pick<UpstreamAnswer, 'headers' | 'kind'>): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (const name of PASSED_TO_CLIENT) {
    const value = upstream[name];
    if (value !== undefined) headers[name] = value;
  }
  if (kind === 'none') return headers;
  headers['content-type'] = kind === 'bytes' ? typeOfOther(upstream) : typeOfMessages(upstream, kind);
  // a proxy that compresses or buffers a stream would delay its messages
  if (kind === 'sse') headers['cache-control'] = 'no-store, no-transform';
  return headers;
}

function typeOfMessages(upstream: UpstreamAnswer['headers'], kind: keyof typeof TYPE_OF_KIND): string {
  const type = single(upstream['content-type']) ?? '';
  return MESSAGE_TYPE.test(type) ? type : TYPE_OF_KIND[kind];
}

/** The type of a body without messages, such as an error page: its text is readable, and nothing in it runs. */
function typeOfOther(upstream: UpstreamAnswer['headers']): string {
  return /^text\//i.test(single(upstream['content-type']) ?? 'text/') ? 'text/plain; charset=utf-8' : OCTET_STREAM;
}

/** `=?base64?…?=` encodes what a header cannot contain: non-ASCII, control characters, blanks at the ends. */
const ENCODED = /^=\?base64\?(.*)\?=$/;

/** @returns undefined when the sentinel does not contain padded base64, because two readers could decode two values */
export function decodeHeaderValue(value: string): string | undefined {
  const encoded = ENCODED.exec(value)?.[1];
  if (encoded === undefined) return value;
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.toString('base64') === encoded ? bytes.toString('utf8') : undefined;
}

/** A text as the value of a header: as it is, or in base64 where HTTP would not carry it unchanged (MCP 2026-07-28). */
export function encodeHeaderValue(value: string): string {
  const plain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !ENCODED.test(value);
  return plain ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`;
}

/** A header that came several times, as HTTP joins its values. */
export function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}

function mismatch(header: string, reason: string): GatewayError {
  return new GatewayError('header_mismatch', { header, reason });
}
