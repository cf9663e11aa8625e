/** Words that may be the name of a variable. Every shell sets `_`, which is also a name in what Python prints of its code. */
const NAME = /\b[A-Za-z_]\w+\b/g;

/**
 * What to do about a variable that a server misses: it stood in its environment before Wharf was in front of it, and so in
 * that of Wharf.
 * @param text what the server has said last; short
 * @param withheld names of the variables that Wharf has and the server does not get
 * @returns an empty text where no such name is in it
 */
export function missedVariable(text: string, withheld: ReadonlySet<string>): string {
  const name = text.match(NAME)?.find((word) => withheld.has(word));
  if (name === undefined) return '';
  return ` (Wharf has ${name}, and does not pass it on: that takes --env ${name}, or "env" of the server in the config)`;
}
