import { RANGE, rangeAt } from '../../../mcp/ranges.js';
import { answersIn } from '../../../mcp/responses.js';
import type { HeldMessage } from '../../../wire/json/reader.js';
import type { MessageCuts } from '../../cut/message-cuts.js';
import type { Addressee, PendingRequest } from '../../pending-request.js';
import { toolOf } from '../../tools/declared-results.js';
import { underLimits } from '../../under-limits.js';
import type { ResultDeps } from '../deps.js';
import type { Work } from '../work.js';
import { noticesIn } from './task-notices.js';
import { RESULT_METHODS } from './tool-of-task.js';

/** Whether the answer to a request may have limits of its own: those of the tool whose result it is. */
export function mayBeUnderTool(request: PendingRequest | undefined, { toolLimits, limits }: LimitDeps): boolean {
  if (!toolLimits.isOn) return false;
  if (!request) return toolLimits.limitsResults;
  const { method, subject } = request;
  if (RESULT_METHODS.has(method)) return true;
  return method === 'tools/call' && toolLimits.lower(limits, [subject]) !== limits;
}

/**
 * The answers in a message with their requests. A list of tools is one by its shape too: a client that resumes a stream at
 * another replica, or after a restart, gets answers whose requests are not known here, and not every tool may be shown.
 */
export function answersWithRequests(message: HeldMessage, answered: Addressee['answered']): Work['answers'] {
  return answersIn(message).map((answer) => {
    const { base, id } = answer;
    const request = answered(id);
    const isList = !request && rangeAt(message, RANGE.tools, [...base, 'result', 'tools']) !== undefined;
    return {
      ...answer,
      request: isList ? { id, method: 'tools/list', subject: undefined, params: {}, base: [] } : request,
    };
  });
}

type LimitDeps = Pick<ResultDeps, 'toolLimits' | 'limits'>;

/**
 * The answers in a message, what it says of tasks, and the limits by which it is judged. On a channel of many messages, and of a task, the tool
 * is known only now: what has been cut by the limits of the server is judged again by those of the tool.
 */
export async function underTools(
  message: HeldMessage,
  cuts: MessageCuts,
  deps: ResultDeps,
  { principal, answered }: Addressee,
): Promise<Pick<Work, 'deps' | 'answers' | 'notices'>> {
  const answers = answersWithRequests(message, answered);
  const notices = noticesIn(message);
  const { toolLimits, taskTools, server } = deps;
  const isAny = [...answers, ...notices].some(({ request }) => mayBeUnderTool(request, deps));
  if (!isAny) return { deps, answers, notices };
  try {
    const traced = await taskTools.traced(answers, { principal, server });
    const told = await taskTools.traced(notices, { principal, server });
    const tools = [...traced, ...told].map(({ request }) => toolOf(request));
    const known = toolLimits.lower(deps.limits, tools);
    // a client that resumes a stream may have waited until its request was forgotten
    const limits = traced.some(({ request }) => !request) ? toolLimits.ofUnknown(known, 'acceptResults') : known;
    if (limits === deps.limits) return { deps, answers: traced, notices: told };
    await cuts.judge(limits);
    return { deps: underLimits(deps, limits), answers: traced, notices: told };
  } catch (error) {
    cuts.fail(error);
    return { deps, answers, notices };
  }
}
