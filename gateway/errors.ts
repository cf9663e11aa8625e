/**
 * Every way Wharf can refuse or fail, as one closed list. An error is made where its facts are known; `http` and
 * `relay` only render it. `text` is public: it names the thing, the limit and the actual value, and says nothing an
 * attacker wants. What only the operator should see travels as `cause` and goes to the log.
 *
 * JSON-RPC codes: -32700…-32600 are JSON-RPC's own, -32020…-32022 are MCP 2026-07-28's. MCP reserves the rest of
 * -32768…-32000, so every other failure is -32603 and is told apart by `data.code`, the name in this table.
 */
export type ErrorFacts = Readonly<Record<string, string | number | boolean | readonly string[]>>;

interface ErrorRow {
  /** HTTP status when nothing of the answer has been sent yet. */
  readonly http: number;
  readonly jsonRpc: number;
  readonly text: (facts: ErrorFacts) => string;
}

const INTERNAL = -32603;

export const ERROR_TABLE = {
  // what the client sent
  json_malformed: { http: 400, jsonRpc: -32700, text: (f) => `The request body is not valid JSON: ${f.reason}.` },
  request_invalid: { http: 400, jsonRpc: -32600, text: (f) => `Invalid request: ${f.reason}.` },
  message_too_large: {
    http: 413,
    jsonRpc: -32600,
    text: (f) => `The message is larger than ${f.limit} = ${f.allowed} bytes (it has ${f.actual}).`,
  },
  too_deep: {
    http: 400,
    jsonRpc: -32600,
    text: (f) => `The message is nested deeper than ${f.limit} = ${f.allowed}.`,
  },
  method_not_allowed: { http: 405, jsonRpc: -32600, text: (f) => `${f.method} is not allowed here; use ${f.allow}.` },
  not_acceptable: { http: 406, jsonRpc: -32600, text: (f) => `The Accept header must list ${f.expected}.` },
  unsupported_media_type: { http: 415, jsonRpc: -32600, text: (f) => `Content-Type must be ${f.expected}.` },
  unsupported_coding: {
    http: 415,
    jsonRpc: -32600,
    text: (f) => `Content-Encoding "${f.coding}" is not accepted here.`,
  },
  header_mismatch: {
    http: 400,
    jsonRpc: -32020,
    text: (f) => `The ${f.header} header does not agree with the request body: ${f.reason}.`,
  },
  meta_missing: { http: 400, jsonRpc: -32602, text: (f) => `params._meta["${f.key}"] is required.` },
  unauthorized: {
    http: 401,
    jsonRpc: -32600,
    text: () => 'A valid API key is required: Authorization: Bearer KEY.',
  },
  version_unsupported: {
    http: 400,
    jsonRpc: -32022,
    text: (f) => `Protocol version ${f.requested} is not supported here.`,
  },
  host_forbidden: { http: 403, jsonRpc: -32600, text: () => 'This Host is not served here.' },
  origin_forbidden: { http: 403, jsonRpc: -32600, text: () => 'Requests from this Origin are not allowed.' },
  route_unknown: { http: 404, jsonRpc: -32600, text: () => 'There is nothing at this address.' },
  server_unknown: { http: 404, jsonRpc: -32600, text: (f) => `No server is called "${f.server}".` },
  session_required: { http: 400, jsonRpc: -32600, text: () => 'The Mcp-Session-Id header is required.' },
  session_unknown: { http: 404, jsonRpc: -32600, text: () => 'Session not found; initialize again.' },
  stream_taken: { http: 409, jsonRpc: -32600, text: () => 'This session already has a GET stream.' },
  // links and files
  link_unknown: { http: 404, jsonRpc: -32602, text: () => 'There is no such link.' },
  link_expired: { http: 410, jsonRpc: -32602, text: () => 'This link has expired; ask for a new one.' },
  file_gone: { http: 410, jsonRpc: -32602, text: () => 'The file behind this link has been removed.' },
  file_not_text: {
    http: 400,
    jsonRpc: -32602,
    text: (f) => `The file for ${f.path} is not UTF-8 text, which is all that this argument takes.`,
  },
  range_not_satisfiable: { http: 416, jsonRpc: -32602, text: (f) => `The file has ${f.size} bytes.` },
  // addresses that a peer named; `host` is all of an address that is ever told, since the rest may be a credential
  fetch_forbidden: {
    http: 403,
    jsonRpc: -32602,
    text: (f) => `The address for the file${f.host === undefined ? '' : ` at "${f.host}"`} is refused: ${f.reason}.`,
  },
  fetch_failed: {
    http: 502,
    jsonRpc: INTERNAL,
    text: (f) =>
      `The transfer of the file with "${f.host}" failed: ${f.status === undefined ? f.reason : `HTTP ${f.status}`}.`,
  },
  fetch_too_large: {
    http: 413,
    jsonRpc: -32602,
    text: (f) => `The file at "${f.host}" is larger than ${f.limit} = ${f.allowed} bytes (${f.actual} so far).`,
  },
  fetch_timeout: {
    http: 504,
    jsonRpc: INTERNAL,
    text: (f) => `The transfer of the file with "${f.host}" took too long: ${f.reason} (${f.limit} = ${f.allowed} ms).`,
  },
  // uploads; the fact `reason` is SEP-2631's word for it
  upload_invalid: { http: 400, jsonRpc: -32602, text: (f) => `The upload cannot be authorized: ${f.detail}.` },
  upload_too_large: {
    http: 413,
    jsonRpc: -32602,
    text: (f) => `The file is larger than ${f.limit} = ${f.allowed} bytes (${f.actual}).`,
  },
  upload_done: { http: 409, jsonRpc: -32602, text: () => 'A file has already been uploaded here.' },
  upload_malformed: { http: 400, jsonRpc: -32600, text: (f) => `The upload cannot be read: ${f.detail}.` },
  upload_incomplete: { http: 400, jsonRpc: -32600, text: () => 'The upload ended before it was complete.' },
  upload_size_differs: {
    http: 422,
    jsonRpc: -32602,
    text: (f) => `The file has another size than announced: ${f.actual} bytes instead of ${f.allowed}.`,
  },
  upload_digest_differs: {
    http: 422,
    jsonRpc: -32602,
    text: () => 'The bytes have another SHA-256 digest than announced.',
  },
  upload_type_refused: {
    http: 415,
    jsonRpc: -32602,
    text: (f) => `The file is ${f.actual}, which is not accepted here; accepted: ${f.accept}.`,
  },
  argument_too_large: {
    http: 413,
    jsonRpc: -32602,
    text: (f) =>
      `The argument ${f.path} is larger than ${f.limit} = ${f.allowed} bytes (${f.actual} so far). ` +
      'Upload the file and pass its handle instead.',
  },
  file_refused: { http: 400, jsonRpc: -32602, text: (f) => String(f.text) },
  stream_refused: { http: 400, jsonRpc: -32602, text: (f) => String(f.text) },
  file_missing: {
    http: 400,
    jsonRpc: -32602,
    text: (f) =>
      `The tool '${f.tool}' needs a file in the argument '${f.argument}', and was given none. It takes a file ` +
      `${f.accept === undefined ? '' : `of type ${f.accept} `}of at most ${f.maxSize} bytes.`,
  },
  params_invalid: { http: 400, jsonRpc: -32602, text: (f) => `Invalid params: ${f.text}.` },
  // what an upstream sent
  upstream_unreachable: { http: 502, jsonRpc: INTERNAL, text: (f) => `The server "${f.server}" cannot be reached.` },
  upstream_timeout: {
    http: 504,
    jsonRpc: INTERNAL,
    text: (f) => `The server "${f.server}" did not answer within ${f.limit} = ${f.allowed} ms.`,
  },
  upstream_closed: {
    http: 502,
    jsonRpc: INTERNAL,
    text: (f) => `The server "${f.server}" ended before its answer was complete.`,
  },
  upstream_refused: {
    http: 502,
    jsonRpc: INTERNAL,
    text: (f) => `The server "${f.server}" refused the message (HTTP ${f.status}).`,
  },
  upstream_invalid: { http: 502, jsonRpc: INTERNAL, text: (f) => `The server sent something invalid: ${f.reason}.` },
  upstream_coding: {
    http: 502,
    jsonRpc: INTERNAL,
    text: (f) => `The server used the content coding "${f.coding}", which is not accepted.`,
  },
  upstream_coding_limit: {
    http: 502,
    jsonRpc: INTERNAL,
    text: (f) => `The server's compressed answer expands beyond ${f.limit} = ${f.allowed} (${f.actual}).`,
  },
  response_too_large: {
    http: 502,
    jsonRpc: INTERNAL,
    text: (f) =>
      `The server's message without its files is larger than ${f.limit} = ${f.allowed} bytes (${f.actual} so far).`,
  },
  remote_file_failed: {
    http: 502,
    jsonRpc: INTERNAL,
    text: (f) => `The file ${f.name} that the server "${f.server}" gave could not be fetched: ${f.detail}.`,
  },
  file_not_base64: {
    http: 502,
    jsonRpc: INTERNAL,
    text: (f) => `${f.path} holds a file that is not valid base64: ${f.reason}.`,
  },
  file_too_large: {
    http: 502,
    jsonRpc: INTERNAL,
    text: (f) => `The file at ${f.path} is larger than ${f.limit} = ${f.allowed} bytes (${f.actual} so far).`,
  },
  file_key_duplicate: {
    http: 502,
    jsonRpc: INTERNAL,
    text: (f) => `The object at ${f.path} names "${f.key}" twice, so the file in it is ambiguous.`,
  },
  spool_full: {
    http: 502,
    jsonRpc: INTERNAL,
    text: (f) =>
      `The string at ${f.path} is not canonical base64 and is larger than ${f.limit} = ${f.allowed} bytes (${f.actual} so far).`,
  },
  too_many_files: {
    http: 502,
    jsonRpc: INTERNAL,
    text: (f) => `The message holds more files than ${f.limit} = ${f.allowed}.`,
  },
  no_stream: {
    http: 502,
    jsonRpc: INTERNAL,
    text: () => 'The client has no stream open on which this request could reach it.',
  },
  // what Wharf itself lacks
  held_full: {
    http: 503,
    jsonRpc: INTERNAL,
    text: (f) => `Too many messages are held at once: ${f.limit} = ${f.allowed} bytes. Try again.`,
  },
  part_memory_full: {
    http: 503,
    jsonRpc: INTERNAL,
    text: (f) =>
      `Too many files are being stored at once: ${f.limit} = ${f.allowed} bytes, waited ${f.waited} ms. Try again.`,
  },
  process_limit: {
    http: 503,
    jsonRpc: INTERNAL,
    text: (f) => `The server "${f.server}" already runs ${f.limit} = ${f.allowed} processes. Try again later.`,
  },
  connection_limit: {
    http: 503,
    jsonRpc: INTERNAL,
    text: (f) => `The server "${f.server}" already has ${f.limit} = ${f.allowed} requests under way. Try again later.`,
  },
  store_unavailable: {
    http: 503,
    jsonRpc: INTERNAL,
    text: () => 'The object store is not available. Try again later.',
  },
  store_timeout: {
    http: 503,
    jsonRpc: INTERNAL,
    text: (f) => `The object store did not answer within ${f.limit} = ${f.allowed} ms.`,
  },
  store_object_too_large: {
    http: 413,
    jsonRpc: INTERNAL,
    text: (f) => `The file is larger than the object store takes: ${f.limit} = ${f.allowed} (${f.actual}).`,
  },
  store_full: { http: 507, jsonRpc: INTERNAL, text: () => 'The object store is full.' },
  temp_full: { http: 507, jsonRpc: INTERNAL, text: () => 'The disk for temporary files is full.' },
  temp_unavailable: { http: 503, jsonRpc: INTERNAL, text: () => 'A temporary file cannot be written.' },
  state_unavailable: { http: 503, jsonRpc: INTERNAL, text: () => 'The state store is not available. Try again later.' },
  state_full: {
    http: 503,
    jsonRpc: INTERNAL,
    text: (f) => `The state store is full: ${f.limit} = ${f.allowed} keys (${f.actual}). Try again later.`,
  },
  idle_timeout: {
    http: 504,
    jsonRpc: INTERNAL,
    text: (f) =>
      `${f.server === undefined ? 'No bytes arrived' : `The server "${f.server}" sent no bytes`} for ${f.limit} = ${f.allowed} ms.`,
  },
  draining: { http: 503, jsonRpc: INTERNAL, text: () => 'Wharf is shutting down. Try again.' },
  internal: { http: 500, jsonRpc: INTERNAL, text: () => 'Internal error.' },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERROR_TABLE;

/** The one error type that crosses folders. `message` is the public text. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  readonly facts: ErrorFacts;

  constructor(code: ErrorCode, facts: ErrorFacts = {}, cause?: unknown) {
    super(ERROR_TABLE[code].text(facts), cause === undefined ? undefined : { cause });
    this.code = code;
    this.facts = facts;
  }

  get httpStatus(): number {
    return ERROR_TABLE[this.code].http;
  }

  /** The `error` member of a JSON-RPC answer. */
  toJsonRpc(): { code: number; message: string; data: Record<string, unknown> } {
    return { code: ERROR_TABLE[this.code].jsonRpc, message: this.message, data: { code: this.code, ...this.facts } };
  }
}

/** Whatever was thrown, as a GatewayError; what is not one becomes `internal` and keeps itself as the cause. */
export function asGatewayError(thrown: unknown): GatewayError {
  return thrown instanceof GatewayError ? thrown : new GatewayError('internal', {}, thrown);
}
