import { GatewayError } from '../../../errors.js';
import { isObject } from '../../../json/value.js';
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

/** The client's answers to the server's own questions, of all rounds. */
export function keptIn({ state, answers }: Round): JsonObject {
  const own = Object.entries(answers).filter(([key]) => !key.startsWith(OWN_KEY));
  return Object.fromEntries([...Object.entries(state.kept ?? {}), ...own]);
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
