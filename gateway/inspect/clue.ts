import type { Encoding } from '../ports/file-slot.js';
import type { Argument } from './argument.js';

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

export const certain = (encoding: Encoding, reason: string): Clue => ({ encoding, confidence: 'certain', reason });
export const likely = (encoding: Encoding, reason: string): Clue => ({ encoding, confidence: 'likely', reason });
export const possible = (encoding: Encoding, reason: string): Clue => ({ encoding, confidence: 'possible', reason });
export const never = (reason: string): Clue => ({ encoding: 'none', reason });
