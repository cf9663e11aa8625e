import { asGatewayError, type ErrorFacts, GatewayError } from '../../errors.js';
import { isObject } from '../../json/value.js';
import type { ClientMessages } from '../../mcp/request.js';
import type { JsonObject, JsonValue } from '../../ports/json.js';
import { parseJson } from '../../wire/json/parse.js';
import type { Asked } from '../caller.js';
import { answerLocally } from '../client/local-answer.js';
import { tellError } from '../exchange-log.js';
import type { PendingRequest } from '../pending-request.js';
import { askUntilGiven } from './ask-until-given.js';
import { AskedReply } from './asked-reply.js';
import { askForConsent, wantedConsent } from './consent/consent.js';
import type { Course, OpenCall } from './course.js';
import type { AskingDeps } from './deps.js';
import { areFilesJudged } from './for-server/read-question.js';
import { takeGiven } from './given-file.js';
import { fieldOf, inPlace, type Lacking, lackingIn, mostInAnswer, uploadFor, withParams } from './lacking.js';
import { type Way, wayFor } from './means.js';
import { noPlaceIn, type OpenQuestions, type Questioned } from './open-questions.js';
import { answerIn, nameOfCall, problemOfOthers, type Question, type Said } from './questions.js';
import { ServerQuestions } from './server-questions.js';
import type { SessionCalls } from './session-questions.js';
import { type Besides, LOST_TEXT, notGivenResult, questionText, UNASKED_TEXT, unopenedText } from './texts.js';
import type { Waited } from './wait.js';

const ANSWERED = 'a batch answers a question that its client was not asked';

/** Asks clients of the revisions with sessions: by requests of Wharf's own on the streams of their calls. */
export class AskingByRequest {
  readonly #deps: AskingDeps;
  readonly #open: OpenQuestions;
  readonly #calls: SessionCalls;
  /** Otherwise a client that answers at another replica what it was not asked passes no rule by it. */
  readonly #areFilesJudged: boolean;
  /** Whose call waits, and what ends the wait, by the session, or the caller, and the id of the call. */
  readonly #waits = new Map<string, { principal: string; ended: AbortController }>();

  constructor(deps: AskingDeps, open: OpenQuestions, calls: SessionCalls) {
    this.#deps = deps;
    this.#areFilesJudged = areFilesJudged(deps);
    this.#open = open;
    this.#calls = calls;
  }

  /**
   * Takes what a client says of Wharf's own questions.
   * @param judge lets the server judge a caller that says something of what `asked` was asked @throws GatewayError where
   * it does not take it
   * @returns whether that was all, so that the server hears nothing of it
   */
  async takes({ exchange, messages, session }: Asked, judge: (asked: string) => Promise<void>): Promise<boolean> {
    const { principal } = exchange;
    const { questions, server } = this.#deps;
    const asker = { principal, server, session: session?.id };
    for (const id of messages.cancelled) await this.#cancel(nameOfCall(asker, session?.id, id), judge);
    const from = { principal, session: session?.id };
    if (messages.isBatch) {
      // the revisions in which questions are asked have no batches, and a server that reads one all the same would take it
      for (const { id } of messages.responses)
        if (await this.#isServers(from, id)) throw new GatewayError('request_invalid', { reason: ANSWERED });
      return false;
    }
    const [told] = messages.progress;
    if (told) {
      const { token, progress, total } = told;
      const of = await questions.askedWith(token, asker);
      if (of === undefined) return false;
      await judge(of);
      questions.hears(token, { done: progress, total });
      exchange.reply.all({ status: 202, body: 'other' });
      return true;
    }
    const [response] = messages.responses;
    if (!response) return false;
    const question = await questions.answeredBy(response.id, asker);
    // the client was not asked it, and the server would take its answer for Wharf's
    const isServers = !question && (await this.#isServers(from, response.id));
    if (!question && !isServers) return false;
    if (question) await judge(question.askedOf);
    if (question && !question.isAnswered) await this.#hear(question, response.result, exchange.signal);
    exchange.reply.all({ status: 202, body: 'other' });
    return true;
  }

  /** Whether it answers a question of its server that Wharf has taken over. @param id as JSON text */
  async #isServers(from: Questioned, id: string): Promise<boolean> {
    const asked = parseJson(id) as JsonValue;
    return this.#open.has(from, asked) || (this.#areFilesJudged && (await this.#open.isElsewhere(from, asked)));
  }

  /** The client has cancelled a call, which may wait at another replica: that one looks at the link. */
  async #cancel(call: string, judge: (asked: string) => Promise<void>): Promise<void> {
    const { questions, uploadLinks, log } = this.#deps;
    const waiting = this.#waits.get(call);
    if (waiting) {
      await judge(waiting.principal);
      return waiting.ended.abort();
    }
    const failed = (err: unknown) => {
      log.warn({ err }, 'a call that may wait at another replica could not be cancelled');
    };
    const find = async () => {
      const ticket = await questions.linkOf(call);
      return ticket === undefined ? undefined : uploadLinks.link(ticket);
    };
    const link = await find().catch(failed);
    if (!link) return;
    await judge(link.intent.principal);
    const end = async () => {
      const ticket = await questions.endCall(call);
      if (ticket !== undefined) await uploadLinks.revoke(ticket);
    };
    await end().catch(failed);
  }

