import type { AboutTask } from '../../mcp/meta-keys.js';
import type { JsonObject } from '../../ports/json.js';
import type { AskedReply } from './asked-reply.js';
import type { AskingDeps } from './deps.js';
import { Progress } from './progress.js';
import type { AskedFor } from './questions.js';
import { waitingText } from './texts.js';
import { type Waited, waitForFile } from './wait.js';

/** A call that waits for a person. */
export interface WaitingCall {
  principal: string;
  /** The call, as `nameOfCall` names it; none for a question on a session's GET stream. */
  call: string | undefined;
  session: string | undefined;
  /** Parameters of the call. */
  params: JsonObject;
  reply: AskedReply;
  /** The task about which a server asks, for everything that the client is told. */
  task?: AboutTask | undefined;
  /** Aborted when the client no longer waits for the answer. */
  signal: AbortSignal;
}

/** What is asked on a stream. */
interface StreamQuestion {
  params: JsonObject;
  asked: AskedFor;
  /** Where a person can upload the file, while the call waits; none for what has no file. */
  url?: string;
  /** What the page asks for. */
  code?: string | undefined;
  /** For a page: how long it may take until it is open, milliseconds. */
  noticeMs?: number | undefined;
  /** Until when is waited, milliseconds since the Unix epoch. */
  until: number;
  /** The client uploads the file by itself, and may tell how far it is. */
  tellsProgress?: boolean | undefined;
}

/** What became of a question. */
export interface StreamOutcome {
  waited: Waited;
  problem?: string | undefined;
  /** It was accepted without a file. */
  isWithout?: boolean | undefined;
  /** What was filled in besides the file. */
  besides?: JsonObject | undefined;
}

/** Asks by a request on the call's own stream, and waits for the file. */
export async function askOnStream(
  { params, asked, url, code, noticeMs, until, tellsProgress }: StreamQuestion,
  call: WaitingCall,
  deps: AskingDeps,
): Promise<StreamOutcome> {
  const { server, questions, clock } = deps;
  const { principal, session, reply, task } = call;
  const asker = { principal, server, session };
  const id = await questions.open(asked, asker, Math.max(0, until - clock.now()));
  questions.expect(id, asker);
  let waited: Waited;
  try {
    const meta = { ...task?._meta, ...(tellsProgress && { progressToken: id }) };
    const wanted = Object.keys(meta).length > 0 ? { _meta: meta, ...params } : params;
    await reply.say({ id, method: 'elicitation/create', params: wanted });
    waited = await waitFor(id, { asked, noticeMs, until, text: waitingText(url, code) }, call, deps);
  } finally {
    questions.forget(id);
  }
  const { elicitationId } = params;
  if (waited === 'stored' && elicitationId !== undefined)
    await reply.say({ method: 'notifications/elicitation/complete', params: { elicitationId, ...task } });
  const answer = reply.gone ? undefined : await questions.said(id);
  // its window would stay open for nothing
  if (!reply.gone && !answer) {
    const cancelled = { requestId: id, reason: REASONS[waited] ?? '', ...task };
    await reply.say({ method: 'notifications/cancelled', params: cancelled });
  }
  return { waited, problem: answer?.problem, isWithout: answer?.isWithout, besides: answer?.besides };
}

/** Until the file is there, or it is clear that it does not come. */
function waitFor(
  id: string,
  { asked, noticeMs, until, text }: Pick<StreamQuestion, 'asked' | 'noticeMs' | 'until'> & { text: string },
  { params, session, reply, signal }: WaitingCall,
  { questions, uploadLinks, sessions, clock, isDraining }: AskingDeps,
): Promise<Waited> {
  const progress = new Progress(params, text, reply, clock);
  const said = () => questions.said(id);
  // a form is filled when it has been answered, whatever has been uploaded for it
  const isFilled = async () => asked.form === undefined || (await said())?.answer === 'accepted';
  const isGiven = async () =>
    (await uploadLinks.given(asked.fileId)) !== undefined || (await said())?.isWithout === true;
  const isStored = async () => (await isFilled()) && (await isGiven());
  const looked = () => progress.tell(questions.told(id));
  const link = async () => {
    const found = await uploadLinks.link(asked.ticket);
    const isOver = session !== undefined && (await sessions.hasEnded(session));
    // asked last: a state store that has lost everything has no session either, and its client has not ended that
    if (!(await questions.isKept(id))) return undefined;
    return isOver ? { isOpened: true, isRevoked: true } : (found ?? { isOpened: false, isRevoked: false });
  };
  const notice = noticeMs === undefined ? undefined : { until: clock.now() + noticeMs, ms: noticeMs };
  return waitForFile({ isStored, said, link, notice, until, isDraining, signal, clock, looked });
}

const REASONS: Partial<Record<Waited, string>> = {
  stored: 'the file has been uploaded',
  late: 'the file was not uploaded in time',
  ending: 'Wharf is shutting down',
  unopened: 'the page was not opened in time',
  withdrawn: 'the call was cancelled, or its session ended',
  lost: 'what was known of it is lost',
  left: 'the call was cancelled',
};
