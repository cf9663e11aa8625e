import { metaOf } from '../../mcp/request.js';
import type { Stopwatch } from '../../ports/clock.js';
import type { JsonObject } from '../../ports/json.js';
import type { AskedReply } from './asked-reply.js';
import type { AskingDeps } from './deps.js';
import type { AskedFor } from './questions.js';
import { waitingText } from './texts.js';
import { type Waited, waitForFile } from './wait.js';

/** How often a call that waits says so, if its client wants to know. */
const PROGRESS_MS = 5000;

/** The server's own progress begins at 0 or 1, and what comes first must be less. */
const PROGRESS_STEP = 1e-6;

/** A call that waits for a person. */
export interface WaitingCall {
  principal: string;
  /** Parameters of the call. */
  params: JsonObject;
  reply: AskedReply;
  /** Aborted when the client no longer waits for the answer. */
  signal: AbortSignal;
}

/** What is asked on a stream. */
export interface StreamQuestion {
  params: JsonObject;
  asked: AskedFor;
  /** Where a person can upload the file, while the call waits; none for what has no file. */
  url?: string;
  /** What the page asks for. */
  code?: string | undefined;
  /** Until when is waited, milliseconds since the Unix epoch. */
  until: number;
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
  { params, asked, url, code, until }: StreamQuestion,
  call: WaitingCall,
  deps: AskingDeps,
): Promise<StreamOutcome> {
  const { server, questions, library, clock, isDraining } = deps;
  const { principal, reply, signal } = call;
  const id = await questions.open(asked, { principal, server }, Math.max(0, until - clock.now()));
  await reply.say({ id, method: 'elicitation/create', params });
  const progress = new Progress(call.params, waitingText(url, code), reply, clock);
  const said = () => questions.said(id);
  // a form is filled when it has been answered, whatever has been uploaded for it
  const isFilled = async () => asked.form === undefined || (await said())?.answer === 'accepted';
  const isGiven = async () => (await library.find(asked.fileId)) !== undefined || (await said())?.isWithout === true;
  const isStored = async () => (await isFilled()) && (await isGiven());
  const looked = () => progress.tell();
  const waited = await waitForFile({ isStored, said, until, isDraining, signal, clock, looked });
  const { elicitationId } = params;
  if (waited === 'stored' && elicitationId !== undefined)
    await reply.say({ method: 'notifications/elicitation/complete', params: { elicitationId } });
  const answer = reply.gone ? undefined : await said();
  // its window would stay open for nothing
  if (!reply.gone && !answer)
    await reply.say({ method: 'notifications/cancelled', params: { requestId: id, reason: REASONS[waited] ?? '' } });
  return { waited, problem: answer?.problem, isWithout: answer?.isWithout, besides: answer?.besides };
}

const REASONS: Partial<Record<Waited, string>> = {
  stored: 'the file has been uploaded',
  late: 'the file was not uploaded in time',
  ending: 'Wharf is shutting down',
  left: 'the call was cancelled',
};

/** Tells a client that wants to know that its call still waits, and where the page is. */
class Progress {
  readonly #token: string | number | undefined;
  readonly #text: string;
  readonly #reply: AskedReply;
  readonly #clock: Stopwatch;
  #toldAt: number;
  #told = 0;

  constructor(params: JsonObject, text: string, reply: AskedReply, clock: Stopwatch) {
    const { progressToken } = metaOf(params);
    if (typeof progressToken === 'string' || typeof progressToken === 'number') this.#token = progressToken;
    this.#text = text;
    this.#reply = reply;
    this.#clock = clock;
    this.#toldAt = clock.ticks();
  }

  tell(): void {
    const now = this.#clock.ticks();
    // a client that does not read is told nothing more until it does
    if (this.#token === undefined || now - this.#toldAt < PROGRESS_MS || this.#reply.pressure) return;
    this.#toldAt = now;
    this.#told += 1;
    const params = {
      progressToken: this.#token,
      progress: this.#told * PROGRESS_STEP,
      message: this.#text,
    };
    this.#reply.say({ method: 'notifications/progress', params })?.catch(() => this.#reply.abort());
  }
}
