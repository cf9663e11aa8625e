import { breathe } from '../budget/turn.js';
import type { Stopwatch } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { StateStore } from '../ports/state-store.js';
import type { StateKeys } from '../secrets/state-keys.js';

/** Between two looks for what other replicas have left. */
const LOOK_MS = 200;

/** How long a message waits there: the replica that keeps the place looks several times a second. */
const LEFT_MS = 10_000;

/** Most characters of what waits for one session: people's answers are short, and so are those of most models. */
const MOST_WAITING = 512 * 1024;

/** Tries to add a message to what others add to. */
const MOST_TRIES = 5;

const EMPTY = '';
/** Between two sealed messages. */
const NEXT = ' ';

/** A session whose channel to its server is in this process. */
interface SessionHere {
  principal: string;
  server: string;
  /** Whether calls of it are under way. */
  isBusy: () => boolean;
  /** Takes the body of a POST without requests. */
  deliver: (body: Buffer) => Promise<void>;
}

interface OwedDeps {
  state: StateStore;
  keys: StateKeys;
  clock: Stopwatch;
  log: Log;
}

/**
 * What clients owe to servers whose channel is in a replica that drains: its port is closed, so that their answers come to
 * another replica, while the call that waits for them goes on. That one leaves them in the state store, where the first has made
 * a place for each session with a call under way.
 */
export class OwedMessages {
  readonly #deps: OwedDeps;
  readonly #here = new Map<string, SessionHere>();
  /** Sessions for which there is a place. */
  readonly #places = new Set<string>();
  #looking: Promise<void> | undefined;
  #until = 0;

  constructor(deps: OwedDeps) {
    this.#deps = deps;
  }

  /** @returns what to call when its channel is over */
  add(session: string, here: SessionHere): () => void {
    this.#here.set(session, here);
    return () => void this.#here.delete(session);
  }

  /**
   * Leaves the body of a POST for the replica that has the session.
   * @returns false where none waits for it
   * @throws GatewayError `state_unavailable`
   */
  async leave(session: string, body: Buffer): Promise<boolean> {
    const { state, keys } = this.#deps;
    for (const key of keys.all('owed', session)) {
      const sealed = keys.seal.close(key, body.toString('utf8'));
      for (let tried = 0; tried < MOST_TRIES; tried++) {
        const waiting = await state.read(key);
        if (waiting === undefined) break;
        const next = waiting === EMPTY ? sealed : waiting + NEXT + sealed;
        if (next.length > MOST_WAITING) return false;
        if (await state.replace(key, waiting, next, LEFT_MS)) return true;
      }
    }
    return false;
  }

  /** From now on takes what other replicas leave. */
  start(ms: number): void {
    this.#until = this.#deps.clock.ticks() + ms;
    this.#looking ??= this.#lookOften();
  }

  async stop(): Promise<void> {
    this.#until = 0;
    await this.#looking;
    await Promise.allSettled([...this.#places].map((session) => this.#leave(session)));
  }

  async #lookOften(): Promise<void> {
    const { clock } = this.#deps;
    while (clock.ticks() < this.#until) {
      // the store may be away for a while
      await Promise.allSettled([...this.#here].map(([session, here]) => this.#look(session, here)));
      await breathe();
      await new Promise<void>((resolve) => void setTimeout(resolve, LOOK_MS).unref());
    }
  }

  async #look(session: string, here: SessionHere): Promise<void> {
    const { state, keys, clock, log } = this.#deps;
    if (!here.isBusy()) return this.#leave(session);
    const key = keys.of('owed', session);
    const left = this.#until - clock.ticks();
    if (!this.#places.has(session)) {
      await state.create(key, EMPTY, left, here);
      this.#places.add(session);
      return;
    }
    const waiting = await state.read(key);
    if (!waiting || !(await state.replace(key, waiting, EMPTY, left))) return;
    for (const sealed of waiting.split(NEXT)) {
      const text = keys.seal.open(key, sealed);
      if (text === undefined) continue;
      await here
        .deliver(Buffer.from(text))
        .catch((err: unknown) => log.warn({ server: here.server, err }, 'a message could not be passed on'));
    }
  }

  async #leave(session: string): Promise<void> {
    if (!this.#places.delete(session)) return;
    await this.#deps.state.remove(this.#deps.keys.of('owed', session));
  }
}
