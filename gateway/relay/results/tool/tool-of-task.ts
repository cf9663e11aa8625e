import { lightValue } from '../../../json/light-value.js';
import { isObject } from '../../../json/value.js';
import { RANGE, rangeAt } from '../../../mcp/ranges.js';
import { capabilitiesOf } from '../../../mcp/request.js';
import type { Limits } from '../../../policy/limits.js';
import type { JsonPath, JsonValue } from '../../../ports/json.js';
import type { Log } from '../../../ports/log.js';
import type { StateStore } from '../../../ports/state-store.js';
import type { StateKeys } from '../../../secrets/state-keys.js';
import { parseJson } from '../../../wire/json/parse.js';
import type { HeldMessage } from '../../../wire/json/reader.js';
import type { FileNames, PendingRequest, TracedRequest } from '../../pending-request.js';
import { toldBy } from '../told-names.js';

/** Methods that return a task's result. */
export const RESULT_METHODS: ReadonlySet<string> = new Set(['tasks/result', 'tasks/get']);

/** Name of the extension by which clients of 2026-07-28 declare that a call may become a task. */
const EXTENSION = 'io.modelcontextprotocol/tasks';

/** Longer names are not stored: tools have none, and a name is kept as long as the task. */
const MAX_SUBJECT = 1024;

/** The names of a call's files are stored up to this length, as JSON: one path, or a short list of them. */
const MAX_NAMES = 1024;

/** Statuses of a task that is over: it "MUST NOT transition to any other status". */
export const TERMINAL: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled']);

/** Text in every answer that creates a task. */
const MARK = '"taskId"';

interface TaskToolsDeps {
  state: StateStore;
  keys: StateKeys;
  log: Log;
  /** How long a task's tool is remembered, milliseconds. */
  keptMs: number;
}

/** The owner of a task. */
interface TaskOwner {
  principal: string;
  server: string;
}

/** What a task runs, as far as its result depends on it. */
export interface TaskCall {
  /** By the server's own name. */
  tool: string;
  /** The file names in the arguments of the call. */
  names?: FileNames | undefined;
}

/**
 * Remembers which tool a task runs, and the file names in its call: the operator's and the tool's own declarations about
 * results apply to the task's too, files are named after the call, and a request for the result names only the task.
 */
export class TaskTools {
  readonly #deps: TaskToolsDeps;

  constructor(deps: TaskToolsDeps) {
    this.#deps = deps;
  }

  /** Milliseconds for which a task is remembered. */
  get keptMs(): number {
    return this.#deps.keptMs;
  }

  /** Records the task that a call has become. Never fails the call's answer. */
  async note(
    message: HeldMessage,
    { base, request }: { base: JsonPath; request: PendingRequest },
    owner: TaskOwner,
    limits: Pick<Limits, 'values'>,
  ): Promise<void> {
    const call = callThatMayBecomeTask(request);
    const task = call && taskBegunIn(message, base, limits);
    if (!call || !task) return;
    if (!task.isOver) request.becameTask?.(task.id);
    await this.remember(task.id, call, owner);
  }

  /** @param call as of `callThatMayBecomeTask`. Never rejects */
  async remember(taskId: string, call: TaskCall, owner: TaskOwner): Promise<void> {
    const { state, keys, keptMs, log } = this.#deps;
    try {
      await state.create(keys.of('task', named(taskId, owner)), JSON.stringify(call), keptMs, owner);
    } catch (error) {
      log.warn({ err: error }, 'the tool of a task could not be remembered');
    }
  }

  /** Answers, with the tools of requests that name only their tasks. @throws GatewayError `state_unavailable` */
  traced<Answer extends { request: PendingRequest | undefined }>(
    answers: readonly Answer[],
    owner: TaskOwner,
  ): Promise<(Answer & { request: TracedRequest | undefined })[]> {
    return Promise.all(
      answers.map(async (answer) => {
        const { request } = answer;
        if (!request) return answer;
        const call = await this.#find(request, owner);
        return { ...answer, request: { ...request, taskTool: call?.tool, taskNames: call?.names } };
      }),
    );
  }

  async #find({ method, subject }: PendingRequest, owner: TaskOwner): Promise<TaskCall | undefined> {
    return RESULT_METHODS.has(method) && subject !== undefined ? this.#callOf(subject, owner) : undefined;
  }

  /** The tool that a task runs, by the server's own name; undefined where its call was not seen. @throws GatewayError `state_unavailable` */
  async toolOf(taskId: string, owner: TaskOwner): Promise<string | undefined> {
    return (await this.#callOf(taskId, owner))?.tool;
  }

  async #callOf(taskId: string, owner: TaskOwner): Promise<TaskCall | undefined> {
    for (const key of this.#deps.keys.all('task', named(taskId, owner))) {
      const call = await this.#deps.state.read(key);
      if (call !== undefined) return callIn(call);
    }
    return undefined;
  }
}

/** Undefined for what another version has stored: then the result is as one whose call was not seen. */
function callIn(text: string): TaskCall | undefined {
  try {
    const value = parseJson(text) as JsonValue;
    if (!isObject(value) || typeof value.tool !== 'string') return undefined;
    const { tool, names } = value;
    if (typeof names === 'string') return { tool, names };
    return Array.isArray(names) && names.every(isText) ? { tool, names } : { tool };
  } catch {
    return undefined;
  }
}

function isText(value: JsonValue): value is string {
  return typeof value === 'string';
}

/** A task's id alone may also exist at another server, or for another client. */
function named(taskId: string, { principal, server }: TaskOwner): string {
  return JSON.stringify([server, principal, taskId]);
}

/** True when the client has declared that this call may be answered with a task. */
export function mayBecomeTask({ method, params }: PendingRequest): boolean {
  if (method !== 'tools/call') return false;
  if (isObject(params.task)) return true;
  const extensions = capabilitiesOf(params)?.extensions;
  return isObject(extensions) && extensions[EXTENSION] !== undefined;
}

/** What a call runs whose client has declared that it may be answered with a task; undefined for any other. */
export function callThatMayBecomeTask(request: PendingRequest): TaskCall | undefined {
  const { subject, params } = request;
  if (subject === undefined || subject.length > MAX_SUBJECT || !mayBecomeTask(request)) return undefined;
  const names = isObject(params.arguments) ? toldBy(params.arguments) : undefined;
  return names !== undefined && JSON.stringify(names).length <= MAX_NAMES
    ? { tool: subject, names }
    : { tool: subject };
}

/** A cheap test of an answer. */
export function mayNameTask(json: Buffer): boolean {
  return json.includes(MARK);
}

interface BegunTask {
  id: string;
  /** It is so from the beginning. */
  isOver: boolean;
}

/** The task that an answer creates. One that creates a task is small. */
export function taskBegunIn(
  message: HeldMessage,
  base: JsonPath,
  limits: Pick<Limits, 'values'>,
): BegunTask | undefined {
  const range = message.malformed ? undefined : rangeAt(message, RANGE.result, [...base, 'result']);
  if (!range || !mayNameTask(message.slice(range.start, range.end))) return undefined;
  return taskIn(lightValue(message, range, limits));
}

/**
 * The task in an answer: 2025-11-25 has it in a member of its own, the extension has its fields in the result itself.
 */
function taskIn(result: JsonValue | undefined): BegunTask | undefined {
  if (!isObject(result)) return undefined;
  const task = isObject(result.task) ? result.task : result.resultType === 'task' ? result : undefined;
  return typeof task?.taskId === 'string' ? { id: task.taskId, isOver: TERMINAL.has(task.status) } : undefined;
}
