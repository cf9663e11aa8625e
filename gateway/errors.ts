import { ERRORS_OF_CALLERS } from './errors/callers.js';
import { ERRORS_OF_CONSOLE } from './errors/console.js';
import { ERRORS_OF_LACK } from './errors/lack.js';
import { type ErrorFacts, type ErrorRow, INTERNAL, over, quoted, waited } from './errors/texts.js';
import { ERRORS_OF_UPLOADS } from './errors/uploads.js';
import { contrast, countText, sizeText } from './policy/amounts.js';

export { type ErrorFacts, SOON_S } from './errors/texts.js';

/**
 * Every way in which Wharf can refuse or fail, as one closed list. An error is made where its facts are known; `http`
 * and `relay` only render it. `text` is public and read by people and models: it names the thing, the limit and the
 * actual value, and nothing that helps an attacker. The config key of a limit is a fact, `limit`: programs find it in
 * `data`, operators in the log and in `forOperator`. Facts for the operator only travel as `cause`, into the log.
 *
 * JSON-RPC codes: -32700…-32600 are JSON-RPC's own, -32020…-32022 are MCP 2026-07-28's. MCP reserves the rest of
 * -32768…-32000, so every other failure is -32603, and `data.code`, the name in this table, distinguishes them. A session
 * that has ended is -32001, as of official servers: 2026-07-28, which forbids that code, has no sessions.
 */
