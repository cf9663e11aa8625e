import { randomUUID } from 'node:crypto';
import { type ErrorFacts, GatewayError } from '../../errors.js';
import type { Authorization } from '../../files/upload.js';
import { isObject } from '../../json/value.js';
import { RANGE, rangeAt } from '../../mcp/ranges.js';
import type { JsonObject, JsonValue } from '../../ports/json.js';
import { type Asked, withEdits } from '../caller.js';
import { answerLocally } from '../client/local-answer.js';
import type { AnswerEdit, PendingRequest } from '../pending-request.js';
import { replaceOutcome } from '../results/answer-edit.js';
import type { Course } from './course.js';
import type { AskingDeps } from './deps.js';
import { takeGiven } from './given-file.js';
import {
  fieldOf,
  inPlace,
  type Lacking,
  lackingIn,
  mostInAnswer,
  type ParamEdit,
  uploadFor,
  withParams,
} from './lacking.js';
import { wayFor } from './means.js';
import { noPlaceIn } from './open-questions.js';
import { answerIn } from './questions.js';
import { type AskedFile, argumentsDigest, type Bound, closeState, openState, type State } from './sealed-state.js';
import { notGivenResult, questionText } from './texts.js';
import { waitForFile } from './wait.js';

const INPUT_REQUIRED = 'input_required';

/** Before the number of a question; no server's keys begin so. */
const KEY = 'wharf-file-';

