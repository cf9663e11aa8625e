import { shortText } from '../budget/memory/short-text.js';
import type { ClientMessages } from '../mcp/request.js';
import type { SpanFacts } from '../ports/telemetry.js';
import { redactText } from '../redact.js';
import type { ExchangeFacts } from '../relay/exchange.js';
import { sessionTag } from '../relay/exchange-log.js';
import type { PendingRequest } from '../relay/pending-request.js';

/** Methods that count by their names: those that MCP defines. A client may send any other, so those count together. */
const METHODS: ReadonlySet<string> = new Set([
  'completion/complete',
  'elicitation/create',
  'initialize',
  'logging/setLevel',
  'notifications/cancelled',
  'notifications/initialized',
  'notifications/message',
  'notifications/progress',
  'notifications/roots/list_changed',
  'ping',
  'prompts/get',
  'prompts/list',
  'resources/list',
  'resources/read',
  'resources/subscribe',
  'resources/templates/list',
  'resources/unsubscribe',
  'roots/list',
  'sampling/createMessage',
  'server/discover',
  'subscriptions/listen',
  'tasks/cancel',
  'tasks/get',
  'tasks/list',
  'tasks/result',
  'tasks/update',
  'tools/call',
  'tools/list',
]);

/** OpenTelemetry's word for a value that is not one of few. */
export const OTHER = '_OTHER';

/** Longest text of a peer in an attribute. */
const MAX_TEXT = 256;

/** Longest name of a peer in a span's name. */
const MAX_NAME = 100;

/** One message of a POST, by the words of the conventions. */
export interface Operation {
  /** JSON text, as the client wrote it; undefined for a notification. */
  readonly id: string | undefined;
  readonly method: string;
  readonly tool: string | undefined;
  readonly prompt: string | undefined;
  readonly request: PendingRequest | undefined;
}

/** The messages of a POST that are recorded: its requests, or its one notification. Answers belong to their requests. */
export function operationsOf({ requests, firstMethod }: ClientMessages): Operation[] {
  if (requests.length === 0)
    return firstMethod.startsWith('notifications/')
      ? [{ id: undefined, method: fromPeer(firstMethod), tool: undefined, prompt: undefined, request: undefined }]
      : [];
  return requests.map((request) => {
    const { id, method, subject } = request;
    const name = subject === undefined ? undefined : fromPeer(subject);
    return {
      id,
      method: fromPeer(method),
      tool: method === 'tools/call' ? name : undefined,
      prompt: method === 'prompts/get' ? name : undefined,
      request,
    };
  });
}

/** The method, and the tool or prompt that it names. */
export function spanName({ method, tool, prompt }: Operation): string {
  const target = tool ?? prompt;
  return (target === undefined ? method : `${method} ${target}`).slice(0, MAX_NAME);
}

/** What a span says of a message. Arguments and results are never in it. */
export function spanFacts({ id, method, tool, prompt, request }: Operation, server: string): SpanFacts {
  const uri = method.startsWith('resources/') ? request?.subject : undefined;
  return {
    'mcp.method.name': method,
    'jsonrpc.request.id': id === undefined ? undefined : fromPeer(plain(id)),
    'gen_ai.tool.name': tool,
    'gen_ai.prompt.name': prompt,
    'gen_ai.operation.name': operationName(method),
    'mcp.resource.uri': uri === undefined ? undefined : addressOnly(uri),
    'wharf.server': server,
  };
}

/** What is known once it is answered. A session's id is a credential, so a span has the hash that the log has. */
export function lateFacts({ session, version, files, fileBytes }: ExchangeFacts): SpanFacts {
  return {
    'mcp.session.id': session === undefined ? undefined : sessionTag(session),
    'mcp.protocol.version': version,
    'wharf.files': files > 0 ? files : undefined,
    'wharf.file_bytes': files > 0 ? fileBytes : undefined,
  };
}

/** What a histogram counts by: each has few values. */
export function metricFacts({ method }: Operation, server: string, tool: string | undefined): SpanFacts {
  return {
    'mcp.method.name': METHODS.has(method) ? method : OTHER,
    'gen_ai.tool.name': tool,
    'gen_ai.operation.name': operationName(method),
    'wharf.server': server,
  };
}

function operationName(method: string): 'execute_tool' | undefined {
  return method === 'tools/call' ? 'execute_tool' : undefined;
}

/** `1` and `"1"` are both 1 in the conventions. */
function plain(id: string): string {
  return id.startsWith('"') ? id.slice(1, -1) : id;
}

/** A text that a peer has chosen: short, and without what the log would not have either. */
export function fromPeer(text: string): string {
  return redactText(shortText(text, MAX_TEXT)).slice(0, MAX_TEXT);
}

/** What grants access to a resource is usually in its query; a `data:` URI is the resource. */
function addressOnly(uri: string): string {
  return fromPeer(uri.replace(/[?#].*$/s, '').replace(/^(data:[^,]{0,100}).*$/is, '$1'));
}
