import { asGatewayError } from '../../errors.js';
import type { Piece } from '../../json/written.js';
import { type AboutTask, aboutTask } from '../../mcp/meta-keys.js';
import { metaOf, readMessages } from '../../mcp/request.js';
import type { JsonObject, JsonValue } from '../../ports/json.js';
import type { LogFields } from '../../ports/log.js';
import { parseJson } from '../../wire/json/parse.js';
import { CollectedReply } from '../client/collected-reply.js';
import { noFacts } from '../exchange.js';
import type { Taker } from './asked-reply.js';
import type { AskedStream, Course } from './course.js';
import type { AskingDeps } from './deps.js';
import { FilesForServer } from './for-server/files-for-server.js';
import { readQuestion } from './for-server/read-question.js';
import type { OpenQuestion, OpenQuestions, Questioned } from './open-questions.js';
import { tokenIn } from './progress.js';
import { refusalText, serverMessage } from './server-message.js';

/**
 * A server's own questions for files, on one stream. Wharf asks the client in a way that it knows, gives the server the
 * files in the server's way, and then its answer. Other questions pass to the client.
 */
export class ServerQuestions implements Taker {
  readonly #stream: AskedStream;
  readonly #course: Course;
  readonly #deps: AskingDeps;
  readonly #questions: OpenQuestions;
  /** Those that end with this stream. */
  readonly #own = new Set<OpenQuestion>();

  constructor(stream: AskedStream, course: Course, deps: AskingDeps, questions: OpenQuestions) {
    this.#stream = stream;
    this.#course = course;
    this.#deps = deps;
    this.#questions = questions;
  }

  takes(pieces: readonly Piece[], isResumable: boolean, asks: string | undefined): boolean | Promise<void> {
    const message = serverMessage(pieces, asks !== undefined);
    if (!message) return asks === undefined ? false : this.#refuse(parseJson(asks) as JsonValue, pieces);
    if (message.kind === 'cancelled') return this.#questions.cancel(this.#from, message.id);
    const found = readQuestion(message.params, this.#stream.caller.client, this.#deps);
    if (!found) return false;
    const { id, size } = message;
    const { dialect, question } = found;
    if ('problem' in question) return this.#tell({ id, error: { code: -32602, message: question.problem } });
    try {
      const open = this.#questions.begin(this.#from, id, size);
      if (open) {
        // a client that has gone comes back to a stream that it can resume
        const isBound = !isResumable && this.#stream.request !== undefined;
        const task = aboutTask(metaOf(message.params));
        const files = new FilesForServer(this.#stream, { open, isBound, task }, this.#deps);
        if (isBound) this.#own.add(open);
        const answer = files.answer(question, dialect, this.#notify(message.params, open));
        void this.#bring({ id, task }, open, answer);
      } else this.#log('info', {}, 'a server repeated a question that is open: it is not asked twice');
      return true;
    } catch (thrown) {
      const error = asGatewayError(thrown);
      this.#log('info', { code: error.code, limit: error.facts.limit }, "a server's question for a file was refused");
      // the server is read on once it has its refusal, so that refusals cannot pile up
      return this.#tell({ id, error: error.toJsonRpc() as unknown as JsonObject });
    }
  }

  /** What cannot be read could show the client an address of the server's. */
  #refuse(id: JsonValue, pieces: readonly Piece[]): Promise<void> {
    this.#log('warn', {}, "a server's question was refused: it cannot be read");
    return this.#tell({ id, error: { code: -32602, message: refusalText(pieces) } });
  }

  over(): void {
    for (const open of this.#own) open.ended.abort();
  }

  get #from(): Questioned {
    const { exchange, session } = this.#stream.caller;
    return { principal: exchange.principal, session: session?.id };
  }

  /** How the server hears of the progress that it wants with its question. Never rejects. */
  #notify(params: JsonObject, { ended }: OpenQuestion): (progress: JsonObject) => Promise<void> {
    const progressToken = tokenIn(params);
    return async (progress) => {
      if (progressToken === undefined || ended.signal.aborted) return;
      const about = aboutTask(metaOf(params));
      await this.#tell({ method: 'notifications/progress', params: { progressToken, ...progress, ...about } });
    };
  }

  /** From a server's question to the answer that it gets. Never rejects. */
  async #bring(
    { id, task }: { id: JsonValue; task: AboutTask },
    open: OpenQuestion,
    answer: Promise<JsonObject>,
  ): Promise<void> {
    const { signal } = open.ended;
    try {
      const result = await answer.catch((thrown: unknown): JsonObject => {
        const error = asGatewayError(thrown);
        if (!signal.aborted)
          this.#log('warn', { code: error.code, err: error.cause ?? thrown }, "a server's question was not answered");
        return { action: 'cancel' };
      });
      // the answer of a call that is over tells the server as much, where every call has its own stream
      const isTold = !signal.aborted || this.#stream.caller.session?.channel === 'shared';
      if (isTold && !open.isCancelled) await this.#tell({ id, result: { ...result, ...task } });
    } finally {
      this.#own.delete(open);
      open.end();
    }
  }

  /** Tells the server, in the session of the stream. Never rejects. */
  async #tell(message: JsonObject): Promise<void> {
    const { server, limits, held, timeouts } = this.#deps;
    const { caller } = this.#stream;
    const { identity, principal, headers } = caller.exchange;
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
    const reply = new CollectedReply({ id: 'null', held, owner: { principal, server } });
    // the server gets it even where the client has gone
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeouts.upstream).unref();
    const exchange = { headers, body, reply, identity, principal, signal: late.signal, facts: noFacts() };
    try {
      const messages = await readMessages(body, limits);
      await this.#course.forward({ ...caller, exchange, messages });
    } catch (error) {
      this.#log('warn', { err: error }, 'a server could not be given the answer to its question');
    } finally {
      clearTimeout(timer);
      reply.release();
    }
  }

  /** On one stream a server asks as often as it likes. */
  #log(level: 'info' | 'warn', fields: LogFields, text: string): void {
    const { server, log, fewLines } = this.#deps;
    const leftOut = fewLines.take(`${text} ${server}`);
    if (leftOut) log[level]({ ...fields, ...leftOut }, text);
  }
}
