import { GatewayError } from '../../../errors.js';
import type { FileRecord } from '../../../files/file.js';
import type { Authorization } from '../../../files/uploads/upload-links.js';
import type { LocalAnswer } from '../../client/local-answer.js';
import type { PendingRequest } from '../../pending-request.js';
import type { AskingDeps } from '../deps.js';
import type { PutOffFor } from '../put-off.js';
import { serverAskedText, unopenedText } from '../texts.js';

/** What an earlier call with the same question has left: its link, and the file if it has come. */
export async function takenUp(
  about: PutOffFor,
  { putOff, uploadLinks }: Pick<AskingDeps, 'putOff' | 'uploadLinks'>,
): Promise<{ offered: Authorization; records?: readonly FileRecord[] } | undefined> {
  const offered = await putOff.take(about);
  if (!offered) return undefined;
  const records = await uploadLinks.given(offered.id);
  if (records) return { offered, records };
  return (await uploadLinks.inspect(offered.ticket)).kind === 'open' ? { offered } : undefined;
}

/** Requests whose results tell the model of errors. A result of any other is a prompt or a resource, and nothing else. */
const TELLS_MODEL = new Set(['tools/call', 'tasks/result']);

/** What answers a request instead of its server, whose question was put off. @param message the server's own words */
export function putOffAnswer(
  { method }: Pick<PendingRequest, 'method'>,
  message: string,
  offered: Authorization,
  { server, steps, timeouts }: Pick<AskingDeps, 'server' | 'steps' | 'timeouts'>,
): LocalAnswer {
  const isCall = TELLS_MODEL.has(method);
  const again = isCall ? 'call the tool again with the same arguments' : 'make the same request again';
  const then = steps(offered, `${again}, which then gets this file`);
  const text = `${serverAskedText(message, server)} ${unopenedText(timeouts.elicitationNotice)}\n${then}`;
  if (!isCall) return { error: new GatewayError('question_put_off', { text }).toJsonRpc() };
  return { result: { content: [{ type: 'text', text }], isError: true } };
}
