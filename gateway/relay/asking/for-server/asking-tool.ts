import type { CallOwner } from '../../../ports/owner.js';
import { calledName, type PendingRequest } from '../../pending-request.js';
import type { AskingDeps } from '../deps.js';

/** Requests for the result of a task, which name only the task. */
const OF_TASKS = new Set(['tasks/result', 'tasks/get']);

/** The tool in which a server asks: of a task, the one that it runs. Prompts and resources are not tools. */
export async function askingTool(
  request: PendingRequest | undefined,
  owner: CallOwner,
  { taskTools }: Pick<AskingDeps, 'taskTools'>,
): Promise<string | undefined> {
  const { method, subject } = request ?? {};
  if (request && method === 'tools/call') return calledName(request);
  return method === 'tasks/result' && subject !== undefined ? taskTools.toolOf(subject, owner) : undefined;
}

/**
 * What this room works with, under the limits of the tool in which a server asks. A tool that is not known may be any.
 * @param request in which it asks; undefined on a session's own stream
 */
export async function underAskingTool<Deps extends Pick<AskingDeps, 'limits' | 'toolLimits' | 'taskTools'>>(
  request: Pick<PendingRequest, 'method' | 'subject'> | undefined,
  owner: CallOwner,
  deps: Deps,
): Promise<Deps> {
  const { limits: before, toolLimits, taskTools } = deps;
  if (!toolLimits.isOn) return deps;
  const { method, subject } = request ?? {};
  const isOfTask = method !== undefined && OF_TASKS.has(method);
  const ofTask = isOfTask && subject !== undefined ? await taskTools.toolOf(subject, owner) : undefined;
  const tool = method === 'tools/call' ? subject : ofTask;
  const isUnknown = tool === undefined && (method === undefined || isOfTask);
  const limits = isUnknown ? toolLimits.ofUnknown(before, 'accept') : toolLimits.lower(before, [tool]);
  return limits === before ? deps : { ...deps, limits };
}
