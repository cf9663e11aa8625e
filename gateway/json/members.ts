const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const BACKSLASH = 0x5c;
const SPACE = 0x20;

/** A member of an object: from its key's first quote to the end of its value. */
interface Member {
  start: number;
  end: number;
}

/** The members whose values are at `values`, in the order of the text. */
export function membersAt(text: Buffer, values: readonly { start: number; end: number }[]): Member[] {
  return values.map(({ start, end }) => ({ start: keyBefore(text, start), end })).sort((a, b) => a.start - b.start);
}

/**
 * Where members of one object are, each with the comma that becomes superfluous without it.
 * @returns also whether no member is left
 */
export function without(members: readonly Member[], text: Buffer): { ranges: Member[]; isEmpty: boolean } {
  const ranges: Member[] = [];
  let isEmpty = false;
  for (let index = 0; index < members.length; index++) {
    const { start } = members[index] as Member;
    let end = (members[index] as Member).end;
    let after = forward(text, end);
    // adjacent members are one piece
    while (text[after] === COMMA && members[index + 1]?.start === forward(text, after + 1)) {
      index += 1;
      end = (members[index] as Member).end;
      after = forward(text, end);
    }
    const before = backward(text, start);
    isEmpty ||= text[before] === OPEN_OBJECT && text[after] === CLOSE_OBJECT;
    if (text[after] === COMMA) ranges.push({ start, end: after + 1 });
    else ranges.push({ start: text[before] === COMMA ? before : start, end });
  }
  return { ranges, isEmpty };
}

/** The first quote of a value's key; quotes inside the key have an odd number of backslashes before them. */
function keyBefore(text: Buffer, value: number): number {
  const colon = backward(text, value);
  const last = backward(text, colon);
  if (text[colon] !== COLON || text[last] !== QUOTE) throw new Error('a value without a key');
  for (let at = text.lastIndexOf(QUOTE, last - 1); at >= 0; at = text.lastIndexOf(QUOTE, at - 1)) {
    let slash = at;
    while (text[slash - 1] === BACKSLASH) slash -= 1;
    if ((at - slash) % 2 === 0) return at;
  }
  throw new Error('a key without a beginning');
}

/** Position of the next byte that is not whitespace. */
function forward(text: Buffer, from: number): number {
  let at = from;
  while ((text[at] as number) <= SPACE) at += 1;
  return at;
}

/** Position of the last byte before `from` that is not whitespace. */
function backward(text: Buffer, from: number): number {
  let at = from - 1;
  while ((text[at] as number) <= SPACE) at -= 1;
  return at;
}
