import { asGatewayError, GatewayError } from '../../errors.js';
import { readMessages } from '../../mcp/request.js';
import type { Dialect } from '../../ports/dialect.js';
import type { ServerQuestion } from '../../ports/file-question.js';
import type { JsonObject, JsonValue } from '../../ports/json.js';
import { CollectedReply } from '../client/collected-reply.js';
import type { Piece } from '../cut/splice.js';
import { noFacts } from '../exchange.js';
import type { Taker } from './asked-reply.js';
import type { Course, OpenCall } from './course.js';
import type { AskingDeps } from './deps.js';
import { FilesForServer } from './files-for-server.js';
import { serverMessage } from './server-message.js';

/**
 * A server's own questions for files, during one call. Wharf asks the client in a way that it knows, gives the server
 * the files in the server's way, and then its answer. Other questions pass to the client.
 */
export class ServerQuestions implements Taker {
  readonly #call: OpenCall;
  readonly #course: Course;
  readonly #deps: AskingDeps;
  /** Those that wait for an answer, by their ids. */
  readonly #open = new Map<JsonValue, AbortController>();

  constructor(call: OpenCall, course: Course, deps: AskingDeps) {
    this.#call = call;
    this.#course = course;
    this.#deps = deps;
  }

  takes(pieces: readonly Piece[]): boolean {
    const message = serverMessage(pieces);
    if (!message) return false;
    if (message.kind === 'cancelled') {
      const open = this.#open.get(message.id);
      open?.abort(new GatewayError('internal', {}, 'its server has cancelled it'));
      return open !== undefined;
    }
    const found = this.#read(message.params);
    if (!found) return false;
    void this.#bring(message.id, found);
    return true;
  }

  over(): void {
    for (const open of this.#open.values()) open.abort();
  }

  /** Undefined for what the client itself can answer. */
  #read(params: JsonObject): { dialect: Dialect; question: ServerQuestion | 'invalid' } | undefined {
    for (const dialect of this.#deps.dialects) {
      const question = dialect.asks?.fromServer(params);
      if (!question) continue;
      if (question === 'invalid') return { dialect, question };
      const { client } = this.#call.asked;
      // a form the client answers itself, if it knows such fields, or if there is no other way to ask it
      const isInForm = question.files.every(({ endpoint }) => !endpoint);
      const file = { name: 'file', message: '', maxSize: 1, maxInline: 1, upload: { url: '', id: '' } };
      const files = new FilesForServer(this.#call, this.#call.ended, this.#deps);
      if (isInForm && (dialect.asks?.question(file, client) || !files.canAsk(question))) return undefined;
      return { dialect, question };
    }
    return undefined;
  }

  /** From a server's question to the answer that it gets. */
  async #bring(id: JsonValue, { dialect, question }: { dialect: Dialect; question: ServerQuestion | 'invalid' }) {
    const { log, server } = this.#deps;
    const { exchange } = this.#call.asked;
    if (question === 'invalid') {
      const error = { code: -32602, message: 'each field of type "file" needs an entry in uploadEndpoints' };
      return this.#tell({ id, error });
    }
    const open = new AbortController();
    this.#open.set(id, open);
    const signal = AbortSignal.any([open.signal, exchange.signal, this.#call.ended]);
    try {
      const files = new FilesForServer(this.#call, signal, this.#deps);
      const result = await files.answer(question, dialect);
      // it waits for nothing any more
      if (!open.signal.aborted) await this.#tell({ id, result });
    } catch (thrown) {
      if (open.signal.aborted) return;
      const error = asGatewayError(thrown);
      log.warn({ server, code: error.code, err: error.cause ?? thrown }, "a server's question could not be answered");
      await this.#tell({ id, result: { action: 'cancel' } });
    } finally {
      this.#open.delete(id);
    }
  }

  /** Tells the server, in the session of the call. */
  async #tell(message: JsonObject): Promise<void> {
    const { server, limits, held, timeouts, log } = this.#deps;
    const { asked } = this.#call;
    const { principal, headers } = asked.exchange;
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
    const reply = new CollectedReply({ id: 'null', held, owner: { principal, server } });
    const exchange = {
      headers,
      body,
      reply,
      principal,
      // the server gets it even where the client has gone
      signal: AbortSignal.timeout(timeouts.upstream),
      facts: noFacts(),
    };
    try {
      const messages = await readMessages(body, limits);
      await this.#course.forward({ ...asked, exchange, messages });
    } catch (error) {
      log.warn({ err: error }, 'a server could not be given the answer to its question');
    } finally {
      reply.release();
    }
  }
}
