/** `*` matches any text. */
export function fits(pattern: string, name: string): boolean {
  // most patterns are names: with 10,000 rules and 2000 keys, a start or a reload took 1.7 s longer
  if (!pattern.includes('*')) return pattern === name;
  const parts = pattern.split('*');
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const found = index === parts.length - 1 ? name.lastIndexOf(part) : name.indexOf(part, at);
    if (found < at || (index === 0 && found !== 0)) return false;
    at = found + part.length;
  }
  return at === name.length;
}

/** Whether a pattern fits any of these names, most of which are not looked at: both lists may have thousands. */
export function fitsAny(pattern: string, names: ReadonlySet<string>): boolean {
  if (!pattern.includes('*')) return names.has(pattern);
  return [...names].some((name) => fits(pattern, name));
}

/** A longer name is not one of a tool, and is not searched for other spellings: it may be any. */
const LONGEST = 1000;

/** Names whose every other spelling is written with other characters than these. */
const PLAIN = /^[a-z0-9_./-]*$/;

/**
 * Whether a pattern fits a name in any of its spellings: a server may read `Delete_User`, or a name with full-width letters
 * or characters that are not seen, as the tool that a rule protects. Only for rules that take away or ask for more.
 */
export function mayFit(pattern: string, name: string): boolean {
  if (fits(pattern, name)) return true;
  if (PLAIN.test(name) && PLAIN.test(pattern.replaceAll('*', ''))) return false;
  if (name.length > LONGEST) return true;
  return [name, readInC(name)].some((one) => fits(folded(pattern), folded(one)));
}

/** A text as a program in C reads it, for which it ends before a NUL. */
export function readInC(text: string): string {
  const end = text.indexOf('\0');
  return end < 0 ? text : text.slice(0, end);
}

/** Upper case first, then lower: `ſ` and the Kelvin sign are ASCII letters in another case. */
export function inOneCase(text: string): string {
  return text.toUpperCase().toLowerCase();
}

/**
 * A key behind which other names may be: a server in JavaScript that copies an object by assigning its members makes them
 * members of the copy.
 */
export const PROTOTYPE = '__proto__';

/** Whether some servers take a key for this name, which it is not: some ignore its case (in Go, C#), or what is behind a NUL (in C). */
export function isTakenFor(key: string, name: string): boolean {
  if (key === name) return false;
  const read = readInC(key);
  // another case has the same length, and most keys have not
  return read.length === name.length && inOneCase(read) === inOneCase(name);
}

/**
 * A text without case, width and what is not seen. Not every such character is a format character: the Hangul fillers are
 * letters, and what selects a variant of the letter before is a mark. Upper case first, because two small letters may have one
 * large one.
 */
export function folded(text: string): string {
  if (PLAIN.test(text)) return text;
  return text
    .replace(/[\p{Cf}\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\s]/gu, '')
    .normalize('NFKC')
    .toUpperCase()
    .toLowerCase();
}
