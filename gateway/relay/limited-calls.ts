import { breathe } from '../budget/turn.js';
import type { GatewayError } from '../errors.js';
import { argumentTooLarge } from '../mcp/body-meter.js';
import type { ClientMessages } from '../mcp/request.js';
import type { TooLongArgument } from '../mcp/shortened-body.js';
import type { Limits } from '../policy/limits.js';
import type { ToolLimits } from '../policy/tool-limits.js';
import type { Owner } from '../ports/owner.js';
import type { LimitedCall, RequestQuotas } from '../quotas/requests.js';
import { IncomingBody } from './client/incoming-body.js';
import { onlyRequest } from './client/local-answer.js';
import type { Exchange } from './exchange.js';
import { calledName, type PendingRequest } from './pending-request.js';

/** Bytes that are measured in one step. */
const STEP = 64 * 1024;

/** Most characters of a tool's name in an error. */
const LONGEST_NAME = 256;

/** The message was counted when it came, and is not kept a second time. */
const COUNTED = { grow: () => {}, release: () => {} };

/** Answers a POST within what its caller may send, of which every request of a batch is a part. */
export function withinLimits(
  callers: Pick<RequestQuotas, 'beginFurther'>,
  { identity }: Exchange,
  { requests }: ClientMessages,
  answer: () => Promise<void>,
): Promise<void> {
  const further = requests.length - 1;
  if (further < 1) return answer();
  return callers.beginFurther(identity, further).then((end) => answer().finally(end));
}

/** Names of the called tools, as their server knows them. */
export function calledTools({ requests }: ClientMessages): string[] {
  return requests.flatMap(({ method, subject }) => (method === 'tools/call' && subject !== undefined ? [subject] : []));
}

/** The calls whose number is limited for their tools. */
export function countedCalls(requests: readonly PendingRequest[], toolLimits: ToolLimits): LimitedCall[] {
  return requests.flatMap((request): LimitedCall[] => {
    const { method, subject } = request;
    const amounts = method === 'tools/call' && subject !== undefined ? toolLimits.of(subject)?.amounts : undefined;
    if (!amounts || Object.keys(amounts).length === 0) return [];
    return [{ tool: (calledName(request) ?? '').slice(0, LONGEST_NAME), amounts }];
  });
}

/**
 * Measures a message again by the limits of the tools that it calls: which they are, it may say in its last bytes, so it
 * has come by the limits of its server.
 * @param owner whose message it is
 * @returns an argument that is too long for a call
 * @throws GatewayError `message_too_large`, `argument_too_large`
 */
export async function measureAgain(bytes: Buffer, owner: Owner, limits: Limits): Promise<TooLongArgument | undefined> {
  if (bytes.length <= limits.message) return undefined;
  const body = new IncomingBody(limits, COUNTED);
  for (let at = 0; at < bytes.length; at += STEP) {
    body.add(bytes.subarray(at, at + STEP));
    do await breathe(owner);
    while (!body.catchUp());
  }
  return body.tooLong;
}

/** Adds what to do instead, if the call's tool takes a file there. @throws GatewayError `argument_too_large` */
export function noteTooLong(tooLong: TooLongArgument, messages: ClientMessages, limits: Limits): void {
  const request = onlyRequest(messages);
  if (request?.method !== 'tools/call') throw tooLongError(tooLong, limits);
  request.tooLong = tooLong;
}

/** For an argument that no tool takes as a file. */
export function tooLongError({ path, size }: TooLongArgument, { inlineArgument }: Limits): GatewayError {
  return argumentTooLarge(path, inlineArgument, size);
}
