import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../errors.js';
import {
  type ClientMessages,
  isObject,
  META_CAPABILITIES,
  META_VERSION,
  metaOf,
  type PendingRequest,
  STATELESS_SINCE,
  STATELESS_VERSIONS,
} from './request.js';

/** Request headers that reach an upstream as they came. Credentials, cookies and forwarded headers never do. */
const PASSED_TO_UPSTREAM = ['accept', 'last-event-id', 'traceparent', 'tracestate', 'baggage'] as const;

/** Response headers that reach the client. No cookie, no CORS, no hop-by-hop header of an upstream's does. */
const PASSED_TO_CLIENT = [
  'content-type',
  'cache-control',
  'retry-after',
  'allow',
  'www-authenticate',
  'x-accel-buffering',
] as const;

const PARAM_PREFIX = 'mcp-param-';

/** Methods whose name or URI the client must repeat in `Mcp-Name`. */
const NAMED_METHODS = new Set(['tools/call', 'prompts/get', 'resources/read']);

/**
 * 2026-07-28, SEP-2243: a server that processes the body MUST refuse a request whose headers do not agree with it
 * (400, -32020): otherwise a policy that reads headers could be passed by with another body.
 * @throws GatewayError `header_mismatch`, `meta_missing`
 */
export function checkStatelessHeaders(headers: IncomingHttpHeaders, messages: ClientMessages): void {
  const version = headers['mcp-protocol-version'];
  const request = messages.requests[0];
  if (messages.statelessVersion === undefined) {
    const claimsStateless = typeof version === 'string' && version >= STATELESS_SINCE;
    if (claimsStateless && request && request.method !== 'initialize') {
      throw new GatewayError('meta_missing', { key: META_VERSION });
    }
    return;
  }
  if (typeof version !== 'string') throw mismatch('MCP-Protocol-Version', 'it is missing');
  if (version.trim() !== messages.statelessVersion)
    throw mismatch('MCP-Protocol-Version', 'the body names another version');
  if (request) checkMethodAndName(headers, request);
}

function checkMethodAndName(headers: IncomingHttpHeaders, request: PendingRequest): void {
  const method = single(headers['mcp-method']);
  if (method === undefined) throw mismatch('Mcp-Method', 'it is missing');
  if (method !== request.method) throw mismatch('Mcp-Method', 'the body names another method');
  const name = single(headers['mcp-name']);
  if (name === undefined) {
    if (NAMED_METHODS.has(request.method) && request.subject !== undefined) throw mismatch('Mcp-Name', 'it is missing');
  } else if (request.subject !== undefined && decodeHeaderValue(name) !== request.subject) {
    throw mismatch('Mcp-Name', 'the body names another one');
  }
}

/**
 * What a 2026-07-28 server over HTTP refuses itself, and Wharf must for one that has no HTTP: a version it does not
 * know, and a request that does not say what its client can do.
 * @throws GatewayError `version_unsupported`, `meta_missing`
 */
export function checkStatelessRequest(messages: ClientMessages): void {
  const requested = messages.statelessVersion;
  if (requested !== undefined && !STATELESS_VERSIONS.includes(requested)) {
    throw new GatewayError('version_unsupported', { requested, supported: STATELESS_VERSIONS });
  }
  for (const { params } of messages.requests) {
    if (!isObject(metaOf(params)[META_CAPABILITIES]))
      throw new GatewayError('meta_missing', { key: META_CAPABILITIES });
  }
}

/** The headers of a request to an upstream. The MCP ones are made again from the body, so that they agree with it. */
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
  if (messages?.statelessVersion !== undefined) addStateless(headers, client, messages);
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

export function toClientHeaders(
  upstream: Record<string, string | string[] | undefined>,
): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (const name of PASSED_TO_CLIENT) {
    const value = upstream[name];
    if (value !== undefined) headers[name] = value;
  }
  return headers;
}

/** `=?base64?…?=` holds what a header cannot: non-ASCII, control characters, blanks at the ends. */
const ENCODED = /^=\?base64\?(.*)\?=$/;

/** @returns undefined where the sentinel does not hold padded base64: two readers could see two values in it */
export function decodeHeaderValue(value: string): string | undefined {
  const encoded = ENCODED.exec(value)?.[1];
  if (encoded === undefined) return value;
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.toString('base64') === encoded ? bytes.toString('utf8') : undefined;
}

export function encodeHeaderValue(value: string): string {
  const plain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !ENCODED.test(value);
  return plain ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`;
}

export function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}

function mismatch(header: string, reason: string): GatewayError {
  return new GatewayError('header_mismatch', { header, reason });
}
