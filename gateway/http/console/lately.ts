import { shortText } from '../../budget/short-text.js';
import type { GatewayError } from '../../errors.js';
import type { Clock } from '../../ports/clock.js';
import { redactText } from '../../redact.js';
import { type Exchange, noFacts, noteError } from '../../relay/exchange.js';

/** Refusals that are kept for the console. The log has all of them. */
const MAX_KEPT = 200;

/** Characters of a name that a client chose. */
const MAX_NAME = 100;

/** An upload that is refused, by the link that its caller was given. */
interface RefusedUpload {
  server: string | undefined;
  principal: string;
  /** The name that the uploading program gives itself. */
  client: string | undefined;
  error: GatewayError;
}

/** What was refused, to whom, and which limit said so. */
export interface RefusedExchange {
  /** Milliseconds since the epoch. */
  at: number;
  /** Absent for the upload of a file that is for no server in particular. */
  server?: string | undefined;
  principal: string;
  client?: string | undefined;
  method?: string | undefined;
  /** Tool, prompt or resource. */
  name?: string | undefined;
  code: string;
  /** Config name of the limit, its value and the actual one. */
  limit?: string | undefined;
  allowed?: number | undefined;
  actual?: number | undefined;
}

/** The last refusals of this process, newest first: at most 200 of some hundred bytes each. */
export class Lately {
  readonly #clock: Clock;
  readonly #kept: RefusedExchange[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Keeps an exchange whose client got an error. */
  note(server: string | undefined, { principal, facts }: Pick<Exchange, 'principal' | 'facts'>): void {
    const { error: code, client, method, name, limit, allowed, actual } = facts;
    if (code === undefined) return;
    // a resource's name may be a link, which is a right: users of the console only look at refusals
    const cut = (text: string | undefined) => text && shortText(redactText(text), MAX_NAME);
    const of = { server, principal, client: cut(client), method: cut(method), name: cut(name) };
    this.#kept.unshift({ at: this.#clock.now(), ...of, code, limit, allowed, actual });
    if (this.#kept.length > MAX_KEPT) this.#kept.pop();
  }

  /** Keeps an upload that was not taken. */
  noteUpload({ server, principal, client, error }: RefusedUpload): void {
    const facts = { ...noFacts(), client, method: 'upload' };
    noteError(facts, error);
    this.note(server, { principal, facts });
  }

  get refusals(): readonly RefusedExchange[] {
    return this.#kept;
  }
}
