import { shortText } from '../../budget/memory/short-text.js';
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
  /** The last one, milliseconds since the epoch. */
  at: number;
  /** How often the same caller was refused the same for the same reason, and the first time of these. */
  times: number;
  since: number;
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
  /** The place in the config that sets the limit, where that is more special, or that has the rule. */
  rule?: string | undefined;
  allowed?: number | undefined;
  actual?: number | undefined;
}

/** What refusals of one kind have in common. */
const KIND = ['server', 'principal', 'client', 'method', 'name', 'code', 'limit', 'rule', 'allowed'] as const;

/**
 * The last refusals of this process, newest first: at most 200 of some hundred bytes each. Those of one kind are one, so that
 * a program that is refused every second does not drive out all others.
 */
export class Lately {
  readonly #clock: Clock;
  readonly #kept: RefusedExchange[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Keeps an exchange whose client got an error. */
  note(server: string | undefined, { principal, facts }: Pick<Exchange, 'principal' | 'facts'>): void {
    const { error: code, client, method, name, limit, source, rule = source, allowed, actual } = facts;
    if (code === undefined) return;
    // a resource's name may be a link, which is a right: users of the console only look at refusals
    const cut = (text: string | undefined) => text && shortText(redactText(text), MAX_NAME);
    const of = { server, principal, client: cut(client), method: cut(method), name: cut(name) };
    const now = this.#clock.now();
    const refused = { at: now, times: 1, since: now, ...of, code, limit, rule, allowed, actual };
    const at = this.#kept.findIndex((one) => KIND.every((key) => one[key] === refused[key]));
    const [before] = at < 0 ? [] : this.#kept.splice(at, 1);
    this.#kept.unshift(before ? { ...refused, times: before.times + 1, since: before.since } : refused);
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
