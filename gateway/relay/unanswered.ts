import type { PendingRequest } from './pending-request.js';
import type { Session } from './session.js';

/** Most of one session, and the bytes of a message up to which a request keeps its parameters. */
const MOST = 16;
const MAX_BYTES = 2048;

type Unanswered = ReadonlyMap<string, PendingRequest>;

/** By session, in the order in which their streams ended. */
const UNANSWERED = new WeakMap<Session, Map<string, PendingRequest>>();
const NONE: Unanswered = new Map();

/**
 * Keeps what is needed of requests whose stream has ended before their answers. Their client resumes it by a GET, and what
 * becomes of an answer depends on its request (MCP 2025-11-25, Streamable HTTP: a server may close a stream at any time).
 * @param bytes of their message
 */
export function keepUnanswered(session: Session, requests: Iterable<PendingRequest>, bytes: number): void {
  const kept = UNANSWERED.get(session) ?? new Map<string, PendingRequest>();
  UNANSWERED.set(session, kept);
  for (const { id, method, subject, params, calledAs } of requests) {
    const request = { id, method, subject, params: bytes > MAX_BYTES ? {} : params, base: [] };
    kept.set(id, calledAs === undefined ? request : { ...request, calledAs });
    if (kept.size > MOST) kept.delete(kept.keys().next().value as string);
  }
}

/** Those of a session, by their ids as JSON text. */
export function unansweredIn(session: Session | undefined): Unanswered {
  return (session && UNANSWERED.get(session)) ?? NONE;
}

/** These were answered, by their ids as JSON text. */
export function forgetAnswered(session: Session | undefined, ids: readonly string[]): void {
  const kept = session && UNANSWERED.get(session);
  if (kept) for (const id of ids) kept.delete(id);
}
