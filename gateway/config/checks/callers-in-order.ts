import { type AllowanceRules, CALLER_LIMITS } from '../../policy/allowance.js';
import type { CallerMatch } from '../../policy/callers.js';
import { TYPE_LIMITS } from '../../policy/message-limits.js';
import { fits } from '../../policy/pattern.js';
import type { ApiKey } from '../config.js';
import { type ConfigProblem, problem } from '../problems.js';

type Entry = AllowanceRules['callers'][number];

const LIMITS = [...CALLER_LIMITS, ...TYPE_LIMITS] as const;

/** Of two entries that set a limit of one caller the first counts: limits of the second that can never count. */
export function hiddenCallers(callers: readonly Entry[]): ConfigProblem[] {
  const masks = callers.map(({ match }) => maskOf(match));
  return callers.flatMap(({ limits }, index) => {
    const own = masks[index] as Mask;
    const hiding = new Map<(typeof LIMITS)[number], number>();
    const set = LIMITS.filter((name) => limits[name] !== undefined);
    for (let place = 0; place < index; place++) {
      if (!covers(masks[place] as Mask, own)) continue;
      for (const name of set)
        if (callers[place]?.limits[name] !== undefined && !hiding.has(name)) hiding.set(name, place);
    }
    const [whole] = hiding.values();
    if (whole !== undefined && set.every((name) => hiding.get(name) === whole))
      return [problem(['callers', index], textFor(index, whole))];
    return [...hiding].map(([name, place]) => problem(['callers', index, 'limits', name], textFor(index, place)));
  });
}

/**
 * Entries for one key that sets the same limits itself. Of a pattern it is not said: it may mean keys to come, and to
 * compare each with all keys takes seconds where there are thousands.
 */
export function hiddenByKeys(
  callers: readonly Entry[],
  keys: readonly Pick<ApiKey, 'name' | 'limits'>[],
): ConfigProblem[] {
  const places = new Map(keys.map(({ name }, place) => [name, place]));
  return callers.flatMap(({ match, limits }, index) => {
    const place = match.key === undefined ? undefined : places.get(match.key);
    const own = place === undefined ? undefined : keys[place]?.limits;
    if (own === undefined) return [];
    const hidden = LIMITS.filter((name) => limits[name] !== undefined && own[name] !== undefined);
    return hidden.map((name) =>
      problem(
        ['callers', index, 'limits', name],
        `never counts: auth.keys[${place}].limits.${name} goes before it. Remove one of them`,
      ),
    );
  });
}

function textFor(index: number, first: number): string {
  return (
    `never counts: callers[${first}] comes first, means all of these callers and sets the same. ` +
    `Put callers[${index}] before it`
  );
}

/** A match as it is compared with others: some are compared with a thousand. */
interface Mask {
  names: readonly (string | undefined)[];
  claims: readonly [name: string, value: unknown][];
}

function maskOf({ principal, key, group, claim = {} }: CallerMatch): Mask {
  // every caller has a principal
  const isAny = principal !== undefined && /^\*+$/.test(principal);
  return { names: [isAny ? undefined : principal, key, group], claims: Object.entries(claim) };
}

/** Whether each caller that a match means is meant by a wider one too. */
function covers(wider: Mask, { names, claims }: Mask): boolean {
  return (
    wider.names.every((pattern, at) => coversName(pattern, names[at])) &&
    wider.claims.every(([name, value]) => claims.some((own) => own[0] === name && own[1] === value))
  );
}

/** What fits a pattern that itself fits another one, read as a text, fits that one too. */
function coversName(wider: string | undefined, pattern: string | undefined): boolean {
  return wider === undefined || (pattern !== undefined && fits(wider, pattern));
}
