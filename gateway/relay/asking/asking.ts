import { eraOf } from '../../mcp/era.js';
import type { ClientMessages } from '../../mcp/request.js';
import type { Asked, Caller } from '../caller.js';
import { onlyRequest } from '../client/local-answer.js';
import type { PendingRequest } from '../pending-request.js';
import { AskedReply } from './asked-reply.js';
import { AskingByRequest } from './by-request.js';
import { AskingByResult } from './by-result.js';
import type { Course } from './course.js';
import type { AskingDeps } from './deps.js';
import { underAskingTool } from './for-server/asking-tool.js';
import { areFilesJudged } from './for-server/read-question.js';
import { asksBy } from './means.js';
import { OpenQuestions } from './open-questions.js';
import { refuseUnseenFiles } from './rounds/unseen-files.js';
import { isOwnState } from './sealed-state.js';
import { ServerQuestions } from './server-questions.js';
import { ListenedQuestions, SessionCalls } from './session-questions.js';
import { AskingByTask, answersTask, isAboutTasks } from './tasks/by-task.js';

/** The requests of a session on whose streams servers ask. A task's questions come with its result. */
const WITH_QUESTIONS = new Set(['tools/call', 'tasks/result', 'prompts/get', 'resources/read', 'completion/complete']);

/** The requests of the revisions without sessions that a server may answer by what it wants first. */
const WITH_ROUNDS = new Set(['tools/call', 'prompts/get', 'resources/read']);

/** A cheap test, which most messages fail: whether a client may be telling of Wharf's own questions. */
export function mayTellOfQuestions({ cancelled, progress, responses }: ClientMessages): boolean {
  return cancelled.length > 0 || progress.length > 0 || responses.length > 0;
}

/**
 * Asks people for the files that calls lack, and finishes the calls with them. A client that cannot be asked, or is not
 * answered in time, gets a result that says what to do.
 */
export class Asking {
  readonly #deps: AskingDeps;
  readonly #open: OpenQuestions;
  readonly #calls = new SessionCalls();
  readonly #byRequest: AskingByRequest;
  readonly #byResult: AskingByResult;
  readonly #byTask: AskingByTask;
  /** Whether no file may pass in an answer to a server's question without being seen. */
  readonly #areFilesJudged: boolean;

  constructor(deps: AskingDeps) {
    this.#deps = deps;
    this.#areFilesJudged = areFilesJudged(deps);
    this.#open = new OpenQuestions(deps);
    this.#byRequest = new AskingByRequest(deps, this.#open, this.#calls);
    this.#byResult = new AskingByResult(deps);
    this.#byTask = new AskingByTask(deps);
  }

  /**
   * Takes what a client says of Wharf's own questions.
   * @param judge lets the server judge a caller that says something of what `asked` was asked @throws GatewayError where
   * it does not take it
   * @returns whether that was all, so that the server hears nothing of it
   */
  takes(asked: Asked, judge: (asked: string) => Promise<void>): Promise<boolean> {
    return this.#byRequest.takes(asked, judge);
  }

  /** Brings a session's GET stream on its way: its server may ask on it, or repeat what it has asked before. */
  listen(caller: Caller, stream: (caller: Caller) => Promise<void>, course: Course): Promise<void> {
    const isAsked = this.#deps.order.length > 0 && asksBy(caller.client) === 'request';
    if (!isAsked && !this.#mustSee(caller.client)) return stream(caller);
    const { reply, questions } = this.#questionsOn(caller, course, isAsked ? this.#deps : { ...this.#deps, order: [] });
    reply.taker = isAsked ? new ListenedQuestions(caller, questions, this.#calls) : questions;
    return stream({ ...caller, exchange: { ...caller.exchange, reply } });
  }

  /** What a server asks on a stream that is not that of one call whose client can be asked. */
  #questionsOn(caller: Caller, course: Course, deps: AskingDeps): { reply: AskedReply; questions: ServerQuestions } {
    const reply = new AskedReply(caller.exchange.reply, undefined, deps.server);
    // a session outlives each of its GET streams
    const { signal: never } = new AbortController();
    const own = { caller, request: undefined, reply, cancelled: never, left: never };
    return { reply, questions: new ServerQuestions(own, course, deps, this.#open) };
  }

  /**
   * Whether its server's questions for files are refused because the client cannot be asked for them: whatever it declares, and
   * in whatever version, servers may ask it, and it may answer them with a file that no rule has been asked about.
   */
  #mustSee({ protocolVersion }: Caller['client']): boolean {
    return this.#areFilesJudged && eraOf(protocolVersion).elicitsBy !== 'result';
  }

  /** Brings a POST on its way, and a call in it that lacks files to its end. */
  async run(asked: Asked, course: Course): Promise<void> {
    if (this.#areFilesJudged) refuseUnseenFiles(asked.messages);
    const request = onlyRequest(asked.messages);
    const { method = '' } = request ?? {};
    const by = this.#deps.order.length > 0 ? asksBy(asked.client) : undefined;
    if (request && WITH_ROUNDS.has(method) && this.#asksByResult(asked, request, by))
      return this.#inRounds(asked, request, course);
    if (request && this.#asksByTask(asked, request, by)) return this.#byTask.run(asked, request, course);
    if (request && by === 'request' && WITH_QUESTIONS.has(method) && this.#byRequest.canAsk(asked))
      return this.#byRequest.run(asked, request, course);
    const seen = this.#mustSee(asked.client) ? this.#seen(asked, course) : asked;
    try {
      await course.forward(seen);
    } catch (error) {
      await course.refuse(error, seen);
    }
  }

  #seen(asked: Asked, course: Course): Asked {
    if (!asked.messages.requests.some(({ method }) => WITH_QUESTIONS.has(method))) return asked;
    const { reply, questions } = this.#questionsOn(asked, course, { ...this.#deps, order: [] });
    reply.taker = questions;
    return { ...asked, exchange: { ...asked.exchange, reply } };
  }

  /** Nothing is kept here between two calls, so that one with limits of its own can be asked by another of these. */
  #inRounds(asked: Asked, request: PendingRequest, course: Course): Promise<void> {
    if (!this.#deps.toolLimits.isOn) return this.#byResult.run(asked, request, course);
    const owner = { principal: asked.exchange.principal, server: this.#deps.server };
    return underAskingTool(request, owner, this.#deps).then((deps) =>
      new AskingByResult(deps).run(asked, request, course),
    );
  }

  /** A client declares what it can be asked with each request, but answers what it was asked before as well. */
  #asksByResult({ client }: Asked, { params }: PendingRequest, by: ReturnType<typeof asksBy>): boolean {
    if (by !== undefined || this.#deps.order.length === 0) return by === 'result';
    const { elicitsBy } = eraOf(client.protocolVersion);
    return elicitsBy === 'result' && isOwnState(this.#deps.seal, params.requestState);
  }

  /** As `#asksByResult`, for the tasks that a call may have become. */
  #asksByTask({ client }: Asked, request: PendingRequest, by: ReturnType<typeof asksBy>): boolean {
    if (by !== undefined || this.#deps.order.length === 0) return by === 'result' && isAboutTasks(request);
    return eraOf(client.protocolVersion).elicitsBy === 'result' && answersTask(request);
  }
}
