/**
 * Controls, lone surrogates, and the characters that turn the direction of what follows or cannot be seen: a name made
 * of them reads as another one than it is. The two joiners (U+200C, U+200D) stay: Persian and emoji are written with them.
 */
const HIDDEN =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]+/gu;

/** Characters of a name. */
const MOST_OF_NAME = 120;

/** Text of a peer's as a page shows it: on one line, in plain sight, and not longer than there is room for. */
export function shown(text: string, most = MOST_OF_NAME): string {
  const plain = text
    .slice(0, 4 * most)
    .replace(/\s+/g, ' ')
    .replace(HIDDEN, '\ufffd')
    .trim();
  const characters = [...plain];
  return characters.length <= most ? plain : `${characters.slice(0, most - 1).join('')}…`;
}

/** The ending of a file's name, which says what the file is. */
const ENDING = /\.\w{1,10}$/;

/** Name of a file as a page shows it: of a long one its ending stays in sight. */
export function shownName(name: string): string {
  const whole = shown(name);
  const ending = ENDING.exec(name)?.[0] ?? '';
  if (whole.endsWith(ending)) return whole;
  return `${shown(name.slice(0, -ending.length), MOST_OF_NAME - ending.length)}${ending}`;
}
