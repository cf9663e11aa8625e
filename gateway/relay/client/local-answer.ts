import { asGatewayError, type GatewayError } from '../../errors.js';
import { isObject, textIn } from '../../json/value.js';
import type { Era } from '../../mcp/era.js';
import type { ClientMessages, ClientRequest } from '../../mcp/request.js';
import type { ClientFacts } from '../../ports/client.js';
import type { Dialect, FileRefusal } from '../../ports/dialect.js';
import type { JsonObject } from '../../ports/json.js';
import { FILE_ERROR_META_KEY } from '../cut/places.js';
import type { Exchange } from '../exchange.js';
import type { PendingRequest } from '../pending-request.js';

type Asked = Pick<ClientRequest, 'id' | 'method' | 'params'>;

/** Wharf's own answer to a request. */
export type LocalAnswer = { result: JsonObject } | { error: { code: number; message: string; data?: unknown } };

/** Answers the only request of a POST without the server. */
export function answerLocally(exchange: Exchange, messages: ClientMessages, answer: LocalAnswer): void {
  const { reply, headers, facts } = exchange;
  const told = toldTo(messages.requests[0], answer, messages.era);
  const text = localMessage(messages, told);
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
  const status = 'error' in told ? (messages.era.statusOfError.get(told.error.code) ?? 200) : 200;
  reply.all({ status, body: 'values', headers: { 'content-type': 'application/json' } }, text, answers);
  facts.bytesOut = text.length;
}

/** The answer to the only request of a POST as a message. */
export function localMessage({ requests, era }: ClientMessages, answer: LocalAnswer): Buffer {
  return answerText(requests[0], answer, era);
}

/** An answer of Wharf's own. */
export function answerText(request: Asked | undefined, answer: LocalAnswer, era: Era): Buffer {
  const told = toldTo(request, answer, era);
  const body = 'result' in told ? { result: completed(told.result, era) } : told;
  return Buffer.from(`{"jsonrpc":"2.0","id":${request?.id ?? 'null'},${JSON.stringify(body).slice(1)}`);
}

/**
 * Clients await a task from a call that asks for one, and refuse every other result without showing what it says. Wharf
 * begins no task, so that it refuses such a call by an error. Later, without sessions, such a call may have a result too.
 */
function toldTo(request: Asked | undefined, answer: LocalAnswer, { hasSessions }: Era): LocalAnswer {
  if (!hasSessions || request?.method !== 'tools/call' || !isObject(request.params.task)) return answer;
  if (!('result' in answer) || answer.result.isError !== true) return answer;
  const { content, _meta: data } = answer.result;
  const texts = Array.isArray(content) ? content.map((block) => (isObject(block) && textIn(block, 'text')) || '') : [];
  return { error: { code: -32602, message: texts.join('\n'), ...(data !== undefined && { data }) } };
}

/** Marks a result of Wharf's own as complete, for revisions that require it. */
export function completed(result: JsonObject, { completesResults }: Era): JsonObject {
  return completesResults ? { resultType: 'complete', ...result } : result;
}

/** What was thrown, as the error of a request. */
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
  return answerFor(client, {
    result: {
      content: [{ type: 'text', text: refusal.text }],
      isError: true,
      _meta: { [FILE_ERROR_META_KEY]: factsOf(refusal) },
    },
  });
}

/** An error of Wharf's own without its facts for programs, where the client's host would show those to its model. */
export function answerFor({ host }: ClientFacts, answer: LocalAnswer): LocalAnswer {
  if (host?.meta === undefined || host.meta === 'keep' || !('result' in answer)) return answer;
  const { _meta, ...result } = answer.result;
  return { result };
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
