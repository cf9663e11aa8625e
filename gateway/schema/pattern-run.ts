import type { Program } from './pattern-program.js';
import type { Truth } from './truth.js';

/** To go on to the next character of a text takes the time of this many steps; so does its look-up in a class. */
const STEPS_OF_CHARACTER = 4;
const STEPS_OF_LOOKUP = 4;

/** Steps after which the budget is asked again. */
const STEPS_OF_ROUND = 1000;

/** Most steps for one text, some five milliseconds: after as many its result is unknown. */
const MAX_STEPS = 1_000_000;

/** True when a text contains a match of a program; undefined when that is not known, or takes too long. */
export function matches(program: Program, text: string, look: (steps: number) => boolean): Truth {
  const surely = new Run(program, look, false).isIn(text);
  if (surely !== false || !program.isVague) return surely;
  return new Run(program, look, true).isIn(text) === false ? false : undefined;
}

/** Steps of a program, each at most once: as many as there are, so that the list never grows. */
class StepList {
  readonly #steps: Int32Array;
  length = 0;

  constructor(room: number) {
    this.#steps = new Int32Array(room);
  }

  push(step: number): void {
    this.#steps[this.length++] = step;
  }

  pop(): number {
    return this.at(--this.length);
  }

  at(index: number): number {
    return this.#steps[index] as number;
  }
}

/**
 * Follows all ways through a program at the same time, so that each character of a text costs at most one visit of each
 * step.
 * @see https://swtch.com/~rsc/regexp/regexp2.html
 */
class Run {
  readonly #program: Program;
  readonly #look: (steps: number) => boolean;
  readonly #isHopeful: boolean;
  /** The place in the text at which a step was reached last. */
  readonly #reached: Int32Array;
  /** Whether a set takes the present character, and at which place that was found out. */
  readonly #takes: boolean[] = [];
  readonly #lookedUp: Int32Array;
  readonly #waiting: StepList;
  /** Steps that read the present character, and those that read the next one. */
  #readers: StepList;
  #next: StepList;
  #used = 0;
  #usedInAll = 0;

  /** @param isHopeful follows also what is reached perhaps */
  constructor(program: Program, look: (steps: number) => boolean, isHopeful: boolean) {
    const { length } = program.steps;
    this.#program = program;
    this.#look = look;
    this.#isHopeful = isHopeful;
    this.#reached = new Int32Array(length).fill(-1);
    this.#lookedUp = new Int32Array(program.sets.length);
    this.#waiting = new StepList(length);
    this.#readers = new StepList(length);
    this.#next = new StepList(length);
  }

  /** @returns undefined when it takes too long */
  isIn(text: string): Truth {
    let place = 0;
    let units = 0;
    if (this.#isMatched(0, place, text === '')) return this.#paid(true);
    for (const char of text) {
      place += 1;
      units += char.length;
      if (this.#isMatchedAfter(char, place, units === text.length)) return this.#paid(true);
      this.#used += STEPS_OF_CHARACTER;
      if (this.#used > STEPS_OF_ROUND && this.#paid(true) === undefined) return undefined;
    }
    return this.#paid(false);
  }

  #paid(result: boolean): Truth {
    const used = this.#used;
    this.#used = 0;
    this.#usedInAll += used;
    return this.#look(used) && this.#usedInAll <= MAX_STEPS ? result : undefined;
  }

  #isMatchedAfter(char: string, place: number, isLast: boolean): boolean {
    const readers = this.#next;
    this.#next = this.#readers;
    this.#next.length = 0;
    this.#readers = readers;
    for (let index = 0; index < readers.length; index++) {
      const step = readers.at(index);
      if (this.#reads(step, char, place) && this.#isMatched(step + 1, place, isLast)) return true;
    }
    // a match may begin anywhere
    return this.#isMatched(0, place, isLast);
  }

  #reads(at: number, char: string, place: number): boolean {
    const step = this.#program.steps[at];
    if (step?.does !== 'read') return false;
    const { set } = step;
    if (this.#lookedUp[set] !== place) {
      this.#lookedUp[set] = place;
      this.#takes[set] = this.#program.sets[set]?.(char) === true;
      this.#used += STEPS_OF_LOOKUP;
    }
    return this.#takes[set] === true;
  }

  /** Goes on from a step without reading. @returns true when that leads to a match */
  #isMatched(from: number, place: number, isLast: boolean): boolean {
    const { steps } = this.#program;
    this.#reach(from, place);
    while (this.#waiting.length > 0) {
      const at = this.#waiting.pop();
      const step = steps[at];
      switch (step?.does) {
        case 'read':
          this.#next.push(at);
          break;
        case 'split':
          this.#reach(step.to, place);
          this.#reach(at + 1, place);
          break;
        case 'jump':
          this.#reach(step.to, place);
          break;
        case 'start':
          if (place === 0) this.#reach(at + 1, place);
          break;
        case 'end':
          if (isLast) this.#reach(at + 1, place);
          break;
        case 'perhaps':
          if (this.#isHopeful) this.#reach(at + 1, place);
          break;
        default:
          return true;
      }
    }
    return false;
  }

  #reach(step: number, place: number): void {
    if (this.#reached[step] === place) return;
    this.#reached[step] = place;
    this.#used += 1;
    this.#waiting.push(step);
  }
}
