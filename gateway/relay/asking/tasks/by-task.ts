import { isObject } from '../../../json/value.js';
import type { JsonObject, JsonPatch } from '../../../ports/json.js';
import { type Asked, withEdits } from '../../caller.js';
import { answerLocally } from '../../client/local-answer.js';
import type { EditableAnswer, PendingRequest } from '../../pending-request.js';
import type { Course } from '../course.js';
import type { AskingDeps } from '../deps.js';
import { withParams } from '../lacking.js';
import { isOwnKey } from '../rounds/round.js';
import { NoticedReply } from './noticed-reply.js';
import { TaskAsker } from './task-asker.js';
import { changesOf, mayBeTask, questionsIn } from './task-text.js';

/** The requests of the tasks extension (SEP-2663) that show a task's questions, answer them, or end them. */
const ABOUT_TASKS = new Set(['tasks/get', 'tasks/update', 'tasks/cancel', 'subscriptions/listen']);

/** Whether a request may be about what a task asks. */
export function isAboutTasks({ method }: PendingRequest): boolean {
  return ABOUT_TASKS.has(method);
}

/** True for an answer to a question that Wharf has asked for the sake of a task. */
export function answersTask({ method, params }: PendingRequest): boolean {
  const { inputResponses } = params;
  return method === 'tasks/update' && isObject(inputResponses) && Object.keys(inputResponses).some(isOwnKey);
}

/**
 * Asks the clients of tasks: what a server wants is in every answer about the task (`tasks/get`), and in its notifications on
 * a stream of subscriptions; the client answers by `tasks/update`. Its questions for files are put in a form that the
 * client knows, and the server gets its answer once it has the files.
 */
export class AskingByTask {
  readonly #deps: AskingDeps;
  readonly #asker: TaskAsker;

  constructor(deps: AskingDeps) {
    this.#deps = deps;
    this.#asker = new TaskAsker(deps);
  }

  async run(asked: Asked, request: PendingRequest, course: Course): Promise<void> {
    try {
      await this.#go(asked, request, course);
    } catch (error) {
      await course.refuse(error, asked);
    }
  }

  #go(asked: Asked, request: PendingRequest, course: Course): Promise<void> {
    const { subject: taskId } = request;
    if (request.method === 'subscriptions/listen') return course.forward(this.#listening(asked, course));
    if (taskId === undefined) return course.forward(asked);
    switch (request.method) {
      case 'tasks/get': {
        const apply = (answer: EditableAnswer) => this.#showIn(answer, taskId, asked, course);
        return course.forward(withEdits(asked, new Map([[request, { apply, mayChange: mayBeTask }]])));
      }
      case 'tasks/cancel':
        return this.#cancel(asked, taskId, course);
      default:
        return this.#update(asked, { request, taskId }, course);
    }
  }

  async #showIn(answer: EditableAnswer, taskId: string, asked: Asked, course: Course): Promise<void> {
    const requests = questionsIn(answer, this.#deps.limits);
    const changes = requests && (await this.#changes(taskId, requests, asked, course));
    for (const { path, value } of changes ?? []) {
      const at = [...answer.base, 'result', ...path];
      if (value === undefined) answer.edits.remove(at);
      else answer.edits.set(at, value);
    }
  }

  async #changes(taskId: string, requests: JsonObject, asked: Asked, course: Course): Promise<JsonPatch[] | undefined> {
    const shown = await this.#asker.show(requests, { asked, course, taskId });
    return shown && changesOf(shown);
  }

  #listening(asked: Asked, course: Course): Asked {
    const { server, limits, log, fewLines } = this.#deps;
    const { exchange } = asked;
    const reply = new NoticedReply(exchange.reply, {
      limits,
      changes: ({ taskId, requests }) => this.#changes(taskId, requests, asked, course),
      leftOut: (err) => {
        // one stream may have any number of them
        const leftOut = fewLines.take(`unreadable task ${server}`);
        if (leftOut) log.warn({ err, ...leftOut }, 'what a server told of a task was left out: it cannot be read');
      },
    });
    return { ...asked, exchange: { ...exchange, reply } };
  }

  async #cancel(asked: Asked, taskId: string, course: Course): Promise<void> {
    await course.forward(asked);
    await this.#asker.forget(taskId, asked);
  }

  async #update(
    asked: Asked,
    { request, taskId }: { request: PendingRequest; taskId: string },
    course: Course,
  ): Promise<void> {
    if (!answersTask(request)) return course.forward(asked);
    const all = Object.entries(request.params.inputResponses as JsonObject);
    const own = all.filter(([key]) => isOwnKey(key));
    const others = all.filter(([key]) => !isOwnKey(key));
    const isTaken = await this.#asker.hear(Object.fromEntries(own), { asked, course, taskId });
    const { exchange, messages } = asked;
    // of a task that nothing is known of, the server says what it is
    if (isTaken && others.length === 0) return answerLocally(exchange, messages, { result: {} });
    const changes = [{ path: ['inputResponses'], value: Object.fromEntries(others) }];
    await course.forward({ ...asked, messages: await withParams(messages, changes, this.#deps.limits) });
  }
}
