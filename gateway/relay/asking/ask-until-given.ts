import { randomUUID } from 'node:crypto';
import type { Authorization } from '../../files/uploads/upload-links.js';
import type { JsonObject } from '../../ports/json.js';
import type { AskingDeps } from './deps.js';
import { formOf, type Way } from './means.js';
import { askOnStream, type StreamOutcome, type WaitingCall } from './on-stream.js';
import type { Besides } from './texts.js';

/** A file that is asked for. */
interface FileRequest {
  /** What its field is called. */
  field: string;
  way: Way;
  offered: Authorization;
  /** What the person reads. */
  message: (besides: Besides) => string;
  /** Changes the request, for what a server wants besides the file. */
  widen?: (params: JsonObject) => JsonObject;
  isOptional?: boolean;
}

/**
 * Asks again, as often as `elicitation.rounds` allows and with the same link, if the file that was given cannot be used.
 * Meanwhile every replica can find the link by the call, to revoke it when the client cancels.
 */
export async function askUntilGiven(file: FileRequest, call: WaitingCall, deps: AskingDeps): Promise<StreamOutcome> {
  const { server, questions, timeouts, log } = deps;
  const { principal, call: name } = call;
  if (name === undefined) return askInRounds(file, call, deps);
  await questions.expectCall(name, file.offered.ticket, { principal, server }, timeouts.elicitation);
  try {
    return await askInRounds(file, call, deps);
  } finally {
    await questions.endCall(name).catch((err) => log.warn({ err }, 'the end of a wait could not be noted'));
  }
}

async function askInRounds(
  { field, way, offered, message, widen, isOptional }: FileRequest,
  call: WaitingCall,
  deps: AskingDeps,
): Promise<StreamOutcome> {
  const { clock, timeouts, rounds } = deps;
  const { id: fileId, ticket, url, code, expiresAt } = offered;
  const until = Math.min(clock.now() + timeouts.elicitation, Date.parse(expiresAt));
  // only a page can stay closed: a form, and an upload of the client's own, need none
  const noticeMs = way.form ? undefined : timeouts.elicitationNotice;
  let problem: string | undefined;
  for (let round = 1; ; round++) {
    const uploadId = way.form ? randomUUID() : fileId;
    const params = way.params(message({ problem, code }), { url, id: uploadId });
    const asked = {
      ticket,
      fileId,
      ...(way.form && { form: formOf(way.form, field, uploadId) }),
      ...(isOptional && { isOptional }),
      ...(widen && { keepsBesides: true }),
    };
    const tellsProgress = way.form?.asks.isCallersUpload;
    // a person cannot use a link that only the client could use
    const page = tellsProgress ? {} : { url, code };
    const question = { params: widen?.(params) ?? params, asked, ...page, noticeMs, until, tellsProgress };
    const outcome = await askOnStream(question, call, deps);
    if (outcome.waited !== 'invalid' || round >= rounds) return outcome;
    ({ problem } = outcome);
  }
}
