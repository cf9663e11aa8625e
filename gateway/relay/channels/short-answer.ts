import { isObject } from '../../json/value.js';
import type { ClientFacts } from '../../ports/client.js';
import type { JsonValue } from '../../ports/json.js';
import type { BodyKind } from '../../ports/upstream.js';
import { parseJson } from '../../wire/json/parse.js';
import { weigh } from '../../wire/json/weigh.js';
import type { PendingRequest } from '../pending-request.js';
import { mayAnswerWithFiles } from '../results/file-methods.js';
import { mayBeUnshownIn } from '../results/host/unshown-blocks.js';
import { mayConcern, mayTellOfChange, needsLook } from '../results/to-client.js';
import { mayBeUnderTool } from '../results/tool/under-tool.js';
import { mayRefuseFile } from '../results/upstream-refusals.js';
import { maySpeakForWharf } from '../upstream/own-words.js';
import type { ChannelDeps } from './deps.js';

/** Bytes up to which nothing in a message can be a file. */
export function shortLimit({ cut, limits }: ChannelDeps): number {
  const { slotMin, fileMin = slotMin } = cut;
  return Math.min(slotMin, fileMin, limits.response);
}

/** True when the answers to these requests must be read, however short they are. */
export function mustBeRead(requests: readonly PendingRequest[], deps: ChannelDeps): boolean {
  return requests.some((one) => needsLook(one) || mayBeUnderTool(one, deps));
}

/** A cheap test of a short body, which answers these requests, for what may need work. */
export function mayNeedWork(
  body: Buffer,
  requests: readonly PendingRequest[],
  client: ClientFacts,
  deps: ChannelDeps,
): boolean {
  const methods = requests.map(({ method }) => method);
  const read = (start: number, end: number) => body.subarray(start, end);
  return (
    mayAnswerWithFiles(methods, [body], deps) ||
    mayBeUnshownIn(body, client) ||
    mayConcern(requests, body.length, read) ||
    mayRefuseFile(requests, body.length, read) ||
    mayTellOfChange(body) ||
    maySpeakForWharf([body]) ||
    mayBeDeep(body, deps.limits.depth)
  );
}

/** Counts what opens an array or object, in strings as well: only its reader tells them apart, and refuses what is too deep. */
function mayBeDeep(body: Buffer, most: number): boolean {
  // each level has two brackets: most short bodies end here
  if (body.length <= 2 * most) return false;
  let opened = 0;
  for (let at = 0; at < body.length; at++) {
    if (((body[at] as number) | CURLY) === OPEN) opened += 1;
  }
  return opened > most;
}

/** The member of which a message has one if it is an answer. */
const OF_ANSWERS = ['"result"', '"error"'].map((text) => Buffer.from(text));

/**
 * Whether a short body may lack the answer to one of these requests: to read it takes 8 of a call's 90 µs. Bytes within a string
 * have a backslash before their quotation marks, so they are not taken for the member.
 */
export function mayLackAnswer(body: Buffer, requests: readonly PendingRequest[]): boolean {
  return requests.length > 1 || (requests.length === 1 && !OF_ANSWERS.some((member) => body.includes(member)));
}

/** What may be made of a body, only to see what it answers. */
const LIGHT = { depth: 100, values: 1000 };

const LF = 0x0a;
const CR = 0x0d;
const LF_TWICE = Buffer.from('\n\n');
const CRLF_TWICE = Buffer.from('\r\n\r\n');
/** `[` and `{` differ in this bit only. */
const CURLY = 0x20;
const OPEN = 0x7b;

/**
 * How an event stream of one message begins, if no client could resume it. Servers in Python end lines with CR LF. Where one
 * beginning is that of another, the longer one stands first.
 */
const BEGINNINGS = [
  'event: message\ndata: ',
  'event: message\r\ndata: ',
  'event:message\ndata:',
  'event:message\r\ndata:',
  'event: message\ndata:',
  'event: message\r\ndata:',
  'data: ',
  'data:',
].map((text) => Buffer.from(text));

/** A message that answers one request. */
interface ShortAnswer {
  message: Buffer;
  /** Of the request, as JSON text. */
  id: string;
}

/**
 * The answer to the only request, where a short body holds nothing else: a face that takes messages, not bodies, gets it
 * without the work that a long one needs. Undefined where that is not certain.
 */
export function shortAnswer(
  body: Buffer,
  kind: BodyKind,
  requests: readonly PendingRequest[],
): ShortAnswer | undefined {
  const [request, ...others] = requests;
  const message = kind === 'json' ? body : kind === 'sse' ? onlyEvent(body) : undefined;
  if (!request || others.length > 0 || !message) return undefined;
  return answeredIn(message) === request.id ? { message, id: request.id } : undefined;
}

/**
 * The id, as JSON text, that a message of one answer names. Undefined for anything else, and where it is not certain.
 * @param depth `limits.depth`, where a deeper message must be refused
 */
export function answeredIn(message: Buffer, depth = LIGHT.depth): string | undefined {
  if (weigh(message, { ...LIGHT, depth: Math.min(depth, LIGHT.depth) }) !== 'light') return undefined;
  try {
    const value = parseJson(message.toString('utf8')) as JsonValue;
    if (!isObject(value) || value.jsonrpc !== '2.0' || 'method' in value) return undefined;
    if (!('result' in value) && !('error' in value)) return undefined;
    // of two ids beyond that, one may be read as the other
    const { id } = value;
    return typeof id === 'string' || Number.isSafeInteger(id) ? JSON.stringify(id) : undefined;
  } catch {
    return undefined;
  }
}

/** Found by its bytes: a pattern over the text took 3 of a short message's 100 µs. */
function onlyEvent(body: Buffer): Buffer | undefined {
  const begin = BEGINNINGS.find(
    (one) => body.length > one.length && body.compare(one, 0, one.length, 0, one.length) === 0,
  );
  if (!begin) return undefined;
  const start = begin.length;
  const hasReturns = body.at(-2) === CR;
  const tail = hasReturns ? CRLF_TWICE : LF_TWICE;
  const end = body.length - tail.length;
  if (end <= start || body.compare(tail, 0, tail.length, end) !== 0) return undefined;
  // the first of either is the one behind the data
  const isOne =
    body.indexOf(LF, start) === end + tail.indexOf(LF) && body.indexOf(CR, start) === (hasReturns ? end : -1);
  return isOne ? body.subarray(start, end) : undefined;
}
