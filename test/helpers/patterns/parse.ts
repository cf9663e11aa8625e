import { type AST, RegExpParser, visitRegExpAST } from '@eslint-community/regexpp';

/** A pattern as it stands in a source. */
export interface Pattern {
  source: string;
  flags: string;
}

export interface Parsed {
  pattern: AST.Pattern;
  flags: AST.Flags;
}

/** What stands for one character. */
export type OneCharacter = Extract<AST.Element, { type: 'Character' | 'CharacterClass' | 'CharacterSet' }>;

/** A bound on a character's repetition counts as none from here on. */
const MANY = 100;

/** What a lower bound becomes, so that short texts show how the time grows. Of a group it counts as none, if higher. */
const FEW = 4;

export function parsePattern({ source, flags }: Pattern): Parsed {
  const parser = new RegExpParser();
  const uFlag = flags.includes('u');
  const vFlag = flags.includes('v');
  return {
    pattern: parser.parsePattern(source, 0, source.length, { unicode: uFlag, unicodeSets: vFlag }),
    flags: parser.parseFlags(flags),
  };
}

/** How often a quantifier repeats, with bounds that short texts reach. */
export function boundsOf({ min, max, element }: AST.Quantifier): { min: number; max: number } {
  const isEndless = isOneCharacter(element) ? max >= MANY : max > FEW;
  return { min: Math.min(min, FEW), max: isEndless ? Number.POSITIVE_INFINITY : Math.min(max, FEW) };
}

/** Tests one UTF-16 code unit as the pattern's engine does. */
export function characterTest(node: OneCharacter, flags: AST.Flags): (character: string) => boolean {
  const kept = [flags.ignoreCase && 'i', flags.dotAll && 's', flags.unicode && 'u', flags.unicodeSets && 'v'];
  const one = new RegExp(`^(?:${node.raw})$`, kept.filter(Boolean).join(''));
  // each of them is asked for millions of times
  const known: (boolean | undefined)[] = [];
  return (character) => {
    const code = character.charCodeAt(0);
    known[code] ??= one.test(character);
    return known[code];
  };
}

/** True for a pattern with a repetition that has no bound: any other takes at most so many steps at each place. */
export function hasEndlessLoop({ pattern }: Parsed): boolean {
  let isFound = false;
  visitRegExpAST(pattern, {
    onQuantifierEnter(node) {
      isFound ||= boundsOf(node).max === Number.POSITIVE_INFINITY;
    },
  });
  return isFound;
}

export function isOneCharacter(node: AST.Element | AST.QuantifiableElement): node is OneCharacter {
  return node.type === 'Character' || node.type === 'CharacterClass' || node.type === 'CharacterSet';
}

const WORD = /\w/;

export function isWordCharacter(character: string | undefined): boolean {
  return character !== undefined && WORD.test(character);
}
