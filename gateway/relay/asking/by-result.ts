import { HeldTogether } from '../../budget/held.js';
import { GatewayError } from '../../errors.js';
import { isObject } from '../../json/value.js';
import type { JsonObject, JsonValue } from '../../ports/json.js';
import { type Asked, withEdits } from '../caller.js';
import { answerLocally } from '../client/local-answer.js';
import { causeOf } from '../exchange.js';
import type { PendingRequest } from '../pending-request.js';
import {
  canAskForConsent,
  consentQuestion,
  noteConsent,
  type WantedConsent,
  wantedConsent,
} from './consent/consent.js';
import type { Course } from './course.js';
import type { AskingDeps } from './deps.js';
import type { HandOver } from './for-server/hand-over.js';
import { putOffAnswer } from './for-server/put-off-question.js';
import {
  factsOfLack,
  fieldOf,
  inPlace,
  type Lacking,
  lackingIn,
  mostInAnswer,
  uploadFor,
  withParams,
} from './lacking.js';
import { wayFor } from './means.js';
import { answerTo, type HeardQuestion, hearQuestion, isComplete } from './rounds/answer-questions.js';
import { answerOf, type Hearing, hear } from './rounds/hear.js';
import {
  endOf,
  keptAnswers,
  paramsInvalid,
  type Round,
  readRound,
  refuseUnreturnable,
  stateChanged,
} from './rounds/round.js';
import { askedFor } from './rounds/take-questions.js';
import { INPUT_REQUIRED } from './rounds/wants-input.js';
import { wrapping } from './rounds/wrapping.js';
import {
  type AskedFile,
  askedUpload,
  closeState,
  OWN_KEY,
  offeredFor,
  type State,
  type TakenQuestion,
} from './sealed-state.js';
import { notGivenResult, questionText } from './texts.js';

const CONSENT = `${OWN_KEY}consent`;

/**
 * Asks clients of the revisions without sessions: by a result that wants input, after which the client calls again. Between
 * two calls nothing is kept here; the client keeps a sealed state, with the one link that holds for all rounds.
 */
export class AskingByResult {
  readonly #deps: AskingDeps;

  constructor(deps: AskingDeps) {
    this.#deps = deps;
  }

