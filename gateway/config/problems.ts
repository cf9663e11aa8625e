import type { z } from 'zod';
import { countText } from '../policy/amounts.js';
import { adviceOnKey, type KnownKeys } from './mistakes/unknown-keys.js';
import { asMap, hintOn, mustBeList, unlikeVariable, unquoted } from './mistakes/written-values.js';

/** One error in a config. */
export interface ConfigProblem {
  /** Where: `limits.inlineImage`, `servers.ocr.command[0]`, a command-line option, or `FILE:LINE:COLUMN`. */
  path: string;
  /** What is wrong and what is allowed, phrased to follow the path: "must be …", "is required". */
  message: string;
  /** The value as the file spells it, shortened, and only if it cannot be a secret. */
  value?: string;
}

/** The message of a problem, and the value that it is about. */
export function withValue({ message, value }: Pick<ConfigProblem, 'message' | 'value'>): string {
  return value === undefined ? message : `${message} (it is ${value})`;
}

/** Keys of the config, and indexes of its lists, that lead to a value. */
export type Path = readonly (string | number)[];

/** `servers.ocr.command[0]`, `servers.ocr.headers["X-Api"]`. */
export function formatPath(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[A-Za-z0-9_-]{1,64}$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${JSON.stringify(step.slice(0, 64))}]`;
  }
  return text;
}

/** The value at a path of a plain value; undefined if it does not exist. */
export function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

// A server's URL counts as a secret: some services put the caller's key into its path.
const SECRET_NAME = /^url$|secret|password|passphrase|token|credential|auth|cookie|key/i;
const LONGEST_SHOWN = 60;

/** Most unknown keys of one map that get a line with advice: 6000 lines were 2 MB, and took 3 s. */
const MOST_KEYS = 20;

/**
 * The value as a problem may show it: scalars only, never from a place that may hold a secret (`headers`, `env`, any
 * secret-like name), never a URL with a user part.
 */
function showValue(path: Path, value: unknown): string | undefined {
  if (path.some((step) => step === 'headers' || step === 'env' || SECRET_NAME.test(String(step)))) return undefined;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string' || /[@?]/.test(value)) return undefined;
  return JSON.stringify(value.length > LONGEST_SHOWN ? `${value.slice(0, LONGEST_SHOWN)}…` : value);
}

/**
 * Turns zod's issue into a problem for the author of the file.
 * @param written the file's own values, before variables were expanded, so that no variable's value is shown
 * @param knownKeys the keys that a map at a path may have
 */
export function explainIssue(issue: z.core.$ZodIssue, written: unknown, knownKeys: KnownKeys): ConfigProblem[] {
  const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step));
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, MOST_KEYS).map((key, at) => {
      const more = at === MOST_KEYS - 1 ? issue.keys.length - MOST_KEYS : 0;
      const others = more === 0 ? '' : ` (and so with ${countText(more, 'more key')} beside it)`;
      return problem([...path, key], adviceOnKey(path, key, knownKeys) + others);
    });
  }
  if (issue.code === 'invalid_key') return [problem(path, issue.issues[0]?.message ?? 'is not an allowed key')];
  const value = valueAt(written, path);
  const meant = issue.code === 'invalid_union' ? branchOf(issue, value) : undefined;
  if (meant !== undefined) {
    return meant.flatMap((inner) => explainIssue({ ...inner, path: [...path, ...inner.path] }, written, knownKeys));
  }
  const map = asMap(issue, value, knownKeys(path));
  if (map !== undefined) return [problem(path, map, value)];
  const args = path.at(-1) === 'command' ? valueAt(written, [...path.slice(0, -1), 'args']) : undefined;
  return [problem(path, messageOf(issue, value, Array.isArray(args) ? args : []) + unlikeVariable(value), value)];
}

/**
 * The issues inside the only branch of a union that a map or list can mean; the other branches refuse it as a whole.
 */
function branchOf(issue: z.core.$ZodIssueInvalidUnion, value: unknown): z.core.$ZodIssue[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const inside = issue.errors.filter((issues) =>
    issues.every(({ path, code }) => path.length > 0 || code === 'unrecognized_keys'),
  );
  return inside.length === 1 && inside[0]?.length !== 0 ? inside[0] : undefined;
}

/** @param value as written; it is shown unless it may be a secret */
export function problem(path: Path, message: string, value?: unknown): ConfigProblem {
  const shown = showValue(path, value);
  return { path: formatPath(path), message, ...(shown === undefined ? {} : { value: shown }) };
}

const NAMES_OF_TYPES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  object: 'a map',
  record: 'a map',
};

/** @param args that stand beside a command which is a text */
function messageOf(issue: z.core.$ZodIssue, value: unknown, args: readonly unknown[]): string {
  const quote = unquoted(issue, value);
  if (quote !== undefined) return quote;
  if (issue.code === 'invalid_union' && 'options' in issue && Array.isArray(issue.options)) {
    return `must be one of: ${issue.options.map(String).join(', ')}`;
  }
  if (issue.code === 'invalid_value' && issue.message.startsWith('Invalid '))
    return `must be ${issue.values.length > 1 ? 'one of: ' : ''}${issue.values.map(String).join(', ')}`;
  if (issue.code === 'invalid_type') {
    const expected = NAMES_OF_TYPES[issue.expected] ?? issue.expected;
    if (value === undefined) return `is required: ${expected}`;
    const hint = hintOn(issue.expected, value);
    if (value === null) return `is empty, but must be ${expected}${hint}`;
    if (issue.expected === 'array' && typeof value === 'string') return mustBeList(value, args);
    // A schema's own sentence says more than the name of a type.
    return issue.message.startsWith('Invalid input') ? `must be ${expected}${hint}` : issue.message;
  }
  if (issue.code === 'invalid_format' && issue.message === 'Invalid URL') {
    return 'must be a whole URL, such as http://127.0.0.1:9000';
  }
  if (issue.code === 'too_small' && issue.message.startsWith('Too small')) {
    if (issue.origin === 'number' || issue.origin === 'int') return `must be at least ${issue.minimum}`;
    return issue.minimum === 1 ? 'must not be empty' : `is too short; the least is ${issue.minimum}`;
  }
  if (issue.code === 'too_big' && issue.message.startsWith('Too big')) {
    return issue.origin === 'number' || issue.origin === 'int'
      ? `must be at most ${issue.maximum}`
      : `is too long; the most is ${issue.maximum}`;
  }
  return issue.message;
}
