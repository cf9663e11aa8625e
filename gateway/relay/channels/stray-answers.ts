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
/** `[` */
const OPEN_LIST = 0x5b;
/** Of an event's fields. */
const COLON = 0x3a;
const LF = 0x0a;
const BLANK = 0x20;

/**
 * Whether a short body names this request, and no other, where most servers write the id of an answer: as the last member
 * of its object, or as the first one besides `jsonrpc`. This takes 0.1 µs; to parse the body would take 8 of a call's 90.
 * @param id of the request, as JSON text
 * @returns false where only its reader can tell: of a batch, or of a body of several events
 */
export function plainlyAnswers(body: Buffer, id: string): boolean {
  let end = body.length;
  while (end > 0 && (body[end - 1] as number) <= BLANK) end -= 1;
  const start = body.indexOf(OPEN);
  if (start > 0 && !isAlone(body, start, end)) return false;
  if (endsWith(body, end, `"id":${id}}`)) return true;
  return (
    beginsWith(body, start, `{"jsonrpc":"2.0","id":${id},`) ||
    beginsWith(body, start, `{"jsonrpc": "2.0", "id": ${id},`) ||
    beginsWith(body, start, `{"id":${id},`) ||
    endsWith(body, end, `"id": ${id}}`) ||
    endsWith(body, end, `"id":${id},"jsonrpc":"2.0"}`)
  );
}

/** Whether what begins here is neither in a list nor the first of several events. */
function isAlone(body: Buffer, start: number, end: number): boolean {
  let isEvent = false;
  for (let at = 0; at < start; at++) {
    if (body[at] === OPEN_LIST) return false;
    if (body[at] === COLON) isEvent = true;
  }
  const next = isEvent ? body.indexOf(LF, start) : -1;
  return next < 0 || next >= end;
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
  deps: Pick<ChannelDeps, 'server' | 'log' | 'fewLines' | 'metrics'>;
  caller: Pick<Caller, 'messages'>;
}

/**
 * Keeps the answer to another request from the client. A server, or a proxy before it, that answers one request twice on a
 * kept connection puts the second answer in the place of the answer to the next request, of any caller, and so on. Callers
 * choose their ids themselves, so most of these answers show by their id that they are wrong, if not all. Then the connection
 * is closed, so that no more wrong answers follow on it.
 * @returns takes a message. It throws GatewayError `upstream_invalid` where the body is one message only: in any other body
 * the right answer may follow
 */
export function withoutStrays(
  { deps: { server, log, fewLines, metrics }, caller: { messages } }: StrayContext,
  answer: Pick<UpstreamAnswer, 'status' | 'kind' | 'connection'>,
  take: Take,
): Take {
  // a client's own stream has answers to what it asked earlier
  if (!messages || answer.status >= 300) return take;
  let asked: AskedIds | undefined;
  return (message, cuts) => {
    asked ??= new AskedIds(messages.requests);
    if (!isStray(message, asked)) return take(message, cuts);
    answer.connection?.distrust();
    dismiss(cuts).catch(() => undefined);
    const isWhole = answer.kind === 'json' || answer.kind === 'bytes';
    // the server has taken the notification: its client need not hear of a failure
    if (isWhole && messages.requests.length > 0)
      throw new GatewayError('upstream_invalid', { server, reason: 'it answered another request' });
    metrics.count('wharf_dropped_messages_total', { server, reason: 'other_request' });
    // a stream may have as many of them as its server likes
    const leftOut = fewLines.take(`stray answer ${server}`);
    if (leftOut) log.warn({ ...leftOut }, 'an answer to another request was left out of the stream of this one');
  };
}

/** True for a message with an answer, alone or in a batch, whose id is certainly none of these requests'. */
function isStray(message: HeldMessage, asked: AskedIds): boolean {
  if (message.discarded || message.malformed) return false;
  return answersIn(message).some(({ id, base }) => {
    const isBelieved = !rangeAt(message, RANGE.result, [...base, 'result']) && !asked.hasCounted(id);
    return !isBelieved && !asked.mayHave(id);
  });
}

/** A number that a client counted up to, in its shortest spelling. */
const COUNTED = /^(?:[2-9]|[1-9]\d{1,14})$/;
const INTEGER = /^\d{1,15}$/;

/** The ids of an exchange's requests, as JSON text: a batch has a thousand of them, and so may its answer. */
class AskedIds {
  readonly #ids: ReadonlySet<string>;
  /** What they mean, read for the first id that is not written as one of them; undefined where one is not certain. */
  #meanings: ReadonlySet<string> | undefined | 'unread' = 'unread';
  #areNumbers: boolean | undefined;

  constructor(requests: readonly PendingRequest[]) {
    this.#ids = new Set(requests.map(({ id }) => id));
  }

  /**
   * Whether the id of an error is one that only a request can have given it, among requests whose ids are numbers too. A
   * server that could not read a request names it in its error as it likes: by null, a word, 0, 1 or a negative number.
   */
  hasCounted(error: string): boolean {
    if (!COUNTED.test(error)) return false;
    this.#areNumbers ??= [...this.#ids].every((id) => INTEGER.test(id));
    return this.#areNumbers;
  }

  /** Some servers answer 2 as "2" or 2.0, and the official SDKs accept that. Of a number beyond 2^53 more is not known. */
  mayHave(answered: string): boolean {
    if (this.#ids.has(answered)) return true;
    const value = meaningOf(answered);
    if (value === undefined) return true;
    if (this.#meanings === 'unread') this.#meanings = meaningsOf(this.#ids);
    return this.#meanings === undefined || this.#meanings.has(value);
  }
}

function meaningsOf(ids: Iterable<string>): ReadonlySet<string> | undefined {
  const meanings = new Set<string>();
  for (const id of ids) {
    const value = meaningOf(id);
    if (value === undefined) return undefined;
    meanings.add(value);
  }
  return meanings;
}

/** What an id is in each of its spellings; undefined where that is not certain. */
function meaningOf(text: string): string | undefined {
  try {
    const value: unknown = parseJson(text);
    return typeof value === 'string' || Number.isSafeInteger(value) ? String(value) : undefined;
  } catch {
    return undefined;
  }
}
