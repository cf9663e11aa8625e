import type { z } from 'zod';
import { redactText } from '../../redact.js';

/** Values that YAML reads as another type than their author meant, and what to write instead. */

const SECRET_NAME = /key|token|secret|passw|auth|credential/i;
const MAX_WORDS = 20;

/** A number or a boolean where only a string fits: digits without quotes. */
export function unquoted(issue: z.core.$ZodIssue, value: unknown): string | undefined {
  if ((typeof value !== 'number' && typeof value !== 'boolean') || !wantsString(issue)) return undefined;
  return `must be a string: unquoted it is a ${typeof value}, so put it in quotes`;
}

function wantsString(issue: z.core.$ZodIssue): boolean {
  // a schema's own sentence says more
  if (issue.code === 'invalid_type') return issue.expected === 'string' && issue.message.startsWith('Invalid input');
  if (issue.code !== 'invalid_union') return false;
  const expected = issue.errors.flatMap((issues) =>
    issues.flatMap((inner) => (inner.code === 'invalid_type' && inner.path.length === 0 ? [inner.expected] : [])),
  );
  return expected.includes('string') && !expected.some((type) => /^(?:number|int|boolean)$/.test(type));
}

/**
 * A command line that was written as one string, as a list ready to paste. Words that may be secrets are omitted.
 * @param args what was written beside it
 */
export function mustBeList(text: unknown, args: readonly unknown[] = []): string {
  if (typeof text !== 'string' || text.trim() === '') return 'must be a list';
  const written = [...text.matchAll(/"([^"]*)"|'([^']*)'|\S+/g)].map(
    ([whole, double, single]) => double ?? single ?? whole,
  );
  const words = [...written, ...args.map(String)];
  const shown = words.slice(0, MAX_WORDS).map((word, at) => {
    const before = words[at - 1] ?? '';
    // `--token abc`, `--token=abc` and `API_KEY=abc`
    const isSecret = before.startsWith('-') ? SECRET_NAME.test(before) : false;
    const holdsSecret = SECRET_NAME.test(word.split('=')[0] ?? '') && word.includes('=');
    return isSecret || holdsSecret || redactText(word) !== word ? '"…"' : JSON.stringify(word);
  });
  return `must be a list: [${shown.join(', ')}${words.length > MAX_WORDS ? ', …' : ''}]`;
}

/** Keys of which each choice has one, and whose value alone is often written in place of the whole map. */
const CHOOSING = ['use', 'encoding', 'issuer'];

/** A word where a map with that word in it is due: `objects: s3`. */
export function asMap(issue: z.core.$ZodIssue, value: unknown, known: readonly string[]): string | undefined {
  if (issue.code !== 'invalid_type' && issue.code !== 'invalid_union') return undefined;
  const key = CHOOSING.find((one) => known.includes(one));
  if (key === undefined || (typeof value !== 'string' && typeof value !== 'boolean')) return undefined;
  if (value === false && key === 'use') return 'must be a map: { use: none }';
  return typeof value === 'string' && /^[A-Za-z][A-Za-z0-9-]{0,39}$/.test(value)
    ? `must be a map: { ${key}: ${value}, … }`
    : `must be a map with "${key}" in it`;
}

/** Of `$NAME`, as shells write it. The name is not repeated: it may be a part of a password. */
export function unlikeVariable(value: unknown): string {
  const isShell = typeof value === 'string' && /\$[A-Za-z_]/.test(value);
  return isShell ? `; a variable has braces, \${NAME}` : '';
}

/** What a value of another kind than it must be probably lacks; '' if that is not known. */
export function hintOn(expected: string, value: unknown): string {
  if (expected === 'boolean' && typeof value === 'string' && /^(?:yes|no|on|off|y|n)$/i.test(value))
    return `: ${JSON.stringify(value)} is a text`;
  if (value === null && MAPS.has(expected))
    return ': what belongs to it stands below it, further to the right. Without anything, leave it out';
  if (MAPS.has(expected) && Array.isArray(value)) return ', not a list: NAME: VALUE, without "-" before it';
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  return expected === 'array' && isMap ? ', not a map: "- " begins each item' : '';
}

const MAPS: ReadonlySet<string> = new Set(['object', 'record']);

/** A server that is not a map: what it probably was to be. */
export function asServer(value: unknown): string {
  if (value === null) return '; it is empty, so what belongs to it must stand further to the right';
  if (typeof value !== 'string') return '';
  const [, key] = /^(url|command):\S/.exec(value) ?? [];
  if (key !== undefined) return `; write a blank after "${key}:"`;
  if (/^https?:/.test(value)) return ': { url: … }';
  return mustBeList(value)
    .replace(/^must be a list: (.*)$/s, ': { command: $1 }')
    .replace(/^must be a list$/, '');
}
