import type { ToUpstream } from '../../arguments/to-upstream.js';
import type { Asked } from '../../caller.js';
import type { Session } from '../../session.js';

interface Mark {
  readonly principal: string;
  isCancelled: boolean;
}

/** Requests of a session that are under way, by their ids, each with whether its client has cancelled it. */
const UNDER_WAY = new WeakMap<Session, Map<string, Mark>>();

/** What a client cancels of the requests of one POST, from its making to its `end()`. */
export class Cancellations {
  readonly #open: Map<string, Mark> | undefined;
  readonly #marks = new Map<string, Mark>();

  constructor({ session, messages, exchange: { principal } }: Asked) {
    if (!session) return;
    const open = UNDER_WAY.get(session) ?? new Map<string, Mark>();
    UNDER_WAY.set(session, open);
    this.#open = open;
    for (const { id } of messages.requests) {
      const mark = { principal, isCancelled: false };
      this.#marks.set(id, mark);
      open.set(id, mark);
    }
  }

  has(id: string): boolean {
    return this.#marks.get(id)?.isCancelled === true;
  }

  /**
   * Waits for what is prepared for a server, such as the declaration of the called tool. A cancellation that comes meanwhile
   * would overtake its request, which the server would then work on although its client has given it up.
   * @returns undefined when the client has cancelled all of it: it is not to be sent
   */
  async unlessAll(prepared: Promise<ToUpstream>): Promise<ToUpstream | undefined> {
    const outgoing = await prepared;
    if (!this.#areAll) return outgoing;
    await outgoing.done?.();
    return undefined;
  }

  end(): void {
    for (const [id, mark] of this.#marks) if (this.#open?.get(id) === mark) this.#open.delete(id);
  }

  get #areAll(): boolean {
    if (this.#marks.size === 0) return false;
    for (const { isCancelled } of this.#marks.values()) if (!isCancelled) return false;
    return true;
  }
}

/** Waits as `unlessAll` for a POST whose cancellations its channel knows once it is sent. */
export async function unlessCancelled(prepared: Promise<ToUpstream>, asked: Asked): Promise<ToUpstream | undefined> {
  const cancelled = new Cancellations(asked);
  try {
    return await cancelled.unlessAll(prepared);
  } finally {
    cancelled.end();
  }
}

/**
 * The client no longer wants these, by their ids. Another token of the session changes nothing here: with one that is made up, a
 * stranger would stop calls that the server has not been asked about.
 */
export function noteCancelled({ session, messages: { cancelled }, exchange: { principal } }: Asked): void {
  const open = cancelled.length > 0 && session && UNDER_WAY.get(session);
  if (!open) return;
  for (const id of cancelled) {
    const mark = open.get(id);
    if (mark?.principal === principal) mark.isCancelled = true;
  }
}
