import { answersIn } from '../../../mcp/responses.js';
import type { HeldMessage } from '../../../wire/json/reader.js';
import type { MessageCuts } from '../../cut/message-cuts.js';
import type { Addressee, PendingRequest } from '../../pending-request.js';
import { toolOf } from '../../tools/declared-results.js';
import { underLimits } from '../../under-limits.js';
import type { ResultDeps } from '../deps.js';
import type { Work } from '../work.js';
import { RESULT_METHODS } from './tool-of-task.js';

/** Whether the answer to a request may have limits of its own: those of the tool whose result it is. */
export function mayBeUnderTool(request: PendingRequest | undefined, { toolLimits, limits }: LimitDeps): boolean {
  if (!toolLimits.isOn || !request) return false;
  const { method, subject } = request;
  if (RESULT_METHODS.has(method)) return true;
  return method === 'tools/call' && toolLimits.lower(limits, [subject]) !== limits;
}

type LimitDeps = Pick<ResultDeps, 'toolLimits' | 'limits'>;

/**
 * The answers in a message, and the limits by which it is judged. On a channel of many messages, and of a task, the tool
 * is known only now: what has been cut by the limits of the server is judged again by those of the tool.
 */
export async function underTools(
  message: HeldMessage,
  cuts: MessageCuts,
  deps: ResultDeps,
  { principal, answered }: Addressee,
): Promise<{ deps: ResultDeps; answers: Work['answers'] }> {
  const answers = answersIn(message).map((answer) => ({ ...answer, request: answered(answer.id) }));
  const { toolLimits, taskTools, server } = deps;
  if (!answers.some(({ request }) => mayBeUnderTool(request, deps))) return { deps, answers };
  try {
    const traced = await taskTools.traced(answers, { principal, server });
    const limits = toolLimits.lower(
      deps.limits,
      traced.map(({ request }) => toolOf(request)),
    );
    if (limits === deps.limits) return { deps, answers: traced };
    await cuts.judge(limits);
    return { deps: underLimits(deps, limits), answers: traced };
  } catch (error) {
    cuts.fail(error);
    return { deps, answers };
  }
}
