import { asGatewayError } from '../../../errors.js';
import { isObject } from '../../../json/value.js';
import type { JsonObject, JsonValue } from '../../../ports/json.js';
import type { AskingDeps } from '../deps.js';
import { type HandOver, handOver } from '../for-server/hand-over.js';
import { answerIn, problemOfOthers } from '../questions.js';
import type { TakenFile, TakenQuestion } from '../sealed-state.js';
import { answerOf, failed, type Heard, type Hearing, hear } from './hear.js';

/** A server's question after a round, and its files that are not there yet. */
export interface HeardQuestion {
  question: TakenQuestion;
  missing: readonly TakenFile[];
  /** The one whose page was not opened in time. */
  unopened?: TakenFile;
}

/** Hears what a client says about the questions of its server. @param answers by the keys of Wharf's own questions */
export async function hearQuestion(
  question: TakenQuestion,
  answers: JsonObject,
  hearing: Hearing,
  deps: AskingDeps,
): Promise<HeardQuestion> {
  if (question.ended) return { question, missing: [] };
  const files: TakenFile[] = [];
  const missing: TakenFile[] = [];
  let { filled } = question;
  for (const file of question.files) {
    const { heard, others } = await hearFile(file, answerOf(answers[file.key]), hearing, deps);
    const ended = endOf(heard, deps.rounds);
    const outcome = outcomeOf(heard);
    // what was there before is counted, and a look without a wait finds nothing late
    const isNews = !file.isThere && (hearing.until !== undefined || outcome !== 'late');
    if (isNews) deps.metrics.count('wharf_questions_total', { outcome });
    if (typeof heard !== 'string' && 'why' in heard && heard.isUnopened)
      return { question, missing: [], unopened: file };
    if (ended || typeof heard === 'string' || 'why' in heard) return end(question, ended ?? 'cancel', deps);
    if (heard.isThere && others) filled = others;
    const lacksOthers = heard.file.keepsBesides && !filled && Object.keys(question.besides.properties).length > 0;
    const isDone = heard.isThere && !lacksOthers;
    files.push(isDone ? { ...heard.file, isThere: true } : heard.file);
    if (!isDone) missing.push(heard.file);
  }
  const others = question.othersKey === undefined ? undefined : answerOf(answers[question.othersKey]);
  const said = others && answerIn(others);
  if (said === 'declined' || said === 'cancelled')
    return end(question, said === 'declined' ? 'decline' : 'cancel', deps);
  const content = isObject(others?.content) ? others.content : {};
  if (said === 'accepted' && problemOfOthers(content) === undefined) filled = content;
  const tries = (question.tries ?? 0) + (said && !filled ? 1 : 0);
  // without a count, a client whose answers cannot be used would be asked again without end
  if (tries >= deps.rounds) return end(question, 'cancel', deps);
  return { question: { ...question, files, ...(filled && { filled }), ...(tries > 0 && { tries }) }, missing };
}

/** Whether everything is there that a question needs from its user. */
export function isComplete({ question, missing }: HeardQuestion): boolean {
  const { ended, othersKey, filled } = question;
  return ended !== undefined || (missing.length === 0 && (othersKey === undefined || filled !== undefined));
}

/** The server's answer to its question: `accept` only once it has every file. Never rejects. */
export async function answerTo(
  { dialect, files, filled, ended, key }: TakenQuestion,
  context: HandOver & { deps: AskingDeps },
): Promise<JsonObject> {
  if (ended) return { action: ended };
  const { deps, signal } = context;
  const asks = deps.dialects.find(({ name }) => name === dialect)?.asks;
  if (!asks) return { action: 'cancel' };
  const given: [string, JsonValue][] = [];
  try {
    for (const { wanted, fileId, isWithout } of files) {
      if (isWithout) continue;
      const [first, ...others] = (await deps.uploadLinks.given(fileId)) ?? [];
      if (!first) return { action: 'cancel' };
      const handed = { wanted, records: [first, ...others] as const, sent: () => {} };
      given.push([wanted.name, await handOver(handed, asks, context)]);
      deps.metrics.count('wharf_questions_total', { outcome: 'delivered' });
    }
  } catch (thrown) {
    signal.throwIfAborted();
    const error = asGatewayError(thrown);
    deps.log.warn({ question: key, code: error.code, err: error.cause ?? thrown }, 'a server did not get its file');
    return { action: 'cancel' };
  }
  return { action: 'accept', content: { ...filled, ...Object.fromEntries(given) } };
}

async function hearFile(
  file: TakenFile,
  answer: JsonObject | undefined,
  hearing: Hearing,
  deps: AskingDeps,
): Promise<{ heard: Heard<TakenFile>; others?: JsonObject }> {
  if (file.isWithout || file.isThere) return { heard: { file, isThere: true } };
  const { form, isOptional, keepsBesides } = file;
  if (!form || answerIn(answer) !== 'accepted') return { heard: await hear(file, answer, hearing, deps) };
  const { [form.field]: given, ...others } = isObject(answer?.content) ? answer.content : {};
  const problem = keepsBesides ? problemOfOthers(others) : undefined;
  if (problem !== undefined) {
    return { heard: { file: failed(file, problem), isThere: false } };
  }
  const kept = keepsBesides ? { others } : {};
  if (isOptional && given === undefined)
    return { heard: { file: { ...file, isWithout: true }, isThere: true }, ...kept };
  return { heard: await hear(file, answer, hearing, deps), ...kept };
}

/** What the server hears, where a file will not come. */
function endOf(heard: Heard<TakenFile>, rounds: number): TakenQuestion['ended'] {
  if (heard === 'declined') return 'decline';
  if (heard === 'cancelled' || 'why' in heard) return 'cancel';
  const { problem, tries = 0 } = heard.file;
  return problem !== undefined && tries >= rounds ? 'cancel' : undefined;
}

function outcomeOf(heard: Heard<TakenFile>): string {
  if (typeof heard === 'string') return heard;
  if ('why' in heard) return 'late';
  return heard.isThere ? 'stored' : heard.file.problem === undefined ? 'late' : 'invalid';
}

async function end(
  question: TakenQuestion,
  ended: 'decline' | 'cancel',
  { uploadLinks }: AskingDeps,
): Promise<HeardQuestion> {
  for (const { ticket } of question.files) await uploadLinks.revoke(ticket);
  return { question: { ...question, ended }, missing: [] };
}
