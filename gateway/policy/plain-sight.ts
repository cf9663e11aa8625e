/** Characters of a peer's name, title or description that a model reads in a text of Wharf's. */
const MOST = 256;

/**
 * Controls, halves of characters, private use, what breaks a line or turns the direction of what follows, and what no person
 * sees but a model reads: instructions can be spelled with the tags of U+E0000 and with selectors of variants alone. Not what
 * joins two emoji, or letters of a script whose letters join, or parts them there, one at a time: that is seen.
 */
const HIDDEN =
  /(?!(?<=\p{Extended_Pictographic}\ufe0f?|\p{Emoji_Modifier})\u200d(?=\p{Extended_Pictographic})|(?<=\p{Extended_Pictographic})\ufe0f|(?<=[\d#*])\ufe0f(?=\u20e3)|(?<=[\p{L}\p{M}])(?<=[\p{scx=Arab}\p{scx=Syrc}\p{scx=Deva}\p{scx=Beng}\p{scx=Guru}\p{scx=Gujr}\p{scx=Orya}\p{scx=Taml}\p{scx=Telu}\p{scx=Knda}\p{scx=Mlym}\p{scx=Sinh}])[\u200c\u200d](?=[\p{L}\p{M}])(?=[\p{scx=Arab}\p{scx=Syrc}\p{scx=Deva}\p{scx=Beng}\p{scx=Guru}\p{scx=Gujr}\p{scx=Orya}\p{scx=Taml}\p{scx=Telu}\p{scx=Knda}\p{scx=Mlym}\p{scx=Sinh}])|(?<=[\u0647\u0d4d])\u200d(?!\p{Default_Ignorable_Code_Point}))[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Text of a peer's for a model: on one line, without what only the model would read, and cut if long. */
export function inPlainSight(text: string): string {
  // what is not read costs nothing
  const plain = text
    .slice(0, 4 * MOST)
    .replace(/\s+/g, ' ')
    .replace(HIDDEN, '')
    .trim();
  const characters = [...plain];
  // what joined the next one has nothing to join here
  return characters.length <= MOST
    ? plain
    : `${characters
        .slice(0, MOST - 1)
        .join('')
        .replace(/[\u200c\u200d]$/, '')}…`;
}

/** A text with another one in the place of each character that no person sees. */
export function withoutHidden(text: string, instead: string): string {
  return text.replace(HIDDEN, instead);
}

/** True for a text in which nothing is hidden. */
export function isPlain(text: string): boolean {
  // unlike `test`, it begins where the text does, each time
  return text.search(HIDDEN) < 0;
}
