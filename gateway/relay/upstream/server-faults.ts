import type { UpstreamAnswer } from '../../ports/upstream.js';
import { OPEN_ARRAY, OPEN_OBJECT, SPACE } from '../../wire/json/chars.js';
import { withoutMark } from '../../wire/json/reader.js';
import type { Caller } from '../caller.js';
import type { CommonDeps } from '../common-deps.js';
import { beginningOf } from './beginning.js';

/** Lines of a kind that a server causes in a minute: the others say the same. */
const MOST = 1;

const TEXTS = {
  tooMany: 'a server refuses requests, or what is in front of it does: it is asked too often',
  fault: 'a server answers with an error of its own, or what is in front of it does',
  page:
    'a server answers with something that is not a message of MCP, such as the page of a login or of a proxy in front of ' +
    'it, or the url of the server in the config leads elsewhere',
} as const;

type Kind = keyof typeof TEXTS;

type Answer = Pick<UpstreamAnswer, 'status' | 'kind' | 'headers'>;

/** What went to the server. */
interface Asked {
  /** Of the first message that was posted. */
  method: string | undefined;
  /** True where MCP has an answer to it. */
  isRequest: boolean;
}

type FaultDeps = Pick<CommonDeps, 'server' | 'log' | 'fewLines'>;

/** What is known about the request that an answer is for. */
export function askedBy({ messages }: Pick<Caller, 'messages'>): Asked {
  return { method: messages?.firstMethod, isRequest: messages !== undefined && messages.requests.length > 0 };
}

/**
 * A reader of the chunks of a body. It looks at the first one, and warns in the log where the server has not answered as one
 * of MCP.
 */
export function tellingOfFault<Taken>(
  deps: FaultDeps,
  answer: UpstreamAnswer,
  caller: Pick<Caller, 'messages'>,
  take: (chunk: Buffer) => Taken,
): (chunk: Buffer) => Taken {
  if (!mayBeFault(answer)) return take;
  let isFirst = true;
  return (chunk) => {
    if (isFirst) noteFault(deps, answer, askedBy(caller), chunk);
    isFirst = false;
    return take(chunk);
  };
}

/** A cheap test, by the head of an answer. */
export function mayBeFault({ status, kind }: Answer): boolean {
  return status >= 400 || kind === 'bytes' || kind === 'none';
}

/**
 * Tells the log that a server, or what is in front of it, does not answer as one of MCP does. Its clients get what came, and
 * most show their users nothing of it.
 * @param beginning of its body, as far as that has come
 */
export function noteFault(
  { server, log, fewLines }: FaultDeps,
  answer: Answer,
  asked: Asked,
  beginning?: Buffer,
): void {
  const kind = kindOf(answer, asked, beginning);
  const leftOut = kind && fewLines.take(`${kind} ${server}`, MOST);
  if (!leftOut) return;
  const { status, headers } = answer;
  const { 'content-type': type, 'retry-after': retryAfter } = headers;
  const { method } = asked;
  log.warn({ method, status, type, retryAfter, body: beginning && beginningOf(beginning), ...leftOut }, TEXTS[kind]);
}

function kindOf(
  { status, kind }: Answer,
  { isRequest, method }: Asked,
  beginning: Buffer | undefined,
): Kind | undefined {
  if (status === 429) return 'tooMany';
  if (status >= 500) return 'fault';
  // a GET shows nothing: a server without that stream often has no route for it
  if (method === undefined) return undefined;
  if (kind === 'none') return isRequest && status < 300 ? 'page' : undefined;
  // to a notification a success may say what it likes
  return kind === 'bytes' && (isRequest || status >= 300) && !beginsJson(beginning) ? 'page' : undefined;
}

function beginsJson(bytes: Buffer | undefined): boolean {
  const first = bytes && withoutMark(bytes).find((byte) => byte > SPACE);
  return first === OPEN_OBJECT || first === OPEN_ARRAY;
}
