import type { Encoding } from '../ports/file-slot.js';
import type { Argument } from './argument.js';

/** How sure a rule is: `possible` is only shown as a comment. */
export type Confidence = 'certain' | 'likely' | 'possible';

/** One rule's opinion of an argument. */
export type Clue =
  | { encoding: Encoding; confidence: Confidence; reason: string }
  /** It is not a file, whatever its name. */
  | { encoding: 'none'; reason: string };

/** A pure question about an argument. */
export interface Rule {
  /** Clues from different sources confirm each other. */
  readonly source: 'schema' | 'description' | 'name' | 'context';
  readonly name: string;
  test(argument: Argument): Clue | undefined;
}

/** A clue that also stands against one that says it is not a file: a keyword of the schema. */
export const certain = (encoding: Encoding, reason: string): Clue => ({ encoding, confidence: 'certain', reason });
/** A clue that becomes certain where another source says the same. */
export const likely = (encoding: Encoding, reason: string): Clue => ({ encoding, confidence: 'likely', reason });
/** A clue that confirms no other. */
export const possible = (encoding: Encoding, reason: string): Clue => ({ encoding, confidence: 'possible', reason });
/** The clue that an argument is not a file, whatever its name. */
export const never = (reason: string): Clue => ({ encoding: 'none', reason });
