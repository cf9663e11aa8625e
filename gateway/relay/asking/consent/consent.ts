import { randomUUID } from 'node:crypto';
import { GatewayError } from '../../../errors.js';
import { eraOf } from '../../../mcp/era.js';
import type { ClientFacts } from '../../../ports/client.js';
import type { JsonObject } from '../../../ports/json.js';
import type { OpenCall } from '../course.js';
import type { AskingDeps } from '../deps.js';
import { showsForms } from '../means.js';
import { askOnStream } from '../on-stream.js';
import { noPlaceIn } from '../open-questions.js';
import { nameOfCall } from '../questions.js';

const FIELD = 'allow';

/** A file that may go to the server only if the user agrees. */
export interface WantedConsent {
  digest: string;
  text: string;
}

/** The consent that a call was refused for the lack of. */
export function wantedConsent(error: unknown): WantedConsent | undefined {
  if (!(error instanceof GatewayError) || error.code !== 'file_refused') return undefined;
  const { consentDigest: digest, consentText: text } = error.facts;
  return typeof digest === 'string' && typeof text === 'string' ? { digest, text } : undefined;
}

/**
 * Asks the user by a form whether the file may go to this server, and remembers the answer for this file and server.
 * @returns whether there is an answer, so that the call can be tried again
 */
export async function askForConsent(
  { digest, text }: WantedConsent,
  { asked, request, reply, ended }: OpenCall,
  deps: AskingDeps,
): Promise<boolean> {
  const { server, flow, waiting, clock, timeouts, log } = deps;
  const { principal, signal } = asked.exchange;
  const owner = { principal, server };
  if (!flow || !canAskForConsent(asked.client, deps) || noPlaceIn(waiting, owner) !== undefined) return false;
  try {
    const until = clock.now() + timeouts.elicitation;
    const session = asked.session?.id;
    const outcome = await askOnStream(
      {
        params: consentQuestion(text, server, asked.client.protocolVersion),
        // there is no file to wait for: what is filled in is all
        asked: { ticket: '', fileId: randomUUID(), isOptional: true, keepsBesides: true },
        until,
      },
      {
        principal,
        call: nameOfCall(owner, session, request.id),
        session,
        params: request.params,
        reply,
        signal: AbortSignal.any([signal, ended]),
      },
      deps,
    );
    const isAnswered = outcome.waited === 'stored' || outcome.waited === 'declined';
    log.info({ principal, to: server, digest, outcome: outcome.waited }, 'a user was asked whether a file may go on');
    if (!isAnswered) return false;
    const action = outcome.waited === 'stored' ? 'accept' : 'decline';
    await noteConsent({ principal, digest }, { action, content: outcome.besides }, deps);
    return true;
  } finally {
    waiting.give(1, owner);
  }
}

/** Whether a client can show its user the question of an `ask` rule, and there may be one. */
export function canAskForConsent(client: ClientFacts, { flow }: Pick<AskingDeps, 'flow'>): boolean {
  return flow !== undefined && showsForms(client);
}

/** Remembers what the user has said for these bytes and this server. @param result an ElicitResult */
export async function noteConsent(
  about: { principal: string; digest: string },
  { action, content }: { action?: unknown; content?: unknown },
  { flow, server }: Pick<AskingDeps, 'flow' | 'server'>,
): Promise<void> {
  const isGiven = action === 'accept' && (content as JsonObject | undefined)?.[FIELD] === true;
  await flow?.consents.note({ ...about, to: server }, isGiven ? 'yes' : 'no');
}

/** Parameters of `elicitation/create`. */
export function consentQuestion(message: string, server: string, version: string | undefined): JsonObject {
  return {
    ...(eraOf(version ?? '').hasUrlElicitation && { mode: 'form' }),
    message,
    requestedSchema: {
      type: 'object',
      properties: { [FIELD]: { type: 'boolean', title: `Give the file to "${server}"`, default: false } },
      required: [FIELD],
    },
  };
}
