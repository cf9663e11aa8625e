import { asGatewayError, type GatewayError } from '../../errors.js';
import type { Era } from '../../mcp/era.js';
import type { ClientMessages } from '../../mcp/request.js';
import type { ClientFacts } from '../../ports/client.js';
import type { Dialect, FileRefusal } from '../../ports/dialect.js';
import type { JsonObject } from '../../ports/json.js';
import { FILE_ERROR_META_KEY } from '../cut/places.js';
import type { Exchange } from '../exchange.js';
import type { PendingRequest } from '../pending-request.js';

/** Wharf's own answer to a request. */
export type LocalAnswer = { result: JsonObject } | { error: { code: number; message: string; data?: unknown } };

/** Answers the only request of a POST without the server. */
export function answerLocally(exchange: Exchange, messages: ClientMessages, answer: LocalAnswer): void {
  const { reply, headers, facts } = exchange;
  const text = localMessage(messages, answer);
  const answers = messages.requests.map(({ id }) => id);
  const accept = String(headers.accept ?? '');
  if (accept.includes('text/event-stream') && !accept.includes('json') && !accept.includes('*/*')) {
    reply.head({
      status: 200,
      body: 'events',
      headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' },
    });
    void reply.message([text], { answers });
    reply.end();
    facts.bytesOut = reply.written;
    return;
  }
  const status = 'error' in answer ? (messages.era.statusOfError.get(answer.error.code) ?? 200) : 200;
  reply.all({ status, body: 'values', headers: { 'content-type': 'application/json' } }, text, answers);
  facts.bytesOut = text.length;
}

/** The answer to the only request of a POST as a message. */
export function localMessage({ requests, era }: ClientMessages, answer: LocalAnswer): Buffer {
  return answerText(requests[0]?.id ?? 'null', answer, era);
}

/** An answer of Wharf's own. @param id as JSON text */
export function answerText(id: string, answer: LocalAnswer, era: Era): Buffer {
  const body = 'result' in answer ? { result: completed(answer.result, era) } : answer;
  return Buffer.from(`{"jsonrpc":"2.0","id":${id},${JSON.stringify(body).slice(1)}`);
}

/** Marks a result of Wharf's own as complete, for revisions that require it. */
export function completed(result: JsonObject, { completesResults }: Era): JsonObject {
  return completesResults ? { resultType: 'complete', ...result } : result;
}

export function errorOf(thrown: unknown): LocalAnswer {
  return { error: asGatewayError(thrown).toJsonRpc() };
}

/**
 * The answer that refuses a file argument: a tool error, which the model sees and can act on, unless the client's
 * dialect has its own error. Without structuredContent, which clients validate against the tool's outputSchema.
 */
export function refusalAnswer(error: GatewayError, client: ClientFacts, dialects: readonly Dialect[]): LocalAnswer {
  const { text, reason, argument, maxSize, actualSize, accept, actualType } = error.facts;
  const refusal = defined({ reason, argument, text, maxSize, actualSize, accept, actualType });
  return refusedAnswer(refusal as unknown as FileRefusal, client, dialects);
}

/** Like `refusalAnswer`, for a refusal by Wharf or by the server. */
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

/** The facts of a refusal, for programs. */
export function factsOf({ text: _, ...facts }: FileRefusal): JsonObject {
  return defined(facts) as JsonObject;
}

/** The request that is alone in its POST, as one that Wharf itself answers must be; otherwise undefined. */
export function onlyRequest(messages: ClientMessages): PendingRequest | undefined {
  return messages.isBatch || messages.requests.length !== 1 ? undefined : messages.requests[0];
}

function defined(facts: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}
