import { isObject } from '../../../json/value.js';
import type { AnswerEdit, EditableAnswer } from '../../pending-request.js';
import { replaceOutcome } from '../../results/answer-edit.js';
import type { AskingDeps } from '../deps.js';
import { askingTool } from '../for-server/asking-tool.js';
import { closeState, OWN_KEY } from '../sealed-state.js';
import { endOf, type Round } from './round.js';
import { askedFor, takeQuestions } from './take-questions.js';
import { inputRequired, mayWantInput } from './wants-input.js';

/**
 * A server that wants input itself gets its own state back with the next call, and the files for that call: the client
 * keeps both in one state. Its questions for files are put in a form that the client knows.
 */
export function wrapping(round: Round, deps: AskingDeps): AnswerEdit {
  return { apply: (answer) => wrap(answer, round, deps), mayChange: mayWantInput };
}

async function wrap(answer: EditableAnswer, { asked, bound, state, request }: Round, deps: AskingDeps): Promise<void> {
  const result = inputRequired(answer, deps.limits, state.files.length > 0);
  if (!result) return;
  const { requestState, inputRequests, ...rest } = result;
  const inner = typeof requestState === 'string' ? { inner: requestState } : {};
  let keys = state.files.length;
  const asker = {
    client: asked.client,
    principal: bound.principal,
    call: request,
    tool: () => askingTool(request, bound, deps),
    nextKey: () => `${OWN_KEY}${++keys}`,
  };
  const { taken, others } = await takeQuestions(isObject(inputRequests) ? inputRequests : {}, asker, deps);
  if (taken.length === 0 && state.files.length === 0) return;
  const questions = taken.flatMap(
    (one) =>
      askedFor(
        one,
        one.files.filter(({ isThere }) => !isThere),
        asked.client,
        deps,
      ) ?? [],
  );
  const shown = Object.fromEntries([...others, ...questions]);
  const next = { files: state.files, ...inner, ...(taken.length > 0 && { questions: taken }) };
  const { seal, clock, timeouts } = deps;
  const until = taken.length === 0 ? clock.now() + timeouts.session : endOf(next, deps);
  // without a question left, the client calls again at once
  const wants = Object.keys(shown).length === 0 ? {} : { inputRequests: shown };
  const wrapped = { ...rest, ...wants, requestState: closeState(seal, next, bound, until) };
  replaceOutcome(answer, 'result', JSON.stringify(wrapped));
}
