import type { AST } from '@eslint-community/regexpp';
import { boundsOf, characterTest, isOneCharacter, type OneCharacter, type Parsed } from './parse.js';

/** The places of a pattern where it reads one character, and which can follow which: places are numbers. */
export interface Graph {
  /** What a place reads: a set of the characters' numbers in `alphabet`. */
  reads: bigint[];
  /** The places that can follow; twice, if the pattern has two ways to one. */
  follows: number[][];
  alphabet: string[];
}

/** The place before the pattern, which reads every character: the engine looks for a match from each start. */
export const BEFORE = 0;

/** Characters of each kind that patterns tell apart. */
const KINDS = ['a', ' ', '.', '-', '/', '0', 'A', '_', '\t', '\n', '"', '=', ',', '!', '\u0000', '\u00e9', '\u2028'];

interface Node {
  /** Undefined where nothing is read. */
  reads?: OneCharacter;
  next: number[];
}

export function graphOf({ pattern, flags }: Parsed): Graph {
  const nodes = new Builder().build(pattern.alternatives);
  const alphabet = [...new Set([...KINDS, ...nodes.flatMap(({ reads }) => (reads ? charactersIn(reads) : []))])];
  const places = nodes.flatMap(({ reads }, index) => (reads || index === BEFORE ? [index] : []));
  const number = new Map(places.map((node, place) => [node, place]));
  const every = (1n << BigInt(alphabet.length)) - 1n;
  const reads = places.map((node) => {
    const { reads: element } = nodes[node] as Node;
    return element ? membersOf(element, flags, alphabet) : every;
  });
  const follows = places.map((node) => reached(nodes, node).map((next) => number.get(next) as number));
  if (!flags.sticky) follows[BEFORE]?.push(BEFORE);
  return { reads, follows, alphabet };
}

function membersOf(element: OneCharacter, flags: AST.Flags, alphabet: readonly string[]): bigint {
  const test = characterTest(element, flags);
  return alphabet.reduce((found, character, index) => (test(character) ? found | (1n << BigInt(index)) : found), 0n);
}

/** The characters that a place names, and those next to the ends of its ranges. */
function charactersIn(node: OneCharacter): string[] {
  const codes = [...node.raw].map((character) => character.codePointAt(0) as number);
  const walk = (part: AST.CharacterClass['elements'][number] | OneCharacter) => {
    if (part.type === 'Character') codes.push(part.value);
    else if (part.type === 'CharacterClassRange') codes.push(part.min.value, part.max.value);
    else if (part.type === 'CharacterClass') part.elements.forEach(walk);
  };
  walk(node);
  return codes.filter((code) => code < 0xd800).map((code) => String.fromCodePoint(code));
}

class Builder {
  readonly #nodes: Node[] = [{ next: [] }];

  build(alternatives: readonly AST.Alternative[]): Node[] {
    this.#alternatives(alternatives, [BEFORE]);
    return this.#nodes;
  }

  #node(reads: OneCharacter | undefined, entries: readonly number[]): number {
    const index = this.#nodes.push({ ...(reads && { reads }), next: [] }) - 1;
    this.#lead(entries, index);
    return index;
  }

  #lead(entries: readonly number[], to: number): void {
    for (const entry of entries) this.#nodes[entry]?.next.push(to);
  }

  /** Adds what stands between `entries` and the nodes that it returns. */
  #alternatives(alternatives: readonly AST.Alternative[], entries: readonly number[]): number[] {
    const ends = alternatives.flatMap(({ elements }) =>
      elements.reduce<number[]>((before, element) => this.#element(element, before), [...entries]),
    );
    return atMostTwice(ends);
  }

  #element(node: AST.Element, entries: number[]): number[] {
    if (isOneCharacter(node)) return [this.#node(node, entries)];
    switch (node.type) {
      case 'Group':
      case 'CapturingGroup':
        return this.#alternatives(node.alternatives, entries);
      case 'Quantifier':
        return this.#quantifier(node, entries);
      case 'Assertion':
        // what is read ahead is a way that ends; other assertions exclude ways, which the counter of steps finds out
        if (node.kind === 'lookahead' || node.kind === 'lookbehind') this.#alternatives(node.alternatives, entries);
        return entries;
      default:
        throw new Error(`${node.type} is not followed: ${node.raw}`);
    }
  }

  #quantifier(node: AST.Quantifier, entries: number[]): number[] {
    const { min, max } = boundsOf(node);
    const once = (before: number[]) => this.#element(node.element as AST.Element, before);
    let ends = entries;
    const isEndless = max === Number.POSITIVE_INFINITY;
    for (let times = isEndless ? 1 : 0; times < min; times++) ends = once(ends);
    if (!isEndless) {
      let all = ends;
      for (let times = min; times < max; times++) {
        ends = once(ends);
        all = atMostTwice([...all, ...ends]);
      }
      return all;
    }
    const body = this.#node(undefined, ends);
    const loop = this.#node(undefined, once([body]));
    this.#lead([loop], body);
    const out = this.#node(undefined, [loop]);
    if (min === 0) this.#lead(ends, out);
    return [out];
  }
}

/** Two ways are as good as more, to show that there are several. */
function atMostTwice(nodes: readonly number[]): number[] {
  const times = new Map<number, number>();
  return nodes.filter((node) => {
    const now = (times.get(node) ?? 0) + 1;
    times.set(node, now);
    return now <= 2;
  });
}

/** The nodes that read, to which ways without a character lead; no way passes a node twice. */
function reached(nodes: readonly Node[], from: number): number[] {
  const found: number[] = [];
  const passed = new Set<number>();
  const walk = (node: number) => {
    for (const next of nodes[node]?.next ?? []) {
      if (nodes[next]?.reads) found.push(next);
      else if (!passed.has(next)) {
        passed.add(next);
        walk(next);
        passed.delete(next);
      }
    }
  };
  walk(from);
  return atMostTwice(found);
}
