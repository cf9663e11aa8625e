import { type Attack, attacksOn, endsOf } from './attacks.js';
import { graphOf } from './graph.js';
import { hasEndlessLoop, type Pattern, parsePattern } from './parse.js';
import { StepCounter } from './steps.js';

/** What stands before a repeated text, so that an alternative for the start does not match it. */
const STARTS = ['', 'a', '\u0000'];

/** What follows a repeated text, so that the pattern does not match, besides a character that ends its loops. */
const ENDS = ['', '\u0000', '\n', ' ', 'a', '\n\u0000'];

/** What stands between the repetitions: a boundary of words, which the search for attacks does not look at. */
const BETWEEN = ['', ' ', '.', 'a'];

/** How often a text is repeated, at first. */
const TIMES = 24;

/** More steps than a linear pattern takes for the longest attack. */
const MOST_STEPS = 300_000;

/**
 * An attack for which the steps grow faster than its length, or undefined. Whatever is found is real, and found again on
 * every machine; what needs two different repeated texts, or a group repeated an exact number of times, is not looked for.
 */
export function superlinearAttack(pattern: Pattern): string | undefined {
  const parsed = parsePattern(pattern);
  if (!hasEndlessLoop(parsed)) return undefined;
  const counter = new StepCounter(parsed);
  const graph = graphOf(parsed);
  const ends = new Set([...ENDS, ...endsOf(graph)]);
  for (const [prefix, pump, end] of [...new Set(textsOf(attacksOn(graph), ends))].map(unpacked)) {
    if (growsFaster(counter, { prefix, pump }, end)) {
      return `${JSON.stringify(prefix)} + ${JSON.stringify(pump)}.repeat(n) + ${JSON.stringify(end)}`;
    }
  }
  return undefined;
}

/** The attacks with what may stand around them, each as one string, so that each is tried once. */
function* textsOf(attacks: readonly Attack[], ends: Iterable<string>): Generator<string> {
  for (const { prefix, pump } of attacks)
    for (const between of pump.length > 1 ? BETWEEN : [''])
      for (const start of prefix === '' ? STARTS : [prefix])
        for (const end of ends) yield JSON.stringify([start, pump + between, end]);
}

function unpacked(text: string): [prefix: string, pump: string, end: string] {
  return JSON.parse(text);
}

/** Twice the repetitions add twice the steps if the steps are linear, four times if they are quadratic. */
function growsFaster(counter: StepCounter, { prefix, pump }: Attack, end: string): boolean {
  const steps = (times: number) => counter.count(prefix + pump.repeat(times) + end, MOST_STEPS);
  const [once, twice] = [steps(TIMES), steps(2 * TIMES)];
  // the third count costs most, and most texts are clearly not an attack
  if (twice < MOST_STEPS && twice < 2.2 * once) return false;
  const fourTimes = steps(4 * TIMES);
  return fourTimes >= MOST_STEPS || fourTimes - twice > 3 * (twice - once);
}