  async run(asked: Asked, request: PendingRequest, course: Course): Promise<void> {
    const round = await readRound(asked, request, this.#deps);
    const { principal, server } = round.bound;
    const held = new HeldTogether(this.#deps.held, { principal, server });
    try {
      await this.#go(round, (bytes) => held.hold(bytes), course);
    } finally {
      held.release();
    }
  }

  /** @param hold counts bytes that are kept until the call is answered */
  async #go(given: Round, hold: HandOver['hold'], course: Course): Promise<void> {
    const isFirst = Object.values(given.state).every(
      (one) => one === undefined || (Array.isArray(one) && one.length === 0),
    );
    const round = await this.#withConsent(given);
    const { asked, request, state } = round;
    const call = isFirst
      ? withEdits(asked, new Map([[request, wrapping(round, this.#deps)]]))
      : await this.#filled(round, hold, course);
    if (!call) return;
    try {
      return await course.forward(call);
    } catch (error) {
      const consent = wantedConsent(error);
      if (consent && canAskForConsent(asked.client, this.#deps)) return this.#askForConsent(round, consent);
      const { files } = state;
      const lacking = files.length < this.#deps.limits.files ? lackingIn(error) : undefined;
      if (!lacking) return course.refuse(error, asked);
      return this.#ask(round, lacking, error as GatewayError, course);
    }
  }

  /** The call with the files that were asked for; undefined where it is answered already. */
  async #filled(round: Round, hold: HandOver['hold'], { refuse }: Course): Promise<Asked | undefined> {
    const { timeouts, clock } = this.#deps;
    const { principal } = round.bound;
    const { signal } = round.asked.exchange;
    const hearing = { principal, signal, until: clock.now() + timeouts.elicitationRound };
    const given = await this.#hearFiles(round, hearing, refuse);
    const heard = given && (await this.#hearQuestions(round, hearing));
    if (!heard) return undefined;
    const { files, missing } = given;
    const kept = keptAnswers(round);
    const questions = heard.map(({ question }) => question);
    if (missing.length === 0 && heard.every(isComplete)) {
      return this.#complete(round, { files, questions, kept }, { signal, hold });
    }
    const state = { ...round.state, files, ...(questions.length > 0 && { questions, kept }) };
    await this.#answer(round, state, { files: missing, heard }, refuse);
    return undefined;
  }

  /** What has become of the files that the call lacked; undefined where it is answered already. */
  async #hearFiles(
    round: Round,
    hearing: Hearing,
    refuse: Course['refuse'],
  ): Promise<{ files: AskedFile[]; missing: AskedFile[] } | undefined> {
    const { asked, answers, state } = round;
    const { principal } = hearing;
    const files: AskedFile[] = [];
    const missing: AskedFile[] = [];
    for (const file of state.files) {
      const outcome = await hear(file, answerOf(answers[file.key]), hearing, this.#deps);
      if (outcome === 'declined' || outcome === 'cancelled') {
        this.#note(principal, file, outcome);
        await this.#revoke(round);
        answerLocally(asked.exchange, asked.messages, { result: notGivenResult(file, outcome) });
        return undefined;
      }
      if ('why' in outcome) {
        const { why, isLost } = outcome;
        const refusal = new GatewayError('file_missing', { ...factsOfLack(file), why });
        await refuse(refusal, asked, isLost ? undefined : offeredFor(file));
        return undefined;
      }
      const { problem, tries = 0 } = outcome.file;
      if (problem !== undefined && !outcome.isThere) this.#note(principal, file, 'invalid');
      if (problem !== undefined && tries >= this.#deps.rounds) {
        await this.#revoke(round);
        await refuse(new GatewayError('file_missing', { ...factsOfLack(file), problem }), asked);
        return undefined;
      }
      files.push(outcome.file);
      if (!outcome.isThere) missing.push(outcome.file);
    }
    return { files, missing };
  }

  /** What has become of the server's own questions; undefined where the call is answered already. */
  async #hearQuestions(round: Round, hearing: Hearing): Promise<HeardQuestion[] | undefined> {
    const { asked, answers, state, request } = round;
    const { exchange, messages } = asked;
    const heard: HeardQuestion[] = [];
    for (const question of state.questions ?? [])
      heard.push(await hearQuestion(question, answers, hearing, this.#deps));
    if (hearing.signal.aborted) {
      exchange.reply.end();
      return undefined;
    }
    const closed = heard.find(({ unopened }) => unopened);
    if (!closed?.unopened) return heard;
    await this.#putOff(round, heard);
    const { message } = closed.question;
    answerLocally(exchange, messages, putOffAnswer(request, message, offeredFor(closed.unopened), this.#deps));
    return undefined;
  }

  /** The call with all that was asked for in its place. */
  async #complete(
    round: Round,
    { files, questions, kept }: { files: AskedFile[]; questions: TakenQuestion[]; kept: JsonObject },
    { signal, hold }: { signal: AbortSignal; hold: HandOver['hold'] },
  ): Promise<Asked> {
    const { asked, bound, state } = round;
    const context = {
      deps: this.#deps,
      principal: bound.principal,
      identity: asked.exchange.identity,
      by: causeOf(asked.exchange),
      inquire: asked.inquire,
      signal,
      hold,
    };
    const responses: [string, JsonValue][] = Object.entries(kept);
    for (const question of questions) responses.push([question.key, await answerTo(question, context)]);
    const changes = [
      ...files.map((file) => inPlace(file, file.uri)),
      { path: ['requestState'], value: state.inner },
      { path: ['inputResponses'], value: responses.length === 0 ? undefined : Object.fromEntries(responses) },
    ];
    const filled = await withParams(asked.messages, changes, this.#deps.limits);
    const only = filled.requests[0] as PendingRequest;
    return withEdits({ ...asked, messages: filled }, new Map([[only, wrapping(round, this.#deps)]]));
  }

  /** The links of the server's own questions, for the same call made again. */
  async #putOff({ bound, request }: Round, heard: readonly HeardQuestion[]): Promise<void> {
    const { principal, server } = bound;
    for (const { message, files } of heard.map(({ question }) => question))
      for (const file of files) {
        const about = { principal, server, call: request, message, field: file.wanted.name };
        if (!file.form) await this.#deps.putOff.keep(about, offeredFor(file));
      }
  }

  async #revoke({ state }: Round): Promise<void> {
    for (const { ticket } of state.files) await this.#deps.uploadLinks.revoke(ticket);
  }

  /** The answer to a question for consent, if that was asked, is remembered. */
  async #withConsent(round: Round): Promise<Round> {
    const { consent, ...state } = round.state;
    if (!consent) return round;
    const { principal } = round.bound;
    const answer = round.answers[CONSENT];
    await noteConsent({ principal, digest: consent.digest }, isObject(answer) ? answer : {}, this.#deps);
    return { ...round, state };
  }

  #askForConsent({ asked, bound, state }: Round, { digest, text }: WantedConsent): void {
    const { server, seal, timeouts, clock } = this.#deps;
    const params = consentQuestion(text, server, asked.client.protocolVersion);
    const next = { ...state, consent: { digest } };
    const until = Math.max(endOf(state, this.#deps), clock.now() + timeouts.elicitation);
    const result = {
      resultType: INPUT_REQUIRED,
      inputRequests: { [CONSENT]: { method: 'elicitation/create', params } },
      requestState: closeState(seal, next, bound, until),
    };
    answerLocally(asked.exchange, asked.messages, { result });
  }

  /** One more file is asked for. */
  async #ask(round: Round, lacking: Lacking, refusal: GatewayError, { refuse }: Course): Promise<void> {
    // a call that lacks its file does not reach its server, so that none has answered it with a state
    if (round.isForeign) throw stateChanged();
    const { server, uploadLinks, limits } = this.#deps;
    const { asked, bound, state } = round;
    const way = wayFor(fieldOf(lacking, mostInAnswer(limits)), asked.client, this.#deps);
    if (!way) return refuse(refusal, asked);
    const upload = uploadFor(lacking, { principal: bound.principal, server }, way);
    const about = { key: `${OWN_KEY}${state.files.length + 1}`, field: fieldOf(lacking, 0).name };
    const file: AskedFile = { ...lacking, ...askedUpload(await uploadLinks.authorize(upload), way, about) };
    this.#note(bound.principal, file, 'asked');
    await this.#answer(round, { ...state, files: [...state.files, file] }, { files: [file], heard: [] }, refuse);
  }

  /** The result after which the client calls again. */
  async #answer(
    { asked, bound }: Round,
    state: State,
    missing: { files: readonly AskedFile[]; heard: readonly HeardQuestion[] },
    refuse: Course['refuse'],
  ): Promise<void> {
    const { server, seal, limits, dialects } = this.#deps;
    const questions: [string, JsonObject][] = [];
    for (const file of missing.files) {
      const { means, url, code, fileId, form, problem } = file;
      const way = wayFor(fieldOf(file, mostInAnswer(limits)), asked.client, { order: [means], dialects });
      // it has declared less than before
      if (!way) return refuse(new GatewayError('file_missing', factsOfLack(file)), asked);
      const message = questionText({ ...file, ...way.takes }, server, means, { problem, code });
      const params = way.params(message, { url, id: form?.uploadId ?? fileId });
      questions.push([file.key, { method: 'elicitation/create', params }]);
    }
    for (const one of missing.heard) {
      const { question } = one;
      if (question.ended) continue;
      const asking = askedFor(question, one.missing, asked.client, this.#deps);
      if (!asking) throw paramsInvalid('the client declares less than in the call before');
      for (const each of asking) questions.push(each);
    }
    const requestState = closeState(seal, state, bound, endOf(state, this.#deps));
    refuseUnreturnable(requestState, limits);
    const result = { resultType: INPUT_REQUIRED, inputRequests: Object.fromEntries(questions), requestState };
    answerLocally(asked.exchange, asked.messages, { result });
  }

  #note(principal: string, { tool, argument: name }: AskedFile, outcome: string): void {
    this.#deps.metrics.count('wharf_questions_total', { outcome });
    this.#deps.log.info({ principal, tool, argument: name, outcome }, 'a file was asked for');
  }
}
