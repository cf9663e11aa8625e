import type { Encoding } from '../ports/file-slot.js';
import type { Argument } from './argument.js';
import type { Clue, Confidence, Rule } from './clue.js';
import { DESCRIPTION_RULES } from './description-rules.js';
import { CONTEXT_RULES, NAME_RULES } from './name-rules.js';
import { SCHEMA_RULES } from './schema-rules.js';

/** In order of precedence: among clues of equal strength the first one's encoding counts. */
const RULES: readonly Rule[] = [...SCHEMA_RULES, ...DESCRIPTION_RULES, ...NAME_RULES, ...CONTEXT_RULES];

export interface Judgement {
  encoding: Encoding;
  confidence: Confidence;
  reasons: string[];
}

const STRENGTH: Record<Confidence, number> = { certain: 3, likely: 2, possible: 1 };

/** Whether an argument holds a file, and how it is encoded; undefined when no clue says so. */
export function judge(argument: Argument): Judgement | undefined {
  const clues = RULES.flatMap((rule) => {
    const clue = rule.test(argument);
    return clue === undefined ? [] : [{ source: rule.source, clue }];
  });
  const speaking = clues.flatMap(({ source, clue }) => (isFile(clue) ? [{ source, ...clue }] : []));
  const strongest = Math.max(0, ...speaking.map(({ confidence }) => STRENGTH[confidence]));
  const isDenied = clues.some(({ clue }) => !isFile(clue));
  const first = speaking.find(({ confidence }) => STRENGTH[confidence] === strongest);
  // a schema's own keyword overrules what a name or a sentence suggests
  if (first === undefined || (isDenied && strongest < STRENGTH.certain)) return undefined;
  const agreeing = speaking.filter(({ encoding }) => encoding === first.encoding);
  const sources = new Set(agreeing.filter(({ confidence }) => confidence !== 'possible').map(({ source }) => source));
  return {
    encoding: first.encoding,
    confidence: sources.size > 1 ? 'certain' : first.confidence,
    reasons: [first, ...agreeing.filter((clue) => clue !== first && clue.confidence !== 'possible')].map(
      ({ reason }) => reason,
    ),
  };
}

function isFile(clue: Clue): clue is Exclude<Clue, { encoding: 'none' }> {
  return clue.encoding !== 'none';
}
