import { PLACEHOLDERS, placeholdersOf } from '../../encodings.js';
import { nearest } from '../mistakes/nearest.js';

/** Placeholders that bring the file into an object; without one of them the server would never see it. */
const CONTENT: readonly string[] = [...placeholdersOf('content'), ...placeholdersOf('link')];
const NAMES = Object.keys(PLACEHOLDERS);

/** Why a value cannot be the template of an `object` argument; undefined when it can. */
export function templateProblem(template: unknown): string | undefined {
  const texts: string[] = [];
  const odd = collect(template, texts);
  if (odd !== undefined) return odd;
  for (const text of texts) {
    const fault = textProblem(text);
    if (fault !== undefined) return fault;
  }
  if (texts.some((text) => CONTENT.includes(text.slice(1)) && text.startsWith('$'))) return undefined;
  return `must hold the file: one of ${listed(CONTENT)}`;
}

/** Only a whole text is replaced, so a mistyped placeholder, or one inside a text, would reach the server. */
function textProblem(text: string): string | undefined {
  if (text.startsWith('$$')) return undefined;
  const word = /^\$(\w+)$/.exec(text)?.[1];
  if (word === undefined) {
    const inner = NAMES.find((name) => new RegExp(`\\$${name}\\b`).test(text));
    return inner && `holds $${inner} inside another string, where it stands for nothing; it must be a string by itself`;
  }
  if (NAMES.includes(word)) return undefined;
  const near = nearest(word, NAMES);
  const hint = near === undefined ? `known are ${listed(NAMES)}` : `did you mean $${near}?`;
  return `holds ${text}, which stands for nothing; ${hint} ($${text} is the string itself)`;
}

function listed(names: readonly string[]): string {
  return names.map((name) => `$${name}`).join(', ');
}

/** Gathers the texts of a JSON value. YAML can also spell numbers that JSON cannot. */
function collect(value: unknown, texts: string[]): string | undefined {
  if (typeof value === 'string') texts.push(value);
  if (typeof value === 'number' && !Number.isFinite(value)) return 'must be JSON, which has no such number';
  if (typeof value !== 'object' || value === null) return undefined;
  for (const item of Object.values(value)) {
    const odd = collect(item, texts);
    if (odd !== undefined) return odd;
  }
  return undefined;
}
