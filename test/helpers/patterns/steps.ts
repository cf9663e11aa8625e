import type { AST } from '@eslint-community/regexpp';
import { boundsOf, characterTest, isOneCharacter, isWordCharacter, type OneCharacter, type Parsed } from './parse.js';

type Next = (at: number) => boolean;
/** Matches from a place on, and asks `next` about each place where it could end. */
type Part = (at: number, next: Next) => boolean;

class TooManySteps extends Error {}

/**
 * Matches as the backtracking of the language's specification does, and counts its steps. A count is the same on every
 * machine, unlike a time.
 */
export class StepCounter {
  #text = '';
  #steps = 0;
  #left = 0;
  readonly #whole: Part;
  readonly #flags: AST.Flags;

  constructor({ pattern, flags }: Parsed) {
    this.#flags = flags;
    this.#whole = this.#alternatives(pattern.alternatives, false);
  }

  /** The steps to find all matches of the text, or `most`, if there are more. */
  count(text: string, most: number): number {
    this.#text = text;
    this.#steps = 0;
    this.#left = most;
    try {
      this.#findAll();
    } catch (error) {
      if (!(error instanceof TooManySteps)) throw error;
    }
    return this.#steps;
  }

  /** All matches of the text. */
  matchesOf(text: string): string[] {
    this.#text = text;
    this.#steps = 0;
    this.#left = Number.POSITIVE_INFINITY;
    return this.#findAll();
  }

  #findAll(): string[] {
    const found: string[] = [];
    for (let start = 0; start <= this.#text.length; ) {
      let end = -1;
      this.#step();
      const isFound = this.#whole(start, (at) => {
        end = at;
        return true;
      });
      if (isFound) found.push(this.#text.slice(start, end));
      else if (this.#flags.sticky) break;
      start = Math.max(start + 1, end);
    }
    return found;
  }

  #step(): void {
    this.#steps++;
    if (this.#steps >= this.#left) throw new TooManySteps();
  }

  #alternatives(alternatives: readonly AST.Alternative[], isBackward: boolean): Part {
    const parts = alternatives.map(({ elements }) => {
      const inOrder = isBackward ? [...elements].reverse() : elements;
      return this.#sequence(inOrder.map((element) => this.#element(element, isBackward)));
    });
    if (parts.length === 1) return parts[0] as Part;
    return (at, next) =>
      parts.some((part) => {
        this.#step();
        return part(at, next);
      });
  }

  #sequence(parts: readonly Part[]): Part {
    return parts.reduceRight<Part>(
      (rest, part) => (at, next) => part(at, (to) => rest(to, next)),
      (at, next) => next(at),
    );
  }

  #element(node: AST.Element, isBackward: boolean): Part {
    if (isOneCharacter(node)) return this.#character(node, isBackward);
    switch (node.type) {
      case 'Assertion':
        return this.#assertion(node);
      case 'Group':
      case 'CapturingGroup':
        return this.#alternatives(node.alternatives, isBackward);
      case 'Quantifier':
        return isOneCharacter(node.element) ? this.#run(node, isBackward) : this.#repetition(node, isBackward);
      default:
        throw new Error(`Steps of ${node.type} are not counted: ${node.raw}`);
    }
  }

  #character(node: OneCharacter, isBackward: boolean): Part {
    const test = characterTest(node, this.#flags);
    return (at, next) => {
      this.#step();
      const character = this.#text[isBackward ? at - 1 : at];
      return character !== undefined && test(character) && next(isBackward ? at - 1 : at + 1);
    };
  }

  #assertion(node: AST.Assertion): Part {
    if (node.kind === 'lookahead' || node.kind === 'lookbehind') {
      const inside = this.#alternatives(node.alternatives, node.kind === 'lookbehind');
      return (at, next) => inside(at, () => true) !== node.negate && next(at);
    }
    const isThere = this.#place(node);
    return (at, next) => {
      this.#step();
      return isThere(at) && next(at);
    };
  }

  #place(node: AST.EdgeAssertion | AST.WordBoundaryAssertion): (at: number) => boolean {
    const isLineEnd = (at: number) => this.#flags.multiline && /[\n\r\u2028\u2029]/.test(this.#text[at] ?? '');
    switch (node.kind) {
      case 'start':
        return (at) => at === 0 || isLineEnd(at - 1);
      case 'end':
        return (at) => at === this.#text.length || isLineEnd(at);
      case 'word':
        return (at) => (isWordCharacter(this.#text[at - 1]) !== isWordCharacter(this.#text[at])) !== node.negate;
    }
  }

  /** One character, repeated: without a call for each, so that a long run does not fill the stack. */
  #run(node: AST.Quantifier, isBackward: boolean): Part {
    const { min, max } = boundsOf(node);
    const test = characterTest(node.element as OneCharacter, this.#flags);
    const on = isBackward ? -1 : 1;
    const isNext = (at: number) => {
      this.#step();
      const character = this.#text[isBackward ? at - 1 : at];
      return character !== undefined && test(character);
    };
    return (at, next) => {
      let to = at;
      let times = 0;
      const goOn = () => {
        if (times >= max || !isNext(to)) return false;
        times++;
        to += on;
        return true;
      };
      while (times < min) if (!goOn()) return false;
      if (!node.greedy) {
        do {
          if (next(to)) return true;
        } while (goOn());
        return false;
      }
      while (goOn());
      for (; times >= min; times--, to -= on) {
        this.#step();
        if (next(to)) return true;
      }
      return false;
    };
  }

  #repetition(node: AST.Quantifier, isBackward: boolean): Part {
    const { min, max } = boundsOf(node);
    const once = this.#element(node.element as AST.Element, isBackward);
    const from = (at: number, times: number, next: Next): boolean => {
      this.#step();
      const more = () =>
        times < max && once(at, (to) => (to === at && times >= min ? false : from(to, times + 1, next)));
      if (times < min) return more();
      return node.greedy ? more() || next(at) : next(at) || more();
    };
    return (at, next) => from(at, 0, next);
  }
}
