import type { PatternTree } from './pattern-tree.js';

/** What one step does; unless it says otherwise, the next one follows. */
type Step =
  /** Reads a character of a set. */
  | { readonly does: 'read'; readonly set: number }
  /** Goes on both here and there. */
  | { readonly does: 'split'; to: number }
  | { readonly does: 'jump'; to: number }
  | { readonly does: 'start' }
  | { readonly does: 'end' }
  /** What follows is reached perhaps: it is not told here. */
  | { readonly does: 'perhaps' }
  | { readonly does: 'match' };

/** A pattern without what costs more than its length: no way back, and counted repetitions written out. */
export interface Program {
  readonly steps: readonly Step[];
  readonly sets: readonly CharacterSet[];
  /** It has a part that is not told here. */
  readonly isVague: boolean;
}

/** Characters that one place of a pattern takes. */
type CharacterSet = (char: string) => boolean;

/** Steps of a run in whose time an engine reads and compiles a class, one character of it, and a property of Unicode. */
const STEPS_OF_CLASS = 2000;
const STEPS_OF_CHARACTER = 20;
const STEPS_OF_PROPERTY = 60_000;

/** Steps of a run for one that is written: more than its time, because it also takes 40 bytes. */
const STEPS_TO_WRITE = 20;

/** Most steps of one pattern: `{0,1000}` of a class makes two thousand. */
const MAX_STEPS = 4000;

/** Any character, also a line break. */
const ANY: PatternTree = { kind: 'one', source: '[^]', isLiteral: false };
const ANY_TEXT: PatternTree = { kind: 'repeat', inner: ANY, least: 0, most: Number.POSITIVE_INFINITY };

/**
 * Throws a SyntaxError for an invalid class.
 * @param look called with what it takes, in steps of a run; returns false when that is too much
 * @returns undefined for a pattern with too many steps
 */
export function programOf(tree: PatternTree, look: (steps: number) => boolean): Program | undefined {
  const writer = new ProgramWriter(look);
  const isWritten = writer.write(tree) && writer.add({ does: 'match' });
  return look(writer.effort * STEPS_TO_WRITE) && isWritten ? writer : undefined;
}

class ProgramWriter implements Program {
  readonly steps: Step[] = [];
  readonly sets: CharacterSet[] = [];
  isVague = false;
  readonly #setOf = new Map<string, number>();
  /** For parts as well, because a part repeated a thousand times may be empty. */
  #room = MAX_STEPS;
  readonly #look: (steps: number) => boolean;

  constructor(look: (steps: number) => boolean) {
    this.#look = look;
  }

  get effort(): number {
    return MAX_STEPS - this.#room;
  }

  add(step: Step): boolean {
    this.#room -= 1;
    this.steps.push(step);
    return this.#room >= 0;
  }

  /** @returns false when there are too many steps */
  write(tree: PatternTree): boolean {
    this.#room -= 1;
    if (this.#room < 0) return false;
    switch (tree.kind) {
      case 'one':
        return this.#one(tree);
      case 'start':
        return this.add({ does: 'start' });
      case 'end':
        return this.add({ does: 'end' });
      case 'condition':
        this.isVague = true;
        return this.add({ does: 'perhaps' });
      case 'reference':
        return this.write({ kind: 'condition' }) && this.write(ANY_TEXT);
      case 'sequence':
        return tree.parts.every((part) => this.write(part));
      case 'either':
        return this.#either(tree.branches);
      case 'repeat':
        return this.#repeat(tree);
    }
  }

  #either(branches: readonly PatternTree[]): boolean {
    const ends: Extract<Step, { does: 'jump' }>[] = [];
    for (const branch of branches.slice(0, -1)) {
      const split: Step = { does: 'split', to: 0 };
      const end = { does: 'jump' as const, to: 0 };
      if (!this.add(split) || !this.write(branch) || !this.add(end)) return false;
      split.to = this.steps.length;
      ends.push(end);
    }
    const last = branches.at(-1);
    if (last && !this.write(last)) return false;
    for (const end of ends) end.to = this.steps.length;
    return true;
  }

  #repeat({ inner, least, most }: Extract<PatternTree, { kind: 'repeat' }>): boolean {
    for (let count = 0; count < least; count++) if (!this.write(inner)) return false;
    if (most === Number.POSITIVE_INFINITY) return this.#loop(inner);
    const splits: Extract<Step, { does: 'split' }>[] = [];
    for (let count = least; count < most; count++) {
      const split = { does: 'split' as const, to: 0 };
      if (!this.add(split) || !this.write(inner)) return false;
      splits.push(split);
    }
    for (const split of splits) split.to = this.steps.length;
    return true;
  }

  #loop(inner: PatternTree): boolean {
    const start = this.steps.length;
    const split: Step = { does: 'split', to: 0 };
    if (!this.add(split) || !this.write(inner) || !this.add({ does: 'jump', to: start })) return false;
    split.to = this.steps.length;
    return true;
  }

  #one({ source, isLiteral }: Extract<PatternTree, { kind: 'one' }>): boolean {
    const key = `${isLiteral}${source}`;
    let set = this.#setOf.get(key);
    if (set === undefined) {
      if (!this.#look(isLiteral ? 1 : stepsOfClass(source))) return false;
      set = this.sets.push(isLiteral ? (char) => char === source : classOf(source)) - 1;
      this.#setOf.set(key, set);
    }
    return this.add({ does: 'read', set });
  }
}

function stepsOfClass(source: string): number {
  const properties = source.split(/\\[pP]/).length - 1;
  return STEPS_OF_CLASS + source.length * STEPS_OF_CHARACTER + properties * STEPS_OF_PROPERTY;
}

/** What a class means is the engine's to say: on one character it takes no longer than on any other. */
function classOf(source: string): CharacterSet {
  const expression = new RegExp(source, 'u');
  return (char) => expression.test(char);
}
