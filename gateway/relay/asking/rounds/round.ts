import { GatewayError } from '../../../errors.js';
import { isObject } from '../../../json/value.js';
import { contrast } from '../../../policy/amounts.js';
import type { JsonObject } from '../../../ports/json.js';
import type { Asked } from '../../caller.js';
import type { PendingRequest } from '../../pending-request.js';
import type { AskingDeps } from '../deps.js';
import { argumentsDigest, type Bound, OWN_KEY, openState, type State } from '../sealed-state.js';

type RoundDeps = Pick<AskingDeps, 'server' | 'seal' | 'clock' | 'timeouts'>;

/** A request as its client made it, and what the client has been asked before. */
export interface Round {
  asked: Asked;
  request: PendingRequest;
  bound: Bound;
  state: State;
  /** The person's answers, by the keys of the questions. */
  answers: JsonObject;
  /** The client gives back a state that Wharf has not sealed: its server's own, or one that was changed on the way. */
  isForeign?: true;
}

/** What the client has been asked before, by the state that it gives back. @throws GatewayError `params_invalid` */
export async function readRound(asked: Asked, request: PendingRequest, deps: RoundDeps): Promise<Round> {
  const { server, seal, clock } = deps;
  const { method, subject = '', params } = request;
  const { requestState, inputResponses } = params;
  const { heavyArguments: heavy } = request;
  const args = heavy ? await argumentsDigest(heavy, { principal: asked.exchange.principal, server }) : params.arguments;
  const bound = { principal: asked.exchange.principal, server, method, subject, args };
  const round: Round = { asked, request, bound, state: { files: [] }, answers: {} };
  if (requestState === undefined) return round;
  const state = typeof requestState === 'string' ? requestState : '';
  const opened = openState(seal, state, bound, clock.now());
  switch (opened.kind) {
    case 'foreign':
      if (isObject(inputResponses) && Object.keys(inputResponses).some(isOwnKey)) throw stateChanged();
      return { ...round, isForeign: true };
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

/** The client's answers to the server's own questions, of all rounds. */
export function keptAnswers({ state, answers }: Round): JsonObject {
  const own = Object.entries(answers).filter(([key]) => !isOwnKey(key));
  return Object.fromEntries([...Object.entries(state.kept ?? {}), ...own]);
}

/** Whether a question with this key is one of Wharf's own: no server has asked it. */
export function isOwnKey(key: string): boolean {
  return key.startsWith(OWN_KEY);
}

/** The refusal of a state that no server can have given: only Wharf can, and it cannot be opened. */
export function stateChanged(): GatewayError {
  return paramsInvalid('the requestState was changed, or was sealed with another secret: call without it');
}

/** Bytes of a message around a state: its method, names and answers. */
const AROUND = 1024;

/**
 * A state holds what the client has answered besides, and comes back in a message of the client's.
 * @throws GatewayError `params_invalid` for one that no message could hold
 */
export function refuseUnreturnable({ length }: string, { message }: Pick<AskingDeps['limits'], 'message'>): void {
  const most = Math.max(0, message - AROUND);
  if (length <= most) return;
  const { allowed, actual } = contrast(most, length);
  const text =
    'inputResponses are too long to be kept until the files are there: the requestState with them would have ' +
    `${actual}, and limits.message leaves ${allowed} for it`;
  throw paramsInvalid(text);
}

/** The error for a call whose `requestState` or `inputResponses` do not fit it. @param text what is wrong with them */
export function paramsInvalid(text: string): GatewayError {
  return new GatewayError('params_invalid', { text });
}

/** Until when a state is good, milliseconds since the Unix epoch: as long as one of its links. */
export function endOf({ files, questions = [] }: State, { clock, timeouts }: RoundDeps): number {
  const uploads = [...files, ...questions.flatMap((question) => question.files)];
  return Math.max(clock.now() + (uploads.length === 0 ? timeouts.session : 0), ...uploads.map((one) => one.expiresAt));
}
