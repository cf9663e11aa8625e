const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** `[` and `{` differ in this bit only, and so do `]` and `}`. */
const CURLY = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Whether a JSON text nests deeper than `most` arrays and objects: what walks through its value may be recursive. */
export function nestsDeeper(text: Buffer, most: number): boolean {
  // each level has two brackets
  if (text.length <= most * 2) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at] as number;
    if (byte === QUOTE) at = endOfString(text, at);
    else if ((byte | CURLY) === OPEN) {
      depth += 1;
      if (depth > most) return true;
    } else if ((byte | CURLY) === CLOSE) depth -= 1;
  }
  return false;
}

/** Position of the closing quote, or of the text's end. */
function endOfString(text: Buffer, start: number): number {
  for (let at = text.indexOf(QUOTE, start + 1); at >= 0; at = text.indexOf(QUOTE, at + 1)) {
    let slash = at;
    while (text[slash - 1] === BACKSLASH) slash--;
    if ((at - slash) % 2 === 0) return at;
  }
  return text.length;
}
