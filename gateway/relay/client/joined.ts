/**
 * Bytes up to which pieces are joined: each write costs something, but a copy of a long message needs memory. So a packet of
 * 64 KiB is written as it came, but for the few bytes of a frame around it.
 */
const MAX_JOINED = 96 * 1024;

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
