import type { ToUpstream } from '../../arguments/to-upstream.js';
import type { Asked } from '../../caller.js';
import type { Session } from '../../session.js';

/** Requests of a session that are not sent yet, by their ids, each with whether its client has cancelled it. */
const PREPARED = new WeakMap<Session, Map<string, { isCancelled: boolean }>>();

/**
 * Waits for what is prepared for a server, such as the declaration of the called tool. A cancellation that comes meanwhile
 * would overtake its request, which the server would then work on although its client has given it up.
 * @returns undefined when the client has cancelled all of it: it is not to be sent
 */
export async function unlessCancelled(
  prepared: Promise<ToUpstream>,
  { session, messages }: Asked,
): Promise<ToUpstream | undefined> {
  if (!session) return prepared;
  const open = PREPARED.get(session) ?? new Map<string, { isCancelled: boolean }>();
  PREPARED.set(session, open);
  const mine = messages.requests.map(({ id }) => ({ id, mark: { isCancelled: false } }));
  for (const { id, mark } of mine) open.set(id, mark);
  try {
    const outgoing = await prepared;
    if (mine.length === 0 || mine.some(({ mark }) => !mark.isCancelled)) return outgoing;
    await outgoing.done?.();
    return undefined;
  } finally {
    for (const { id, mark } of mine) if (open.get(id) === mark) open.delete(id);
  }
}

/** The client no longer wants these, by their ids. */
export function noteCancelled({ session, messages: { cancelled } }: Asked): void {
  const open = session && PREPARED.get(session);
  if (!open) return;
  for (const id of cancelled) {
    const mark = open.get(id);
    if (mark) mark.isCancelled = true;
  }
}
