import type { HeldMessage } from '../wire/json/reader.js';
import { RANGE } from './slots.js';

/** One response among a message's: a batch has several, and other messages between them. */
export interface Answer {
  /** Where it stands: nowhere deeper, or its index in a batch. */
  base: readonly (string | number)[];
  /** The id as JSON text. */
  id: string;
}

/** The responses in a message, in order. Of an id named twice the last counts, as for whoever parses it. */
export function answersIn(message: HeldMessage): Answer[] {
  const calls = new Set<string>();
  for (const { name, path } of message.captures) if (name === 'method') calls.add(elementOf(path));
  const answers = new Map<string, Answer>();
  for (const { name, path, text } of message.captures) {
    const element = elementOf(path);
    if (name === RANGE.id && !calls.has(element)) answers.set(element, { base: path.slice(0, -1), id: text });
  }
  return [...answers.values()];
}

/** The response that something at `path` is part of. */
export function answerAt(answers: readonly Answer[], path: readonly (string | number)[]): Answer | undefined {
  return answers.find(({ base }) => base.every((key, index) => key === path[index]));
}

function elementOf(path: readonly (string | number)[]): string {
  return path.slice(0, -1).join('/');
}
