import { type CallerMatch, type KnownCaller, meansCaller } from './callers.js';

/** What a rule can be found by: a whole name, and no pattern. */
const NAMES = ['key', 'principal', 'group'] as const;

/**
 * The rules of one list by the name that each asks for. To compare each of 1000 rules with the 200 groups of a caller took
 * 6 ms of each call, and as long again for each tool of a list.
 */
class RuleIndex {
  readonly #matches: readonly CallerMatch[];
  /** Places of rules in the list; each is in one of these. */
  readonly #named = { key: new Map(), principal: new Map(), group: new Map() } as Record<
    (typeof NAMES)[number],
    Map<string, number[]>
  >;
  /** Those that no name leads to. */
  readonly #others: number[] = [];
  readonly #found = new WeakMap<KnownCaller, readonly number[]>();

  constructor(matches: readonly CallerMatch[]) {
    this.#matches = matches;
    for (const [place, match] of matches.entries()) this.#shelf(match).push(place);
  }

  about(who: KnownCaller): readonly number[] {
    const { base = who } = who;
    let found = this.#found.get(base);
    if (!found) {
      found = this.#search(base);
      this.#found.set(base, found);
    }
    return found;
  }

  #shelf(match: CallerMatch): number[] {
    for (const member of NAMES) {
      const name = match[member];
      if (name === undefined || name.includes('*')) continue;
      const shelf = this.#named[member].get(name) ?? [];
      this.#named[member].set(name, shelf);
      return shelf;
    }
    return this.#others;
  }

  #search(who: KnownCaller): number[] {
    const { key, principal, group } = this.#named;
    const places = [
      ...this.#others,
      ...((who.key !== undefined && key.get(who.key)) || []),
      ...((who.principal !== undefined && principal.get(who.principal)) || []),
      // a token may name a group twice
      ...(group.size === 0 ? [] : [...new Set(who.groups)].flatMap((one) => group.get(one) ?? [])),
    ];
    const meant = places.filter((place) => meansCaller(this.#matches[place] as CallerMatch, who));
    return meant.sort((one, other) => one - other);
  }
}

const INDEXES = new WeakMap<object, RuleIndex>();

/**
 * The places of the rules that mean a caller, in the order of the list.
 * @param rules never changed: another config has another list
 */
export function rulesAbout<Rule>(
  rules: readonly Rule[],
  who: KnownCaller,
  matchOf: (rule: Rule) => CallerMatch,
): readonly number[] {
  let index = INDEXES.get(rules);
  if (!index) {
    index = new RuleIndex(rules.map(matchOf));
    INDEXES.set(rules, index);
  }
  return index.about(who);
}
