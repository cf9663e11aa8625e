import { GatewayError } from '../../errors.js';
import { RANGE, rangeAt } from '../../mcp/ranges.js';
import { answersIn } from '../../mcp/responses.js';
import type { UpstreamAnswer } from '../../ports/upstream.js';
import { parseJson } from '../../wire/json/parse.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import type { Caller } from '../caller.js';
import type { MessageCuts } from '../cut/message-cuts.js';
import type { PendingRequest } from '../pending-request.js';
import { dismiss } from '../results/to-client.js';
import type { ChannelDeps } from './deps.js';

/** `{` */
const OPEN = 0x7b;
const BLANK = 0x20;

/**
 * Whether a short body names this request, and no other, where most servers write the id of an answer: as the last member
 * of its object, or as the first one besides `jsonrpc`. This takes 0.1 µs; to parse the body would take 8 of a call's 90.
 * @param id of the request, as JSON text
 * @returns false where only its reader can tell
 */
export function plainlyAnswers(body: Buffer, id: string): boolean {
  let end = body.length;
  while (end > 0 && (body[end - 1] as number) <= BLANK) end -= 1;
  if (endsWith(body, end, `"id":${id}}`)) return true;
  const start = body.indexOf(OPEN);
  return (
    beginsWith(body, start, `{"jsonrpc":"2.0","id":${id},`) ||
    beginsWith(body, start, `{"jsonrpc": "2.0", "id": ${id},`) ||
    beginsWith(body, start, `{"id":${id},`) ||
    endsWith(body, end, `"id": ${id}}`) ||
    endsWith(body, end, `"id":${id},"jsonrpc":"2.0"}`)
  );
}

function beginsWith(body: Buffer, start: number, text: string): boolean {
  return body.toString('latin1', start, start + text.length) === text;
}

function endsWith(body: Buffer, end: number, text: string): boolean {
  return end >= text.length && body.toString('latin1', end - text.length, end) === text;
}

/** What reads the next message of a body. */
type Take = (message: HeldMessage, cuts: MessageCuts) => void;

interface StrayContext {
  deps: Pick<ChannelDeps, 'server' | 'log'>;
  caller: Pick<Caller, 'messages'>;
}

/**
 * Takes an answer that is that of another request for what it is. A server, or a proxy before it, that answers one request
 * twice on a kept connection puts the second answer in the place of the next one, and each further one in the place of its
 * successor: of any caller's. Ids are the callers' own, so that most of them show it, if not all; then the connection is
 * closed, and with it the row of wrong answers ends.
 * @returns throws GatewayError `upstream_invalid` where the body is one message: of others the right one may follow
 */
export function withoutStrays(
  { deps: { server, log }, caller: { messages } }: StrayContext,
  answer: Pick<UpstreamAnswer, 'status' | 'kind' | 'connection'>,
  take: Take,
): Take {
  const requests = messages?.requests ?? [];
  if (requests.length === 0 || answer.status >= 300) return take;
  return (message, cuts) => {
    if (!isStray(message, requests)) return take(message, cuts);
    answer.connection?.distrust();
    dismiss(cuts).catch(() => undefined);
    if (answer.kind === 'json' || answer.kind === 'bytes')
      throw new GatewayError('upstream_invalid', { server, reason: 'it answered another request' });
    log.warn({ server }, 'an answer to another request was left out of the stream of this one');
  };
}

/** True for a single answer with an id that is certainly none of these requests'. */
function isStray(message: HeldMessage, requests: readonly PendingRequest[]): boolean {
  if (message.discarded || message.malformed) return false;
  const [answer, ...others] = answersIn(message);
  if (answer === undefined || others.length > 0 || answer.base.length > 0) return false;
  if (!rangeAt(message, RANGE.result, ['result']) && !isCounted(answer.id, requests)) return false;
  return !requests.some(({ id }) => mayBeSame(id, answer.id));
}

/** A number that a client counted up to, in its shortest spelling. */
const COUNTED = /^(?:[2-9]|[1-9]\d{1,14})$/;
const INTEGER = /^\d{1,15}$/;

/**
 * Whether the id of an error is one that only a request can have given it, among requests whose ids are numbers too. A
 * server that could not read a request names it in its error as it likes: by null, a word, 0, 1 or a negative number.
 */
function isCounted(error: string, requests: readonly PendingRequest[]): boolean {
  return COUNTED.test(error) && requests.every(({ id }) => INTEGER.test(id));
}

/** Some servers answer 2 as "2" or 2.0, and the official SDKs accept that. Of a number beyond 2^53 more is not known. */
function mayBeSame(asked: string, answered: string): boolean {
  if (asked === answered) return true;
  const ids = [asked, answered].map((text): unknown => {
    try {
      return parseJson(text);
    } catch {
      return undefined;
    }
  });
  const isKnown = (id: unknown) => typeof id === 'string' || Number.isSafeInteger(id);
  return !ids.every(isKnown) || String(ids[0]) === String(ids[1]);
}
