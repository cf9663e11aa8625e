import type { ErrorCode } from 'yaml';

/** What is wrong in a file that is not YAML, for an author who does not know YAML's words. */

interface Fault {
  code: ErrorCode;
  message: string;
  pos: [number, number];
}

const LONGEST_KEY = 64;

/** Texts that follow the place. They quote nothing of the file but a key: the rest may hold secrets. */
const TEXTS: Partial<Record<ErrorCode, string>> = {
  TAB_AS_INDENT: 'has tabs as indentation; YAML takes blanks only',
  MULTIPLE_DOCS: 'holds multiple documents; a config is one, without a line "---" in it',
  BAD_DQ_ESCAPE: 'has a "\\" that means nothing in this place; write "\\\\" for each, or "/" in the path of a file',
  BLOCK_AS_IMPLICIT_KEY:
    'has two keys in one line; put a value with ": " in it in quotes, or each key in a line of its own',
};

/** @param text the file */
export function faultText(fault: Fault, text: string): string {
  const known = TEXTS[fault.code];
  if (known !== undefined) return known;
  // Only the first line of the library's text: later lines quote the file, which may hold secrets.
  const message = (fault.message.split('\n')[0] ?? '').replace(/ at line \d+, column \d+:?$/, '');
  if (fault.code === 'DUPLICATE_KEY') {
    const [, key = ''] = /^["']?([A-Za-z0-9_.-]+)/.exec(text.slice(fault.pos[0], fault.pos[0] + LONGEST_KEY)) ?? [];
    return `has the key ${key && `"${key}" `}for the second time; keys of a map must be unique`;
  }
  if (fault.code === 'BAD_SCALAR_START') return `${message}; put the value in quotes`;
  if (startsVariable(text, fault.pos[0]))
    return 'has a variable, "$" and braces, within { } or [ ]; put the value in quotes';
  if (fault.code === 'BAD_INDENT' && message.startsWith('All mapping items')) {
    return 'must begin in the same column as the other keys of its map; it has more or fewer blanks before it';
  }
  if (fault.code === 'BAD_INDENT' && /^Flow (?:map|sequence)/.test(message)) {
    return 'comes before the "}" or "]" of what begins above it: close that, or put more blanks before this line';
  }
  if (fault.code === 'MISSING_CHAR' && /^Missing closing ["']quote/.test(message))
    return `has no closing ${message.slice('Missing closing '.length, -'quote'.length)} for a text that begins above it`;
  return message;
}

/** Whether what follows a fault is only its consequence. */
export function isLast(fault: Fault, text: string): boolean {
  return startsVariable(text, fault.pos[0]);
}

function startsVariable(text: string, at: number): boolean {
  return text[at] === '{' && text[at - 1] === '$';
}

/** Whether a file that is not YAML is TOML: it begins with the name of a table. */
export function isToml(text: string): boolean {
  const first = text.split('\n', 100).find((line) => !/^\s*(?:#|$)/.test(line));
  return first !== undefined && /^\[{1,2}[\w."-]{1,200}\]{1,2}\s*$/.test(first);
}

/**
 * Replaces the comments of a JSON text by blanks, as editors allow them in their settings: YAML would read them as keys.
 * A text that does not begin as JSON stays as it is.
 */
export function withoutComments(text: string): string {
  if (!/^\s*(?:\/[/*]|\{\s*(?:"|\/[/*]))/.test(text)) return text;
  // Within a word it is not a comment: YAML takes `{ "url": http://… }` without quotes. Each branch takes all that it can from where it begins, so that no character is read twice
  return text.replace(/"(?:[^"\\]|\\[\s\S])*"?|(?<![^\s,{}[\]"])(?:\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))/g, (part) =>
    part.startsWith('"') ? part : part.replace(/[^\n]/g, ' '),
  );
}
