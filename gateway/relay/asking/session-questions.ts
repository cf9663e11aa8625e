import type { Piece } from '../../json/written.js';
import type { Caller } from '../caller.js';
import type { Taker } from './asked-reply.js';
import { ownerIn } from './questions.js';

/** The running calls on whose streams servers can ask, by their sessions. */
export class SessionCalls {
  readonly #calls = new Map<string, Set<Taker>>();

  /** @returns what to call when the call is over */
  add(caller: Caller, questions: Taker): () => void {
    const key = keyOf(caller);
    const calls = this.#calls.get(key) ?? new Set();
    this.#calls.set(key, calls.add(questions));
    return () => {
      calls.delete(questions);
      if (calls.size === 0) this.#calls.delete(key);
    };
  }

  /** The only running call of a session. */
  only(caller: Caller): Taker | undefined {
    const calls = this.#calls.get(keyOf(caller));
    return calls?.size === 1 ? [...calls][0] : undefined;
  }
}

/** What a server asks on a session's GET stream, or repeats there. */
export class ListenedQuestions implements Taker {
  readonly #caller: Caller;
  readonly #own: Taker;
  readonly #calls: SessionCalls;

  constructor(caller: Caller, own: Taker, calls: SessionCalls) {
    this.#caller = caller;
    this.#own = own;
    this.#calls = calls;
  }

  takes(pieces: readonly Piece[], isResumable: boolean, asks: string | undefined): boolean | Promise<void> {
    // one channel for everything does not say what a question is about: with one call under way, about that
    const call = this.#caller.session?.channel === 'shared' ? this.#calls.only(this.#caller) : undefined;
    return (call ?? this.#own).takes(pieces, isResumable, asks);
  }

  /** The client comes back to its session, and answers by POST meanwhile. */
  over(): void {}
}

function keyOf({ exchange, session }: Caller): string {
  return JSON.stringify(ownerIn({ principal: exchange.principal, session: session?.id }));
}
