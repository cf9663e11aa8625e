/** Bytes up to which pieces are joined: each write is a system call, but a copy of a long message needs memory. */
const MAX_JOINED = 256 * 1024;

/** Joins pieces into as few writes as is worth it. */
export function joined(pieces: readonly Buffer[]): Buffer[] {
  const out: Buffer[] = [];
  let group: Buffer[] = [];
  let length = 0;
  const flush = () => {
    if (group.length > 0) out.push(group.length === 1 ? (group[0] as Buffer) : Buffer.concat(group, length));
    group = [];
    length = 0;
  };
  for (const piece of pieces) {
    if (length + piece.length > MAX_JOINED) flush();
    group.push(piece);
    length += piece.length;
  }
  flush();
  return out;
}
