import type { ToUpstream } from '../../arguments/to-upstream.js';
import type { Asked } from '../../caller.js';
import type { CancelledElsewhere } from '../../cancelled-elsewhere.js';
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
  readonly #asked: Asked;
  readonly #elsewhere: CancelledElsewhere | undefined;

  /** @param elsewhere where other replicas note them; absent where all of a session comes here */
  constructor(asked: Asked, elsewhere?: CancelledElsewhere) {
    this.#asked = asked;
    this.#elsewhere = elsewhere;
    const { session, messages, exchange } = asked;
    if (!session) return;
    const open = UNDER_WAY.get(session) ?? new Map<string, Mark>();
    UNDER_WAY.set(session, open);
    this.#open = open;
    for (const { id } of messages.requests) {
      const mark = { principal: exchange.principal, isCancelled: false };
      this.#marks.set(id, mark);
      open.set(id, mark);
    }
  }

  has(id: string): boolean {
    return this.#marks.get(id)?.isCancelled === true;
  }

  /** Asks for what other replicas have noted of these, by their ids; `has` then knows it. */
  async askElsewhere(ids: Iterable<string> = this.#marks.keys()): Promise<void> {
    const of = this.#elsewhere && callerOf(this.#asked);
    if (!of) return;
    const ask = async (id: string) => {
      const mark = this.#marks.get(id);
      if (mark && !mark.isCancelled && (await this.#elsewhere?.has(of, id))) mark.isCancelled = true;
    };
    await Promise.all(Array.from(ids, ask));
  }

  /**
   * Waits for what is prepared for a server, such as the declaration of the called tool. A cancellation that comes meanwhile
   * would overtake its request, which the server would then work on although its client has given it up.
   * @returns undefined when the client has cancelled all of it: it is not to be sent
   */
  async unlessAll(prepared: Promise<ToUpstream>): Promise<ToUpstream | undefined> {
    const outgoing = await prepared;
    if (this.#elsewhere && !this.#areAll) await this.askElsewhere();
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
 * @returns those that are not under way here
 */
export function noteCancelled({ session, messages: { cancelled }, exchange: { principal } }: Asked): string[] {
  if (cancelled.length === 0 || !session) return [];
  const open = UNDER_WAY.get(session);
  return cancelled.filter((id) => {
    const mark = open?.get(id);
    if (mark?.principal === principal) mark.isCancelled = true;
    return mark === undefined;
  });
}

/** As `noteCancelled`, and tells the other replicas of those that are not under way here. */
export async function noteForAll(asked: Asked, elsewhere: CancelledElsewhere | undefined): Promise<void> {
  const unknown = noteCancelled(asked);
  const of = callerOf(asked);
  if (unknown.length > 0 && of) await elsewhere?.note(of, unknown);
}

function callerOf({ session, exchange: { principal } }: Asked) {
  return session && { session: session.id, principal, server: session.server };
}
