import { BEFORE, type Graph } from './graph.js';

/** A text that may take long: `pump` is repeated. */
export interface Attack {
  prefix: string;
  pump: string;
}

/** Three places, for as many ways through the pattern that read one text. */
type Ways = readonly [number, number, number];

/** How many ways are looked at for two places; the largest pattern of the sources needs 81. */
const MOST_WAYS = 10_000;

/**
 * Texts that the pattern can read in ever more ways: a word that leads from place p to itself, from p to q, and from q to
 * itself. Repeated n times, it is divided between the two loops in n ways, all of which backtracking tries if what
 * follows does not match. (Weber and Seidl, "On the degree of ambiguity of finite automata", 1991.)
 *
 * The place before the pattern is such a p: a search begins at every character.
 */
export function attacksOn(graph: Graph): Attack[] {
  const rings = ringsOf(graph);
  const inLoop = graph.reads.map((_, place) => place).filter((place) => rings[place] !== undefined);
  const found = [...graph.alphabet].map((pump) => ({ prefix: '', pump }));
  for (const p of inLoop) {
    const prefixes = wordsOf(graph, pathTo(graph, [BEFORE], p));
    for (const q of inLoop) {
      if (q === BEFORE) continue;
      for (const pump of p === q ? twoWaysBack(graph, rings, p) : pumps(graph, rings, p, q))
        for (const prefix of new Set(p === BEFORE ? [''] : prefixes)) found.push({ prefix, pump });
    }
  }
  return found;
}

/** Characters that end a loop, or do not: two for each combination of loops that read it. */
export function endsOf(graph: Graph): string[] {
  const rings = ringsOf(graph);
  const loops = graph.reads.filter((_, place) => place !== BEFORE && rings[place] !== undefined);
  const alike = new Map<string, string[]>();
  graph.alphabet.forEach((character, index) => {
    const bit = 1n << BigInt(index);
    const readers = loops.map((read) => (read & bit ? 1 : 0)).join('');
    alike.set(readers, [...(alike.get(readers) ?? []), character]);
  });
  return [...alike.values()].flatMap((characters) => [characters[0] as string, characters.at(-1) as string]);
}

/** For each place in a loop, the number of its ring: places of a ring lead to each other. */
function ringsOf({ follows }: Graph): (number | undefined)[] {
  const reach = follows.map((_, from) => {
    const seen = new Set<number>();
    const open = [from];
    for (let place = open.pop(); place !== undefined; place = open.pop())
      for (const next of follows[place] ?? [])
        if (!seen.has(next)) {
          seen.add(next);
          open.push(next);
        }
    return seen;
  });
  return reach.map((seen, place) =>
    seen.has(place)
      ? [...seen].filter((other) => reach[other]?.has(place)).reduce((a, b) => Math.min(a, b))
      : undefined,
  );
}

function pumps(graph: Graph, rings: (number | undefined)[], p: number, q: number): string[] {
  const { reads, follows } = graph;
  const of = (set: Ways) => (reads[set[0]] as bigint) & (reads[set[1]] as bigint) & (reads[set[2]] as bigint);
  const key = (set: Ways) => set.join();
  const goal = key([p, q, q]);
  const start: Ways = [p, p, q];
  const from = new Map<string, bigint[]>([[key(start), []]]);
  let open: Ways[] = [start];
  while (open.length > 0 && from.size < MOST_WAYS) {
    const next: Ways[] = [];
    for (const set of open) {
      const both = of(set);
      if (both === 0n) continue;
      const word = [...(from.get(key(set)) as bigint[]), both];
      for (const a of follows[set[0]] ?? []) {
        if (rings[a] !== rings[p]) continue;
        for (const c of follows[set[2]] ?? []) {
          if (rings[c] !== rings[q]) continue;
          for (const b of follows[set[1]] ?? []) {
            const to: Ways = [a, b, c];
            if (key(to) === goal) return wordsOf(graph, word);
            if (from.has(key(to)) || of(to) === 0n) continue;
            from.set(key(to), word);
            next.push(to);
          }
        }
      }
    }
    open = next;
  }
  return [];
}

/** A word from a place back to it, of which one step can be done in two ways. */
function twoWaysBack(graph: Graph, rings: (number | undefined)[], place: number): string[] {
  const follows = graph.follows[place] ?? [];
  const double = follows.find((next, index) => rings[next] === rings[place] && follows.indexOf(next) !== index);
  if (double === undefined) return [];
  const first = graph.reads[place] as bigint;
  return wordsOf(graph, double === place ? [first] : [first, ...pathTo(graph, [double], place)]);
}

/** What is read on the shortest way from one of `starts` until `goal` is to be read. */
function pathTo({ reads, follows }: Graph, starts: readonly number[], goal: number): bigint[] {
  const words = new Map<number, bigint[]>(starts.map((start) => [start, []]));
  for (const [place, word] of words) {
    if (place === goal) return word;
    // a way begins before the pattern without reading
    const longer = place === BEFORE ? word : [...word, reads[place] as bigint];
    for (const next of follows[place] ?? []) if (!words.has(next)) words.set(next, longer);
  }
  return [];
}

/** Texts of which each character is in its set: of the first characters, of the last, and of others than letters. */
function wordsOf({ alphabet }: Graph, sets: readonly bigint[]): string[] {
  const choices = sets.map((set) => alphabet.filter((_, index) => (set >> BigInt(index)) & 1n));
  const first = choices.map((characters) => characters[0]);
  const last = choices.map((characters) => characters.at(-1));
  const odd = choices.map((characters) => characters.find((one) => !/[\w\s]/.test(one)) ?? characters[0]);
  return [...new Set([first, last, odd].map((word) => word.join('')))];
}