/** A call as its client made it, and what it has been asked before. */
interface Round {
  asked: Asked;
  request: PendingRequest;
  bound: Bound;
  state: State;
  /** The person's answers, by the keys of the questions. */
  answers: JsonObject;
}

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
    const round = await this.#read(asked, request);
    const call = round.state.files.length === 0 ? asked : await this.#filled(round, course);
    if (!call) return;
    try {
      return await course.forward(call);
    } catch (error) {
      const { files } = round.state;
      const lacking = files.length < this.#deps.limits.files ? lackingIn(error) : undefined;
      if (!lacking) return course.refuse(error, asked);
      return this.#ask(round, lacking, error as GatewayError, course);
    }
  }

  /** What the client has been asked before, by the state that it gives back. @throws GatewayError `params_invalid` */
  async #read(asked: Asked, request: PendingRequest): Promise<Round> {
    const { server, seal, clock } = this.#deps;
    const { method, subject = '', params } = request;
    const { requestState, inputResponses } = params;
    const { heavyArguments: heavy } = request;
    const args = heavy ? await argumentsDigest(heavy) : params.arguments;
    const bound = { principal: asked.exchange.principal, server, method, subject, args };
    const round: Round = { asked, request, bound, state: { files: [] }, answers: {} };
    if (typeof requestState !== 'string') return round;
    const opened = openState(seal, requestState, bound, clock.now());
    switch (opened.kind) {
      case 'foreign':
        return round;
      case 'other call':
        throw paramsInvalid('the requestState is of another call');
      case 'over':
        throw paramsInvalid('the requestState is too old: call without it');
      case 'open':
        if (inputResponses !== undefined && !isObject(inputResponses))
          throw paramsInvalid('inputResponses must be an object');
        return { ...round, state: opened.state, answers: inputResponses ?? {} };
    }
  }

  /** The call with the files that were asked for; undefined where it is answered already. */
  async #filled(round: Round, { refuse }: Course): Promise<Asked | undefined> {
    const { asked, answers } = round;
    const { limits, timeouts, clock, rounds } = this.#deps;
    const { messages, exchange } = asked;
    const until = clock.now() + timeouts.elicitationRound;
    const files: AskedFile[] = [];
    const missing: AskedFile[] = [];
    for (const file of round.state.files) {
      const answer = answers[file.key];
      const outcome = await this.#heard(file, isObject(answer) ? answer : undefined, until, exchange);
      if (outcome === 'declined' || outcome === 'cancelled') {
        await this.#revoke(round);
        answerLocally(exchange, messages, { result: notGivenResult(file, outcome) });
        return undefined;
      }
      if ('why' in outcome) {
        await refuse(new GatewayError('file_missing', { ...factsOf(file), ...outcome }), asked, offeredFor(file));
        return undefined;
      }
      const { problem, tries = 0 } = outcome.file;
      if (problem !== undefined && tries >= rounds) {
        await this.#revoke(round);
        await refuse(new GatewayError('file_missing', { ...factsOf(file), problem }), asked);
        return undefined;
      }
      files.push(outcome.file);
      if (!outcome.isThere) missing.push(outcome.file);
    }
    if (exchange.signal.aborted) {
      exchange.reply.end();
      return undefined;
    }
    const state = { ...round.state, files };
    if (missing.length > 0) {
      await this.#answer(round, state, missing, refuse);
      return undefined;
    }
    const changes = [...files.map((file) => inPlace(file, file.uri)), ...forServer(round)];
    const filled = await withParams(messages, changes, limits);
    const only = filled.requests[0] as PendingRequest;
    return withEdits({ ...asked, messages: filled }, new Map([[only, this.#wrap(round)]]));
  }

  /** What has become of one file, after the person has been asked and, for a page, some time has gone by. */
  async #heard(
    file: AskedFile,
    answer: JsonObject | undefined,
    until: number,
    exchange: Asked['exchange'],
  ): Promise<'declined' | 'cancelled' | { why: string } | { file: AskedFile; isThere: boolean }> {
    const said = answerIn(answer);
    if (said === 'declined' || said === 'cancelled') {
      this.#note(exchange.principal, file, said);
      return said;
    }
    if (!file.form) {
      const came = await this.#arrives(file, until, exchange);
      return typeof came === 'boolean' ? { file, isThere: came } : came;
    }
    // a form that was filled in an earlier round is not shown again
    if (said !== 'accepted') return { file, isThere: (await this.#deps.library.find(file.fileId)) !== undefined };
    const { problem: _, ...rest } = file;
    const problem = await takeGiven(
      { content: answer?.content, asked: file, principal: exchange.principal },
      this.#deps,
      exchange.signal,
    );
    if (problem === undefined) return { file: rest, isThere: true };
    this.#note(exchange.principal, file, 'invalid');
    return { file: { ...rest, problem, tries: (file.tries ?? 0) + 1 }, isThere: false };
  }

  async #revoke({ state }: Round): Promise<void> {
    for (const { ticket } of state.files) await this.#deps.uploads.revoke(ticket);
  }

  /** Whether the file is there before this round is over, or why the call cannot wait for it. */
  async #arrives(
    { fileId }: AskedFile,
    until: number,
    { principal, signal }: Asked['exchange'],
  ): Promise<boolean | { why: string }> {
    const { server, library, waiting, clock, isDraining } = this.#deps;
    const isStored = async () => (await library.find(fileId)) !== undefined;
    if (await isStored()) return true;
    const owner = { principal, server };
    // without a wait, a client that calls again at once would do so without end
    const why = noPlaceIn(waiting, owner);
    if (why !== undefined) return { why };
    try {
      const said = async () => undefined;
      const waited = await waitForFile({ isStored, said, until, isDraining, signal, clock, looked: () => {} });
      return waited === 'stored';
    } finally {
      waiting.give(1, owner);
    }
  }

  /** One more file is asked for. */
  async #ask(round: Round, lacking: Lacking, refusal: GatewayError, { refuse }: Course): Promise<void> {
    const { server, uploads, limits } = this.#deps;
    const { asked, bound, state } = round;
    const way = wayFor(fieldOf(lacking, mostInAnswer(limits)), asked.client, this.#deps);
    if (!way) return refuse(refusal, asked);
    const upload = uploadFor(lacking, { principal: bound.principal, server }, way);
    const { id: fileId, uri, ticket, url, code, expiresAt } = await uploads.authorize(upload);
    const { name: field } = fieldOf(lacking, 0);
    const file: AskedFile = {
      ...lacking,
      key: `${KEY}${state.files.length + 1}`,
      means: way.means,
      fileId,
      uri,
      ticket,
      url,
      ...(code !== undefined && { code }),
      expiresAt: Date.parse(expiresAt),
      ...(way.form && { form: { dialect: way.form.dialect, field, uploadId: randomUUID() } }),
    };
    this.#note(bound.principal, file, 'asked');
    await this.#answer(round, { ...state, files: [...state.files, file] }, [file], refuse);
  }

  /** The result after which the client calls again. */
  async #answer(
    { asked, bound }: Round,
    state: State,
    missing: readonly AskedFile[],
    refuse: Course['refuse'],
  ): Promise<void> {
    const { server, seal, limits, dialects } = this.#deps;
    const questions: [string, JsonObject][] = [];
    for (const file of missing) {
      const { means, url, code, fileId, form, problem } = file;
      const way = wayFor(fieldOf(file, mostInAnswer(limits)), asked.client, { order: [means], dialects });
      // it has declared less than before
      if (!way) return refuse(new GatewayError('file_missing', factsOf(file)), asked);
      const message = questionText(file, server, means, { problem, code });
      const params = way.params(message, { url, id: form?.uploadId ?? fileId });
      questions.push([file.key, { method: 'elicitation/create', params }]);
    }
    const until = Math.max(...state.files.map(({ expiresAt }) => expiresAt));
    const requestState = closeState(seal, state, bound, until);
    const result = { resultType: INPUT_REQUIRED, inputRequests: Object.fromEntries(questions), requestState };
    answerLocally(asked.exchange, asked.messages, { result });
  }

  /**
   * A server that wants input itself gets its own state back with the next call, and that call its files: the client is
   * given both in one.
   */
  #wrap({ bound, state }: Round): AnswerEdit {
    return (answer) => {
      const { message, base } = answer;
      const range = rangeAt(message, RANGE.result, [...base, 'result']);
      if (!range || range.values > this.#deps.limits.values) return;
      const result = JSON.parse(message.slice(range.start, range.end).toString('utf8')) as JsonValue;
      if (!isObject(result) || result.resultType !== INPUT_REQUIRED) return;
      const { requestState } = result;
      const inner = typeof requestState === 'string' ? { inner: requestState } : {};
      const { seal, clock, timeouts } = this.#deps;
      const wrapped = closeState(seal, { files: state.files, ...inner }, bound, clock.now() + timeouts.session);
      replaceOutcome(answer, 'result', JSON.stringify({ ...result, requestState: wrapped }));
    };
  }

  #note(principal: string, { tool, argument: name }: AskedFile, outcome: string): void {
    this.#deps.metrics.count('wharf_questions_total', { outcome });
    this.#deps.log.info({ principal, tool, argument: name, outcome }, 'a file was asked for');
  }
}

/** What is for the server: its own state, and the answers to its own questions. */
function forServer({ state, answers }: Round): ParamEdit[] {
  const own = Object.entries(answers).filter(([key]) => !key.startsWith(KEY));
  return [
    { path: ['requestState'], value: state.inner },
    { path: ['inputResponses'], value: own.length === 0 ? undefined : Object.fromEntries(own) },
  ];
}

/** The right to the upload that a client was asked for. */
function offeredFor({ fileId, uri, ticket, url, code, expiresAt }: AskedFile): Authorization {
  const until = new Date(expiresAt).toISOString();
  return { id: fileId, uri, ticket, url, expiresAt: until, ...(code !== undefined && { code }) };
}

function factsOf({ tool, argument, at, maxSize, accept }: Lacking): ErrorFacts {
  return { tool, argument, at, maxSize, ...(accept && { accept }) };
}

function paramsInvalid(text: string): GatewayError {
  return new GatewayError('params_invalid', { text });
}