  async #hear(question: Question, result: JsonObject | undefined, signal: AbortSignal): Promise<void> {
    const { questions, uploadLinks } = this.#deps;
    const answer = answerIn(result);
    const { asked } = question;
    const said: Said = answer === 'accepted' ? await this.#accepted(question, result?.content, signal) : { answer };
    await questions.note(question, said);
    if (answer === 'declined' || answer === 'cancelled') await uploadLinks.revoke(asked.ticket);
  }

  async #accepted({ asked, principal }: Question, content: JsonValue | undefined, signal: AbortSignal): Promise<Said> {
    const { [asked.form?.field ?? '']: given, ...others } = isObject(content) ? content : {};
    const isWithout = asked.isOptional === true && given === undefined;
    // before the file is taken: the next answer may have another one
    const tooLong = asked.keepsBesides ? problemOfOthers(others) : undefined;
    if (tooLong !== undefined) return { answer: 'invalid', problem: tooLong };
    const problem = isWithout ? undefined : await takeGiven({ content, asked, principal }, this.#deps, signal);
    if (problem !== undefined) return { answer: 'invalid', problem };
    return { answer: 'accepted', isWithout, ...(asked.keepsBesides && { besides: others }) };
  }

  /** Whether there is a stream for questions. */
  canAsk({ client, exchange }: Asked): boolean {
    return client.isOverStdio === true || String(exchange.headers.accept ?? '').includes('text/event-stream');
  }

  async run(asked: Asked, request: PendingRequest, course: Course): Promise<void> {
    const { exchange, session } = asked;
    const { principal } = exchange;
    const reply = new AskedReply(exchange.reply, request.id, this.#deps.server);
    const ended = new AbortController();
    const key = nameOfCall({ principal, server: this.#deps.server }, session?.id, request.id);
    const waits = { principal, ended };
    this.#waits.set(key, waits);
    const call: OpenCall = {
      asked: { ...asked, exchange: { ...exchange, reply } },
      request,
      reply,
      ended: ended.signal,
    };
    const stream = { caller: asked, request, reply, cancelled: ended.signal, left: exchange.signal };
    const questions = new ServerQuestions(stream, course, this.#deps, this.#open);
    reply.taker = questions;
    const isOver = this.#calls.add(asked, questions);
    try {
      await this.#finish(call, course);
    } catch (thrown) {
      if (!reply.hasAsked) throw thrown;
      // its head is out: only a message can say it
      const error = asGatewayError(thrown);
      tellError(this.#deps, error, exchange, 'a call that had asked for a file failed');
      reply.fail(error);
    } finally {
      isOver();
      if (this.#waits.get(key) === waits) this.#waits.delete(key);
    }
  }

  async #finish(call: OpenCall, course: Course): Promise<void> {
    let { asked } = call;
    // each round fills one of the places that a call has for files
    for (let round = 0; ; round++) {
      let failure: unknown;
      try {
        return await course.forward(asked);
      } catch (error) {
        failure = error;
      }
      const consent = round < this.#deps.limits.files ? wantedConsent(failure) : undefined;
      if (consent && !call.reply.begun && (await askForConsent(consent, { ...call, asked }, this.#deps))) continue;
      const lacking = round < this.#deps.limits.files ? lackingIn(failure) : undefined;
      if (!lacking || call.reply.begun) return course.refuse(failure, asked);
      const messages = await this.#fill(lacking, failure as GatewayError, { ...call, asked }, course);
      if (!messages) return;
      asked = { ...asked, messages };
    }
  }

  /** The call with one more of its files; undefined once it is answered otherwise. */
  async #fill(
    lacking: Lacking,
    refusal: GatewayError,
    call: OpenCall,
    course: Course,
  ): Promise<ClientMessages | undefined> {
    const { server, waiting, limits, log } = this.#deps;
    const { asked } = call;
    const { principal } = asked.exchange;
    const owner = { principal, server };
    const way = wayFor(fieldOf(lacking, mostInAnswer(limits)), asked.client, this.#deps);
    const why = way && noPlaceIn(waiting, owner);
    if (!way || why !== undefined) {
      if (why !== undefined) log.info({ principal, limit: waiting.limit, why }, 'a user was not asked for a file');
      await course.refuse(missing(refusal, why === undefined ? {} : { why }), asked);
      return undefined;
    }
    try {
      return await this.#askFor({ lacking, way, refusal }, call, course);
    } finally {
      waiting.give(1, owner);
    }
  }

  async #askFor(
    { lacking, way, refusal }: { lacking: Lacking; way: Way; refusal: GatewayError },
    { asked, request, reply, ended }: OpenCall,
    { refuse }: Course,
  ): Promise<ClientMessages | undefined> {
    const { server, uploadLinks, limits, timeouts, log, metrics } = this.#deps;
    const { exchange, messages } = asked;
    const { principal, signal } = exchange;
    const owner = { principal, server };
    const offered = await uploadLinks.authorize(uploadFor(lacking, owner, way));
    const session = asked.session?.id;
    const name = nameOfCall(owner, session, request.id);
    const { params } = request;
    const call = { principal, call: name, session, params, reply, signal: AbortSignal.any([signal, ended]) };
    const { name: field } = fieldOf(lacking, 0);
    const message = (besides: Besides) => questionText({ ...lacking, ...way.takes }, server, way.means, besides);
    const { waited, problem } = await askUntilGiven({ field, way, offered, message }, call, this.#deps);
    metrics.count('wharf_questions_total', { outcome: waited });
    const { tool, argument } = lacking;
    log.info({ principal, tool, argument, means: way.means, outcome: waited }, 'a file was asked for');
    switch (waited) {
      case 'stored':
        return await withParams(messages, [inPlace(lacking, offered.uri)], limits);
      case 'declined':
      case 'cancelled':
        answerLocally(exchange, messages, { result: notGivenResult(lacking, waited) });
        return undefined;
      case 'withdrawn':
      case 'left':
        // a client that has left without a word may have lost its connection: its page still takes the file
        if (waited === 'withdrawn' || ended.aborted) await uploadLinks.revoke(offered.ticket);
        reply.dismiss();
        return undefined;
      default: {
        // a person cannot use a link that only the client could use, and a lost one leads nowhere
        const link = way.form?.asks.isCallersUpload || waited === 'lost' ? undefined : offered;
        await refuse(missing(refusal, whyMissing(waited, problem, timeouts)), asked, link);
        return undefined;
      }
    }
  }
}

/** What a refusal says of a question that has brought no file. */
function whyMissing(
  waited: Extract<Waited, 'ending' | 'lost' | 'unopened' | 'late' | 'unable' | 'invalid'>,
  problem: string | undefined,
  { elicitation, elicitationNotice }: AskingDeps['timeouts'],
): ErrorFacts {
  const given = problem === undefined ? {} : { problem };
  switch (waited) {
    case 'ending':
      return { why: 'The call does not wait for it: Wharf is shutting down.' };
    case 'lost':
      return { why: LOST_TEXT };
    case 'unopened':
      return { why: unopenedText(elicitationNotice) };
    case 'late':
      return { waited: elicitation };
    case 'unable':
      return { why: UNASKED_TEXT, ...given };
    case 'invalid':
      return given;
  }
}

/** The refusal that the call would have got, with what has become of asking. */
function missing({ facts }: GatewayError, more: ErrorFacts): GatewayError {
  return new GatewayError('file_missing', { ...facts, ...more });
}
