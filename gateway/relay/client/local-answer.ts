import { asGatewayError, type GatewayError } from '../../errors.js';
import type { ClientMessages } from '../../mcp/request.js';
import type { ClientFacts } from '../../ports/client.js';
import type { Dialect, FileRefusal } from '../../ports/dialect.js';
import type { JsonObject } from '../../ports/json.js';
import { FILE_ERROR_META_KEY } from '../cut/places.js';
import type { Exchange } from '../exchange.js';
import type { PendingRequest } from '../pending-request.js';
import { Outlet } from './outlet.js';

/** What Wharf itself answers a request with. */
export type LocalAnswer = { result: JsonObject } | { error: { code: number; message: string; data?: unknown } };

/** 2026-07-28: these codes come with a status of their own. */
const STATUS_OF_CODE: Readonly<Record<number, number>> = { [-32601]: 404, [-32020]: 400, [-32021]: 400, [-32022]: 400 };

/** Answers the only request of a POST without the server. */
export function answerLocally(exchange: Exchange, messages: ClientMessages, answer: LocalAnswer): void {
  const { response, headers, facts } = exchange;
  const isStateless = messages.statelessVersion !== undefined;
  const text = localMessage(messages, answer);
  const accept = String(headers.accept ?? '');
  if (accept.includes('text/event-stream') && !accept.includes('json') && !accept.includes('*/*')) {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    const outlet = new Outlet(response, 'sse', 0);
    void outlet.send([text], undefined);
    outlet.end();
    facts.bytesOut = outlet.bytes;
    return;
  }
  const status = 'error' in answer && isStateless ? (STATUS_OF_CODE[answer.error.code] ?? 200) : 200;
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': String(text.length) });
  response.end(text);
  facts.bytesOut = text.length;
}

/** The answer to the only request of a POST as a message. */
export function localMessage({ requests, statelessVersion }: ClientMessages, answer: LocalAnswer): Buffer {
  const id = requests[0]?.id ?? 'null';
  const body = 'result' in answer && statelessVersion !== undefined ? complete(answer) : answer;
  return Buffer.from(`{"jsonrpc":"2.0","id":${id},${JSON.stringify(body).slice(1)}`);
}

/** 2026-07-28: every result says that it is complete. */
function complete({ result }: { result: JsonObject }): LocalAnswer {
  return { result: { resultType: 'complete', ...result } };
}

export function errorOf(thrown: unknown): LocalAnswer {
  return { error: asGatewayError(thrown).toJsonRpc() };
}

/**
 * A file argument that was refused: a tool error, which the model sees and can act on, unless the client's dialect has
 * an error of its own for it. Never in structuredContent: clients hold that against the tool's outputSchema.
 */
export function refusalAnswer(error: GatewayError, client: ClientFacts, dialects: readonly Dialect[]): LocalAnswer {
  const { text, reason, argument, maxSize, actualSize, accept, actualType } = error.facts;
  const refusal = defined({ reason, argument, text, maxSize, actualSize, accept, actualType });
  return refusedAnswer(refusal as unknown as FileRefusal, client, dialects);
}

/** The same, whoever refused it. */
export function refusedAnswer(refusal: FileRefusal, client: ClientFacts, dialects: readonly Dialect[]): LocalAnswer {
  for (const dialect of dialects) {
    const own = dialect.refuse?.(refusal, client);
    if (own) return { error: own };
  }
  return {
    result: {
      content: [{ type: 'text', text: refusal.text }],
      isError: true,
      _meta: { [FILE_ERROR_META_KEY]: factsOf(refusal) },
    },
  };
}

/** What programs are told of a refusal. */
export function factsOf({ text: _, ...facts }: FileRefusal): JsonObject {
  return defined(facts) as JsonObject;
}

/** Whether a request is alone in its POST, as one that Wharf answers itself must be. */
export function onlyRequest(messages: ClientMessages): PendingRequest | undefined {
  return messages.isBatch || messages.requests.length !== 1 ? undefined : messages.requests[0];
}

function defined(facts: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}
