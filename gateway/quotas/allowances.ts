import { createHash } from 'node:crypto';
import { LateCache } from '../budget/collections/late-cache.js';
import { isRecord, keptIn, notWritten } from '../errors/kept.js';
import {
  type Allowance,
  type AllowanceRules,
  allowanceOf,
  CALLER_LIMITS,
  type CallerLimit,
  isUnlimited,
  limitsMessages,
  lowerOf,
  type SetLimit,
  underCeiling,
} from '../policy/allowance.js';
import { TYPE_LIMITS } from '../policy/message-limits.js';
import type { Identity } from '../ports/identity.js';
import type { JsonObject, JsonValue } from '../ports/json.js';
import type { Log } from '../ports/log.js';
import type { StateStore } from '../ports/state-store.js';

const UNLIMITED: Allowance = {};

/** Most callers whose allowances a process remembers. */
const MAX_REMEMBERED = 10_000;

/** How long the store remembers what a caller's groups and claims allow, since it was last here. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** When a remembered allowance is stored again, so that it does not expire for a caller that keeps coming. */
const RENEWED_MS = KEPT_MS / 4;

interface AllowancesDeps {
  state: Pick<StateStore, 'create' | 'read' | 'replace' | 'extend'>;
  log: Log;
}

/**
 * What each caller may use. An upload by a link comes without its caller's token, so what groups and claims allow is
 * remembered by principal from its last request with one.
 */
export class Allowances {
  readonly #deps: AllowancesDeps;
  #rules: AllowanceRules;
  #byIdentity = new WeakMap<Identity, Allowance>();
  readonly #byPrincipal = new LateCache<Allowance>({ max: MAX_REMEMBERED, ttl: RENEWED_MS });
  /** Some limit depends on more than the name of a key. */
  #asksToken = false;
  #isOn = false;
  #limitsMessages = false;

  constructor(rules: AllowanceRules, deps: AllowancesDeps) {
    this.#deps = deps;
    this.#rules = rules;
    this.put(rules);
  }

  /** False where the config limits no caller. */
  get isOn(): boolean {
    return this.#isOn;
  }

  /** Some callers have limits of their own for each message, or for the files in it. */
  get limitsMessages(): boolean {
    return this.#limitsMessages;
  }

  /** A limit from elsewhere in the config, under the ceiling. */
  capped(limit: SetLimit, name: CallerLimit): SetLimit {
    return lowerOf(limit, this.#rules.ceiling[name], name) ?? limit;
  }

  /** Other rules count from now on. */
  put(rules: AllowanceRules): void {
    this.#rules = rules;
    this.#byIdentity = new WeakMap();
    this.#byPrincipal.clear();
    this.#asksToken = rules.callers.some(({ match: { group, claim } }) => group !== undefined || claim !== undefined);
    this.#isOn = !isUnlimited(rules);
    this.#limitsMessages = limitsMessages(rules);
  }

  /** What the caller of a request may use. */
  of(identity: Identity): Allowance {
    const { base = identity } = identity;
    let allowance = this.#byIdentity.get(base);
    if (!allowance) {
      allowance = allowanceOf(this.#rules, base);
      this.#byIdentity.set(base, allowance);
    }
    if (this.#asksToken) this.#remember(identity.principal, allowance);
    return allowance;
  }

  /** What a caller may use that is known by its name only. @throws GatewayError `state_unavailable` */
  ofPrincipal(principal: string): Allowance | Promise<Allowance> {
    if (!this.#isOn) return UNLIMITED;
    const known = this.#byPrincipal.get(principal);
    if (known) return known;
    return this.#asksToken ? this.#recall(principal) : this.#byName(principal);
  }

  async #recall(principal: string): Promise<Allowance> {
    const text = await this.#deps.state.read(keyOf(principal));
    // it may have been stored under other rules, which its next request with a token corrects
    return text === undefined ? this.#byName(principal) : underCeiling(allowanceIn(text), this.#rules);
  }

  /** A principal of a key's name is that key's: a caller with a token has another form of name. */
  #byName(principal: string): Allowance {
    const key = this.#rules.keys.has(principal) ? principal : undefined;
    const allowance = allowanceOf(this.#rules, { principal, key, groups: [] });
    if (!this.#asksToken) this.#byPrincipal.set(principal, allowance);
    return allowance;
  }

  #remember(principal: string, allowance: Allowance): void {
    const known = this.#byPrincipal.get(principal);
    if (known === allowance) return;
    const text = JSON.stringify(allowance);
    if (known && JSON.stringify(known) === text) return;
    this.#byPrincipal.set(principal, allowance);
    this.#store(keyOf(principal), text, principal).catch((error) =>
      this.#deps.log.warn({ err: error }, 'what a caller may use could not be remembered'),
    );
  }

  async #store(key: string, text: string, principal: string): Promise<void> {
    const { state } = this.#deps;
    if (await state.create(key, text, KEPT_MS, { principal })) return;
    const old = await state.read(key);
    if (old === text) await state.extend(key, KEPT_MS);
    else if (old !== undefined) await state.replace(key, old, text, KEPT_MS);
  }
}

/** Of the last callers: with a hash for every request, a limit of requests took 3 % of a short exchange's processor time. */
const NAMES = new LateCache<string>({ max: 2000 });
/** Characters of a longer principal, which is hashed each time. */
const MAX_PRINCIPAL = 256;

/** A principal may hold anything that a token's issuer puts there. */
export function nameFor(principal: string): string {
  let name = NAMES.get(principal);
  if (name === undefined) {
    name = createHash('sha256').update(principal).digest('base64url');
    if (principal.length <= MAX_PRINCIPAL) NAMES.set(principal, name);
  }
  return name;
}

function keyOf(principal: string): string {
  return `allowance:${nameFor(principal)}`;
}

/** A stored allowance. What is not a number in it would limit nothing. @throws GatewayError `state_unavailable` */
function allowanceIn(text: string): Allowance {
  const kept = keptIn<JsonObject>(text, {});
  const isAmount = (limit: JsonValue | undefined) => isRecord(limit) && typeof limit.value === 'number';
  const isSound =
    CALLER_LIMITS.every((name) => kept[name] === undefined || isAmount(kept[name])) &&
    TYPE_LIMITS.every((name) => kept[name] === undefined || Array.isArray(kept[name]));
  if (!isSound) throw notWritten();
  return kept as Allowance;
}