export const ERROR_TABLE = {
  // what the client sent
  json_malformed: { http: 400, jsonRpc: -32700, text: (f) => `The request body is not valid JSON: ${f.reason}.` },
  request_invalid: { http: 400, jsonRpc: -32600, text: (f) => `Invalid request: ${f.reason}.` },
  message_too_large: {
    http: 413,
    jsonRpc: -32600,
    text: (f) => `The message is larger than the ${over(f)}.`,
  },
  capabilities_too_large: {
    http: 413,
    jsonRpc: -32602,
    text: (f) => `What the client declares in "capabilities" is larger than the ${over(f)}.`,
  },
  too_deep: {
    http: 400,
    jsonRpc: -32600,
    text: (f) => `The message is nested deeper than ${countText(Number(f.allowed), 'level')}.`,
  },
  batch_too_long: {
    http: 400,
    jsonRpc: -32600,
    text: (f) => `The batch has more than ${countText(Number(f.allowed), 'message')}.`,
  },
  method_not_allowed: { http: 405, jsonRpc: -32600, text: (f) => `${f.method} is not allowed here; use ${f.allow}.` },
  not_acceptable: { http: 406, jsonRpc: -32600, text: (f) => `The Accept header must list ${f.expected}.` },
  unsupported_media_type: { http: 415, jsonRpc: -32600, text: (f) => `Content-Type must be ${f.expected}.` },
  unsupported_coding: {
    http: 415,
    jsonRpc: -32600,
    text: (f) => `The body's coding "${f.coding}" is not accepted here.`,
  },
  header_mismatch: {
    http: 400,
    jsonRpc: -32020,
    text: (f) => `The ${f.header} header does not agree with the request body: ${f.reason}.`,
  },
  meta_missing: { http: 400, jsonRpc: -32602, text: (f) => `params._meta["${f.key}"] is required.` },
  ...ERRORS_OF_CALLERS,
  version_unsupported: {
    http: 400,
    jsonRpc: -32022,
    text: (f) => `Protocol version ${f.requested} is not supported here.`,
  },
  host_forbidden: {
    http: 403,
    jsonRpc: -32600,
    text: (f) =>
      `Wharf does not answer to the Host ${quoted(f.host)}. Its operator lists the names it has: allowedHosts, or publicUrl.`,
  },
  origin_forbidden: {
    http: 403,
    jsonRpc: -32600,
    text: (f) =>
      `Web pages of ${quoted(f.origin)} may not call Wharf. Its operator lists those that may: allowedOrigins, or publicUrl.`,
  },
  navigation_refused: {
    http: 406,
    jsonRpc: -32600,
    text: () => 'This address is for MCP clients. Open it in a tab of its own to see how one is connected.',
  },
  route_unknown: {
    http: 404,
    jsonRpc: -32600,
    text: ({ paths }) => {
      if (!Array.isArray(paths)) return 'There is nothing at this address.';
      return paths.length === 1
        ? `There is nothing at this address. The path of the MCP URL is ${paths[0]}.`
        : `There are several servers here, each at a path of its own: ${paths.join(', ')}.`;
    },
  },
  server_unknown: {
    http: 404,
    jsonRpc: -32600,
    text: ({ server, paths }) =>
      `No server is called "${server}"${Array.isArray(paths) ? `; there are: ${paths.join(', ')}` : ''}.`,
  },
  server_forbidden: {
    http: 403,
    jsonRpc: -32600,
    text: ({ server }) => `You may not use the server "${server}". Ask the operator for access.`,
  },
  // MCP's own code and text for a tool that does not exist: a hidden one must not look different
  tool_unknown: { http: 400, jsonRpc: -32602, text: ({ tool }) => `Unknown tool: ${tool}` },
  session_required: {
    http: 400,
    jsonRpc: -32600,
    text: ({ face }) =>
      `There is no session: send "initialize" first.${
        face === 'stdio' ? '' : ' Over HTTP the Mcp-Session-Id header of its answer goes with every later request.'
      }`,
  },
  // the official server's own code, and the status in words: clients that do not go by the status alone know by these that they
  // must begin anew, as Mastra does
  session_unknown: { http: 404, jsonRpc: -32001, text: () => 'Session not found (HTTP 404); initialize again.' },
  stream_taken: { http: 409, jsonRpc: -32600, text: () => 'This session already has a GET stream.' },
  // links and files
  link_unknown: { http: 404, jsonRpc: -32602, text: () => 'There is no such link.' },
  link_expired: { http: 410, jsonRpc: -32602, text: () => 'This link has expired; ask for a new one.' },
  file_gone: {
    http: 410,
    jsonRpc: -32602,
    text: ({ reason }) =>
      reason === 'changed'
        ? 'The file behind this link was changed where it is stored: it is not the one that was given, and is not handed out.'
        : 'The file behind this link has been removed.',
  },
  // clients get MCP's own code for it, which is another one in each era
  resource_unknown: { http: 404, jsonRpc: -32602, text: ({ text }) => `Resource not found: ${text}` },
  file_not_text: {
    http: 400,
    jsonRpc: -32602,
    text: (f) => `The file for ${f.path} is not UTF-8 text, which is all that this argument takes.`,
  },
  range_not_satisfiable: {
    http: 416,
    jsonRpc: -32602,
    text: (f) => `The file has ${countText(Number(f.size), 'byte')}.`,
  },
  // addresses that a server named: one in a file argument becomes a refusal of that argument. `host` is the only part ever
  // shown, because the rest may be a credential
  fetch_forbidden: {
    http: 403,
    jsonRpc: INTERNAL,
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
    jsonRpc: INTERNAL,
    text: (f) => `The file at "${f.host}" is larger than the ${over(f, ' so far')}.`,
  },
  file_infected: {
    http: 422,
    jsonRpc: INTERNAL,
    text: (f) => `The antivirus has found ${f.signature} in the file at ${f.path}. The file is removed.`,
  },
  file_unscannable: {
    http: 413,
    jsonRpc: INTERNAL,
    text: (f) => {
      const { allowed, actual } = contrast(Number(f.allowed), Number(f.actual));
      return (
        `The antivirus cannot scan the file at ${f.path}, and a file that is not scanned is not taken here: it has ` +
        `${actual}, and the antivirus scans ${allowed}, with what is packed in it.`
      );
    },
  },
  file_type_refused: {
    http: 415,
    jsonRpc: INTERNAL,
    text: (f) =>
      `The file at ${f.path} of the server's answer is ${f.actual}; only these types are passed on: ${[f.accept].flat().join(', ')}.`,
  },
  fetch_timeout: {
    http: 504,
    jsonRpc: INTERNAL,
    text: (f) => `The transfer of the file with "${f.host}" took too long: ${f.reason} within ${waited(f)}.`,
  },
  ...ERRORS_OF_UPLOADS,

  // what an upstream sent
  upstream_unreachable: {
    http: 502,
    jsonRpc: INTERNAL,
    text: (f) => `The server "${f.server}" cannot be reached${f.reason === undefined ? '' : `: ${f.reason}`}.`,
  },
  upstream_timeout: {
    http: 504,
    jsonRpc: INTERNAL,
    text: (f) => `The server "${f.server}" did not answer within ${waited(f)}.`,
  },
  upstream_closed: {
    http: 502,
    jsonRpc: INTERNAL,
    text: (f) => {
      if (f.reason === undefined) return `The server "${f.server}" ended before its answer was complete.`;
      // its command cannot work, and who has written it must know where to look
      return `The server "${f.server}" ended with ${f.reason} before it wrote anything; its last words are in the log of Wharf.`;
    },
  },
  upstream_refused: {
    http: 502,
    jsonRpc: INTERNAL,
    text: (f) => {
      const tooLong = `: it takes no message this long, although servers.${f.server}.accepts allows it`;
      return `The server "${f.server}" refused the message (HTTP ${f.status})${f.status === 413 ? tooLong : ''}.`;
    },
  },
  upstream_unauthorized: {
    http: 502,
    jsonRpc: INTERNAL,
    text: (f) => {
      const why = f.sent
        ? `it does not accept what ${f.setting} holds (${f.sent})`
        : `if it wants credentials, they belong in ${f.setting}, which holds none`;
      const host = f.status === 403 ? ' If it answers to certain hosts alone, it must allow the one in its URL.' : '';
      return `The server "${f.server}" refuses Wharf with HTTP ${f.status}: ${why}. A client's own never reach it.${host}`;
    },
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
    text: (f) =>
      `The server's compressed answer expands to ${f.actual} times its size; at most ${f.allowed} times is allowed.`,
  },
  response_too_large: {
    http: 502,
    jsonRpc: INTERNAL,
    text: (f) =>
      f.came === undefined
        ? `The server's message, without its files, is larger than the ${over(f, ' so far')}.`
        : `The server's message came with ${sizeText(Number(f.came))}, and is larger than the ${over(f)} with what Wharf ` +
          'writes into it, such as links in place of files. Ask for less at a time.',
  },
  remote_file_failed: {
    http: 502,
    jsonRpc: INTERNAL,
    text: (f) =>
      `The file ${f.name === undefined ? '' : `"${f.name}" `}that the server "${f.server}" gave could not be fetched: ${f.detail}.`,
  },
  file_not_base64: {
    http: 502,
    jsonRpc: INTERNAL,
    text: (f) => `${f.path} holds a file that is not valid base64: ${f.reason}.`,
  },
  file_too_large: {
    http: 502,
    jsonRpc: INTERNAL,
    text: (f) => `The file at ${f.path} is larger than the ${over(f, ' so far')}.`,
  },
  file_key_duplicate: {
    http: 502,
    jsonRpc: INTERNAL,
    text: (f) =>
      `The ${f.path === '' ? 'message' : `object at ${f.path}`} names "${f.key}" twice, so the file in it is ambiguous.`,
  },
  spool_full: {
    http: 502,
    jsonRpc: INTERNAL,
    text: (f) =>
      `The string at ${f.path} is not canonical base64, and is larger than the ${over(f, ' so far')} for such a string.`,
  },
  too_many_files: {
    http: 502,
    jsonRpc: INTERNAL,
    text: (f) => `The message holds more than ${countText(Number(f.allowed), 'file')}: ${f.actual} or more.`,
  },
  no_stream: {
    http: 502,
    jsonRpc: INTERNAL,
    text: () => 'The client has no stream open on which this request could reach it.',
  },
  ...ERRORS_OF_LACK,

  // the operator's own port
  ...ERRORS_OF_CONSOLE,
} as const satisfies Record<string, ErrorRow>;

/** The code of an error, which clients and logs get; never renamed. */
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

  /** The text with the config key of its limit, for the log and the terminal. */
  get forOperator(): string {
    const { limit, source = limit, share } = this.facts;
    if (source === undefined) return this.message;
    return `${this.message} [${source}${share === undefined ? '' : `, limits.share = ${share}`}]`;
  }

  /** The `error` member of a JSON-RPC answer. */
  toJsonRpc(): { code: number; message: string; data: Record<string, unknown> } {
    return { code: ERROR_TABLE[this.code].jsonRpc, message: this.message, data: { code: this.code, ...this.facts } };
  }
}

/** Turns any thrown value into a GatewayError; others become `internal` with the original as the cause. */
export function asGatewayError(thrown: unknown): GatewayError {
  return thrown instanceof GatewayError ? thrown : new GatewayError('internal', {}, thrown);
}

/** A message nests deeper than `limits.depth`. How deep it is in all is not known: it is not read further. */
export function tooDeep(allowed: number, cause?: unknown): GatewayError {
  return new GatewayError('too_deep', { limit: 'limits.depth', allowed, actual: allowed + 1 }, cause);
}
