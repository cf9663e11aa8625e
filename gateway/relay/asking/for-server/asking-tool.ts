import type { CallOwner } from '../../../ports/owner.js';
import { calledName, type PendingRequest } from '../../pending-request.js';
import type { AskingDeps } from '../deps.js';

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
