import { isObject } from '../../../json/value.js';
import type { JsonObject, JsonValue } from '../../../ports/json.js';
import type { AskingDeps } from '../deps.js';
import { takeGiven } from '../given-file.js';
import { noPlaceIn } from '../open-questions.js';
import { answerIn } from '../questions.js';
import type { AskedUpload } from '../sealed-state.js';
import { LOST_TEXT, unopenedText } from '../texts.js';
import { waitForFile } from '../wait.js';

/** One round: a call of a client that has been asked before. */
export interface Hearing {
  principal: string;
  signal: AbortSignal;
  /** Until when the call may wait, milliseconds since the Unix epoch. Absent: it does not, and its page may open at any time. */
  until?: number;
}

/** What has become of one file. */
export type Heard<File extends AskedUpload> =
  | 'declined'
  | 'cancelled'
  /** Why the call cannot wait for it. */
  | { why: string; isUnopened?: true; isLost?: true }
  | { file: File; isThere: boolean };

/** Shown in the form when it is asked again. */
const UNREADABLE = 'The answer has an action other than accept, decline and cancel.';

/** The answer to a question; what is not an `ElicitResult` at all is one that says nothing. */
export function answerOf(answer: JsonValue | undefined): JsonObject | undefined {
  return answer === undefined || isObject(answer) ? answer : {};
}

/** What has become of a file, after its user has been asked and, for a page, some time has gone by. */
export async function hear<File extends AskedUpload>(
  file: File,
  answer: JsonObject | undefined,
  hearing: Hearing,
  deps: AskingDeps,
): Promise<Heard<File>> {
  const said = answerIn(answer);
  if (said === 'declined' || said === 'cancelled') return said;
  const { until } = hearing;
  // nothing waits for a client that is asked again and again, and never can
  if (until === undefined && answer !== undefined && said === 'unable') return 'cancelled';
  if (!file.form) {
    if (until === undefined) return look(file, said === 'accepted', deps);
    const { clock, timeouts } = deps;
    // the client calls again once its user has answered: the page opens then
    const asked = { ...file, openUntil: file.openUntil ?? clock.now() + timeouts.elicitationNotice };
    const came = await arrives(asked, { ...hearing, until }, deps);
    return typeof came === 'boolean' ? { file: asked, isThere: came } : came;
  }
  // without a count, a client that answers so would be asked again without end
  if (answer !== undefined && said === 'unable') return { file: failed(file, UNREADABLE), isThere: false };
  if (said !== 'accepted') {
    // a form that was filled in an earlier round is not shown again; between two rounds its client may be uploading
    return { file, isThere: until !== undefined && (await deps.uploadLinks.given(file.fileId)) !== undefined };
  }
  const { problem: _, ...rest } = file;
  const { principal, signal } = hearing;
  const problem = await takeGiven({ content: answer?.content, asked: file, principal }, deps, signal);
  if (problem === undefined) return { file: rest as File, isThere: true };
  return { file: failed(file, problem), isThere: false };
}

/** A file after one more answer that could not be used. */
export function failed<File extends AskedUpload>(file: File, problem: string): File {
  return { ...file, problem, tries: (file.tries ?? 0) + 1 };
}

/** Whether the file is there now. @param isAccepted the user has just agreed to open its page */
async function look<File extends AskedUpload>(
  file: File,
  isAccepted: boolean,
  { uploadLinks }: AskingDeps,
): Promise<Heard<File>> {
  if ((await uploadLinks.given(file.fileId)) !== undefined) return { file, isThere: true };
  if ((await uploadLinks.link(file.ticket))?.isRevoked) return 'cancelled';
  return { file: isAccepted ? { ...file, isAwaited: true } : file, isThere: false };
}

/** Whether the file is there before this round is over, or why the call cannot wait for it. */
async function arrives(
  { fileId, ticket, openUntil = 0 }: AskedUpload,
  { principal, signal, until }: Hearing & { until: number },
  { server, uploadLinks, waiting, clock, isDraining, timeouts }: AskingDeps,
): Promise<boolean | 'cancelled' | { why: string; isUnopened?: true; isLost?: true }> {
  const isStored = async () => (await uploadLinks.given(fileId)) !== undefined;
  if (await isStored()) return true;
  const owner = { principal, server };
  // without a wait, a client that calls again at once would do so without end
  const why = noPlaceIn(waiting, owner);
  if (why !== undefined) return { why };
  try {
    const said = async () => undefined;
    const link = () => uploadLinks.link(ticket);
    const notice = { until: openUntil, ms: timeouts.elicitationNotice };
    const looked = () => {};
    const waited = await waitForFile({ isStored, said, link, notice, until, isDraining, signal, clock, looked });
    if (waited === 'withdrawn') return 'cancelled';
    if (waited === 'lost') return { why: LOST_TEXT, isLost: true };
    return waited === 'unopened' ? { why: unopenedText(notice.ms), isUnopened: true } : waited === 'stored';
  } finally {
    waiting.give(1, owner);
  }
}
