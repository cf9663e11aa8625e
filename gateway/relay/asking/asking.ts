import type { Asked } from '../caller.js';
import { onlyRequest } from '../client/local-answer.js';
import { AskingByRequest } from './by-request.js';
import { AskingByResult } from './by-result.js';
import type { Course } from './course.js';
import type { AskingDeps } from './deps.js';
import { asksBy } from './means.js';
import { OpenQuestions } from './open-questions.js';

/**
 * Asks people for the files that calls lack, and finishes the calls with them. A client that cannot be asked, or is not
 * answered in time, gets a result that says what to do.
 */
export class Asking {
  readonly #deps: AskingDeps;
  readonly #byRequest: AskingByRequest;
  readonly #byResult: AskingByResult;

  constructor(deps: AskingDeps) {
    this.#deps = deps;
    this.#byRequest = new AskingByRequest(deps, new OpenQuestions(deps));
    this.#byResult = new AskingByResult(deps);
  }

  /**
   * Takes what a client says of Wharf's own questions.
   * @returns whether that was all, so that the server hears nothing of it
   */
  takes(asked: Asked): Promise<boolean> {
    return this.#byRequest.takes(asked);
  }

  /** Brings a POST on its way, and a call in it that lacks files to its end. */
  async run(asked: Asked, course: Course): Promise<void> {
    const request = onlyRequest(asked.messages);
    const by = request?.method === 'tools/call' && this.#deps.order.length > 0 ? asksBy(asked.client) : undefined;
    if (request && by === 'result') return this.#byResult.run(asked, request, course);
    if (request && by && this.#byRequest.canAsk(asked)) return this.#byRequest.run(asked, request, course);
    try {
      await course.forward(asked);
    } catch (error) {
      await course.refuse(error, asked);
    }
  }
}
