import type { StateKeys } from '../../files/state-keys.js';
import { lightValue } from '../../json/light-value.js';
import { isObject } from '../../json/value.js';
import { RANGE, rangeAt } from '../../mcp/ranges.js';
import { capabilitiesOf } from '../../mcp/request.js';
import type { Limits } from '../../policy/limits.js';
import type { JsonValue } from '../../ports/json.js';
import type { Log } from '../../ports/log.js';
import type { StateStore } from '../../ports/state-store.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import type { PendingRequest } from '../pending-request.js';

/** Methods that bring what a task has led to. */
const RESULT_METHODS = new Set(['tasks/result', 'tasks/get']);

/** Name of the extension by which clients of 2026-07-28 say that a call may become a task. */
const EXTENSION = 'io.modelcontextprotocol/tasks';

/** No tool has a longer name, and it is kept for as long as the task may be asked for. */
const MAX_SUBJECT = 1024;

/** What an answer has that tells of a task. */
const MARK = '"taskId"';

export interface TaskToolsDeps {
  state: StateStore;
  keys: StateKeys;
  log: Log;
  /** How long it is known which tool a task runs, milliseconds. */
  keptMs: number;
}

/** Whose task it is. */
export interface TaskOwner {
  principal: string;
  server: string;
}

/**
 * Which tool a task runs: what the operator and the tool itself say of its results holds for the task's as well, and
 * who fetches them names only the task.
 */
export class TaskTools {
  readonly #deps: TaskToolsDeps;

  constructor(deps: TaskToolsDeps) {
    this.#deps = deps;
  }

  /** Takes note of a task that a call has become. Never fails its answer. */
  async note(
    message: HeldMessage,
    base: readonly (string | number)[],
    request: PendingRequest,
    owner: TaskOwner,
    limits: Pick<Limits, 'values'>,
  ): Promise<void> {
    if (!mayBecomeTask(request) || request.subject === undefined || message.malformed) return;
    if (request.subject.length > MAX_SUBJECT) return;
    const range = rangeAt(message, RANGE.result, [...base, 'result']);
    if (!range || !message.slice(range.start, range.end).includes(MARK)) return;
    // what tells of a task has little else
    const taskId = taskIn(lightValue(message, range, limits));
    if (taskId === undefined) return;
    const { state, keys, keptMs, log } = this.#deps;
    try {
      await state.create(keys.of('task', named(taskId, owner)), request.subject, keptMs, owner);
    } catch (error) {
      log.warn({ err: error }, 'the tool of a task could not be remembered');
    }
  }

  /** Finds out which tool's results a request is about, where only its task is named. @throws GatewayError `state_unavailable` */
  async find(request: PendingRequest, owner: TaskOwner): Promise<void> {
    if (!RESULT_METHODS.has(request.method) || request.subject === undefined || request.tool !== undefined) return;
    for (const key of this.#deps.keys.all('task', named(request.subject, owner))) {
      request.tool ??= await this.#deps.state.read(key);
    }
  }
}

/** A task's id alone may be another server's, or another client's, as well. */
function named(taskId: string, { principal, server }: TaskOwner): string {
  return JSON.stringify([server, principal, taskId]);
}

/** Whether the client has said that this call may be answered with a task. */
export function mayBecomeTask({ method, params }: PendingRequest): boolean {
  if (method !== 'tools/call') return false;
  if (isObject(params.task)) return true;
  const extensions = capabilitiesOf(params)?.extensions;
  return isObject(extensions) && extensions[EXTENSION] !== undefined;
}

/** The task that an answer tells of: 2025-11-25 has it in a member of its own, the extension has its fields flat. */
function taskIn(result: JsonValue | undefined): string | undefined {
  if (!isObject(result)) return undefined;
  const task = isObject(result.task) ? result.task : result.resultType === 'task' ? result : undefined;
  return typeof task?.taskId === 'string' ? task.taskId : undefined;
}
